// Package incremental decides what a run with a state takes from the run before it. The packages below it hold the
// state, and leave documents out that can be in no new pair.
package incremental

import (
	"math"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/job"
)

// Plan is what a run takes from the last one, in addition to the sketches of unchanged files. The zero Plan is a run
// from scratch: it compares all documents.
type Plan struct {
	// Reuse names the file of the state with the cached pairs of two unchanged documents, if these pairs are added to
	// the similarity graph as they are. It is empty if the run forms them again.
	Reuse string
	// Prune names the file of the state with the pairs of the last run, if documents are left out that are in none of
	// these pairs and can be in no new one. It is empty if the run compares all documents.
	Prune string
	// Why says why the run compares all documents; empty in the first run with a state, and with --rebuild.
	Why string
}

// String tells a user about the plan.
func (p Plan) String() string {
	switch {
	case p.Reuse != "":
		return "the pairs of unchanged documents are reused, and new documents are compared with similar ones"
	case p.Prune != "":
		return "documents that are in no pair and similar to no new document are pruned"
	case p.Why != "":
		return "all documents are compared from scratch: " + p.Why
	}
	return "all documents are compared"
}

// Listing is what the inputs of a run and their state say about a plan.
type Listing struct {
	// Results identifies the settings and lists that decide results.
	Results string
	// InOrder says that unchanged documents are in the same order as in the last run.
	InOrder bool
	// Dense says that some key groups have more pairs than are compared. Which ones are depends on all documents.
	Dense bool
}

// withoutPairs is the reason why there are no pairs of the last run.
const withoutPairs = "the last run stored no pairs: it skipped pairs of oversized key groups, " +
	"or another version of the program made the state"

// growth bounds the growth of a corpus since a run has last compared all documents: to 1 + 1/growth times its size.
// Which pairs of a dense group are compared depends on all documents.
const growth = 8

// Decide returns the plan of a run with a state, given the newest generation of the state. Number 0 is a new state.
func Decide(config *job.Config, last *state.Content, now Listing) Plan {
	if last.Number == 0 || config.Rebuild {
		return Plan{}
	}
	scorer, passages := config.Scorer(), KeepsPassages(config)
	fromScratch := func(why string) Plan { return Plan{Why: why} }
	switch {
	case now.Dense:
		return fromScratch("there are oversized key groups, whose comparisons depend on all documents")
	case last.Results != now.Results:
		return fromScratch("settings that decide which pairs are similar have changed")
	case passages && last.Kept == "":
		return fromScratch(withoutPairs)
	case passages && !now.InOrder:
		return fromScratch("the order of the files has changed, and with it the first of equal documents")
	case passages:
		// the groups of all keys that new, removed or often repeated documents have are whole
		return Plan{Prune: last.Kept}
	case !scorer.HasClusters || !scorer.IsExact || scorer.NeedsAll:
		return fromScratch("these settings let unchanged documents decide which pairs of others are listed")
	case last.Pairs == "":
		return fromScratch(withoutPairs)
	case last.SimilarPairs > mostPairs(config):
		return fromScratch("the pairs of the last run take more than a quarter of a worker's memory")
	case last.Documents > max(last.Grouped+last.Grouped/growth, methods.SmallCorpus):
		return fromScratch("the corpus has grown by more than an eighth since all documents were compared")
	case IsDense(config, last.OversizedPairs, last.Documents):
		return fromScratch("key groups of near-duplicates are near the limit of compared pairs")
	case !config.CommonLaw().IsOff():
		return Plan{Prune: last.Pairs} // these pairs lack the similarity by all shingles, which rows tell
	}
	return Plan{Reuse: last.Pairs, Prune: last.Pairs}
}

// KeepsPassages reports whether a state has the pairs of a run with their passages, and not only their scores.
func KeepsPassages(config *job.Config) bool {
	return config.State != "" && config.Scorer().Reads == methods.Texts && config.CommonLaw().IsOff()
}

// TakesCommon reports whether a run takes the list of common shingles from the state.
func TakesCommon(config *job.Config, last *state.Content) bool {
	return !config.CommonLaw().IsOff() && last.Number > 0 && !config.Rebuild
}

// mostPairs returns the largest number of cached pairs that a run uses. A process of a cluster holds them and, in one
// task, their documents, in a quarter of its memory.
func mostPairs(config *job.Config) int64 {
	if job.IsLocal(config.Runner) || config.ProcessMemory() == 0 {
		return math.MaxInt64
	}
	return config.ProcessMemory() / 4 / (state.CachedPairSize + 4*records.KnownSize)
}

// IsDense reports whether oversized key groups have more than half of the pairs that are compared of a corpus with that
// many documents. If a score is a SimHash distance, pairs is the number of pairs of the largest key, and IsDense
// reports whether some are not listed.
func IsDense(config *job.Config, pairs, documents int64) bool {
	bounds := groups.UsualBounds()
	if config.Scorer().IsDistance {
		return pairs > bounds.Group
	}
	return 2*pairs > bounds.Allowed(documents)
}
