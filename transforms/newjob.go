package transforms

import (
	"slices"
	"time"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/match/scoring"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/measure/fingerprints"
	"mirrorbeam/internal/settle/union"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/sites/mirrors"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

// Extent holds what the stages need to know of the inputs of a job, besides its configuration.
type Extent struct {
	// Scheme is the scheme of MinHash keys.
	Scheme lshbands.Scheme
	// Bytes is about how many bytes of text there are. Splits is the number of splits into which they are cut.
	Bytes  int64
	Splits int
	// Units is the folder in which a state keeps units, and Verdicts a table of the similar pairs of the last run. Both are
	// empty without a state.
	Units, Verdicts string
	// KnowsCommon is as in [Job].
	KnowsCommon bool
	// Paired is as in [methods.Parameters].
	Paired string
	// Narrows says that documents which can be in no pair are left out, if the method allows that. It needs Paired.
	Narrows bool
	// DistinctIDs and SharedIDs are as in [methods.Parameters].
	DistinctIDs bool
	SharedIDs   string
	// HaveURLs says that web archives are among the files.
	HaveURLs bool
	// FreshBytes is about how many bytes of text are read, and not known by a state.
	FreshBytes int64
}

// narrowShare is a guess: what is left of a corpus that is known has the keys of this part of its text.
const narrowShare = 32

// passageBytes is about how much memory a task takes for each passage that it holds.
const passageBytes = 128

// NewJob returns the parameters of the stages of a job. [Job.In] says where it works.
func NewJob(config *job.Config, e Extent) *Job {
	sizing, parameters, scorer := config.Sizing(e.Bytes), newParameters(config, e), config.Scorer()
	fingerprinting := NewFingerprinting(config, e)
	isWhole, isStripped := comparesWhole(fingerprinting.Kept, scorer), !config.CommonLaw().IsOff()
	if isWhole && !isStripped && config.State != "" {
		fingerprinting.HeadThreshold = config.Threshold
	}
	keepsPairs := scorer.Reads == methods.Texts && !isStripped && config.State != ""
	if keepsPairs {
		parameters.TellsLasting, fingerprinting.PassageShingles = true, parameters.PassageShingles()
	}
	if parameters.Narrowed = e.Narrows && (isWhole || scorer.IsDistance || keepsPairs); parameters.Narrowed {
		parameters.Shards = max(sizing.LeastShards, config.Sizing(e.FreshBytes+e.Bytes/narrowShare).Shards)
	}
	return &Job{
		Runs: newRuns(config, sizing), Lanes: sizing.Lanes, Splits: e.Splits,
		Fingerprinting: fingerprinting,
		Common:         config.CommonLaw(), KnowsCommon: e.KnowsCommon, Stripping: stripping(config, &parameters),
		Method: config.Method(), Parameters: parameters,
		PlaceBytes: sizing.PlaceBytes, GraphBytes: sizing.GraphBytes, JoinRanges: union.RangesOf(parameters.Shards, e.Bytes), RangeBytes: sizing.CountBytes, SampleBytes: sizing.SampleBytes,
		Similarity: similarity(config, scorer), Excerpt: config.Excerpt, Rarity: config.Rarity,
		Rows: write.Rows{
			Files: write.Files{Format: config.OutputFormat, HaveURLs: e.HaveURLs},
			Emit:  config.Outputs(), Pairs: pairKind(config, scorer),
			// A common passage neither removes a document nor puts it into a cluster.
			Undecided: !scorer.HasClusters, Rule: config.Rule(), Least: config.LeastSimilarity(), ForNext: config.State != "" && scorer.HasClusters,
			KeepsPairs: keepsPairs, Bytes: sizing.CountBytes,
		},
		Layout:       config.Layout,
		SketchHashes: config.BottomK(), IsStripped: isStripped,
		Trimming: config.TrimRule(), PassageRanges: sizing.Shards, HeldPassages: max(int(sizing.PlaceBytes/passageBytes), 1),
		Sites: mirrors.Judging{Limits: config.Limits()},
	}
}

// In gives a job the folders of its run, and returns it.
func (j *Job) In(temp, partial string) *Job {
	inputs, results := work.Path(InputsPath(temp)), work.Path(partial)
	j.Runs.Folder, j.Inputs = work.Path(temp), inputs
	j.Parameters.Inputs, j.Fingerprinting.Inputs, j.Stripping.Inputs = inputs, inputs, inputs
	j.Rows.Inputs, j.Sites.Inputs = inputs, inputs
	j.Rows.Partial = results
	return j
}

// InputsPath returns the file that lists the inputs of a run, in its folder of temporary files.
func InputsPath(temp string) string { return storage.Join(temp, "inputs.gob") }

// newRuns says how tasks write and drop their run files.
func newRuns(config *job.Config, sizing job.Sizing) work.Runs {
	runs := work.Runs{Held: sizing.RunBytes, Ahead: sizing.AheadBytes, LargeBytes: sizing.LargeBytes, Resumable: config.Resume, Patience: time.Duration(config.StorageTimeout)}
	if job.IsLocal(config.Runner) {
		runs.Release = !config.Resume && config.State == ""
	} else {
		runs.Memory = config.ProcessMemory()
	}
	return runs
}

// newParameters returns the parameters of the method of a job.
func newParameters(config *job.Config, e Extent) methods.Parameters {
	sizing := config.Sizing(e.Bytes)
	return methods.Parameters{
		Shards: sizing.Shards, CountBytes: sizing.CountBytes, KeyBytes: sizing.KeyBytes, Threshold: config.Threshold, Shingle: config.Shingle, Passage: config.Passage, Scheme: e.Scheme,
		SimHashBits: config.SimHashBits(), Distance: config.Hamming, Blocks: config.Blocks, Scoring: config.Scoring(), Verify: config.Verify,
		HasSides: config.Across != "", AllPairsUpTo: config.AllPairsUpTo(), Bounds: groups.UsualBounds(),
		Verdicts: work.Path(e.Verdicts), Paired: work.Path(e.Paired), DistinctIDs: e.DistinctIDs, SharedIDs: work.Path(e.SharedIDs),
	}
}

// similarity returns what makes two sets alike.
func similarity(config *job.Config, scorer methods.Scorer) scoring.Similarity {
	s := scoring.Similarity{Threshold: config.Threshold, AcceptsAll: scorer.AcceptsAll}
	if !scorer.IsExact {
		s.Smallest = config.BottomK()
	}
	return s
}

// NewFingerprinting returns how a job makes sketches of documents. If it takes common shingles out of the sets, what follows
// from a set is made after that, by [Strip].
func NewFingerprinting(config *job.Config, e Extent) documents.Fingerprinting {
	parameters := newParameters(config, e)
	f := documents.Fingerprinting{
		Sketching: config.Sketching(config.Sizing(e.Bytes).WindowBytes), Kept: kept(config, &parameters),
		Checksums: config.EmitsCopies(), AuditSample: config.AuditSample(), Units: work.Path(e.Units),
	}
	if !config.CommonLaw().IsOff() {
		f.AuditSample, f.Options.SimHashBits = 0, 0
		f.Kept.Whole, f.Kept.Scheme, f.Kept.Sets, f.Kept.Smallest = true, lshbands.Scheme{}, documents.AllHashes, 0
	}
	return f
}

// stripping returns how a job takes common shingles out of documents.
func stripping(config *job.Config, parameters *methods.Parameters) common.Stripping {
	s := common.Stripping{Kept: kept(config, parameters), SimHashBits: config.SimHashBits(), Apart: pairKind(config, config.Scorer()) == output.PartialPair}
	if !config.CommonLaw().IsOff() {
		s.AuditSample = config.AuditSample()
	}
	return s
}

// pairKind returns the kind of the pairs of a job.
func pairKind(config *job.Config, scorer methods.Scorer) string {
	switch {
	case scorer.IsDistance:
		return output.HammingPair
	case !config.CommonLaw().IsOff() && scorer.TellsWhole():
		return output.PartialPair
	case config.Rarity > 0:
		return output.RarePair
	}
	return output.SetPair
}

// comparesWhole reports whether pairs are scored by whole shingle sets, which blocks hold.
func comparesWhole(kept documents.Kept, scorer methods.Scorer) bool {
	return scorer.Reads == methods.Sets && scorer.IsExact && kept.Fingerprints == fingerprints.Sets && kept.Sets == documents.AllHashes
}

// kept returns what the job keeps of a document for its method.
func kept(config *job.Config, parameters *methods.Parameters) documents.Kept {
	method, _ := methods.Of(config.Method())
	kept := documents.Kept{
		Scheme: parameters.Scheme, Sets: documents.AllHashes, Fingerprints: method.Fingerprints, ExcludeQuotations: config.NoQuotations,
		Marking: documents.Marking{Keep: config.Keep, SourceField: config.SourceField, Within: config.Within, Across: config.Across, Pages: config.Paging(parameters.Shards)},
	}
	scorer := method.Scorer(parameters)
	isScored := scorer.Reads != methods.Nothing
	switch {
	case !isScored && !slices.Contains(config.Outputs(), output.Sketches):
		kept.Sets = documents.NoHashes // nobody reads the sets
	case !scorer.IsExact || !isScored:
		kept.Sets, kept.Smallest = documents.SmallestHashes, config.BottomK()
	}
	return kept
}
