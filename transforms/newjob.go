package transforms

import (
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/match/scoring"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/sites/mirrors"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

// Extent holds what workers need to know besides the configuration: what the job reads, and where it works.
type Extent struct {
	// Scheme is the scheme of MinHash keys.
	Scheme lshbands.Scheme
	// Bytes is about how many bytes of text there are. Splits is the number of splits into which they are cut.
	Bytes  int64
	Splits int
	// Lists are what stands in the files that the configuration names.
	Lists job.Lists
	// Temp and Partial are folders of the run. Inputs is the file that lists its inputs.
	Temp, Partial, Inputs string
	// Units is the folder in which a state keeps units, and Verdicts a table of the similar pairs of the last run. Both are
	// empty without a state.
	Units, Verdicts string
	// KnowsCommon is as in [Job].
	KnowsCommon bool
}

// NewJob returns the parameters of the stages of a job.
func NewJob(config *job.Config, e Extent) *Job {
	sizing, inputs, scorer := config.Sizing(e.Bytes), work.Path(e.Inputs), config.Scorer()
	parameters := methods.Parameters{
		Inputs: inputs, Shards: sizing.Shards, Threshold: config.Threshold, Shingle: config.Shingle, Passage: config.Passage, Scheme: e.Scheme,
		SimHashBits: config.SimHashBits(), Distance: config.Hamming, Blocks: config.Blocks, Scoring: config.Scoring(), Verify: config.Verify,
		HasSides: config.Across != "", AllPairsUpTo: config.AllPairsUpTo(), Bounds: groups.UsualBounds(),
		Verdicts: work.Path(e.Verdicts),
	}
	runs := work.Runs{Folder: work.Path(e.Temp), Held: sizing.RunBytes, LargeBytes: sizing.LargeBytes, Release: job.IsLocal(config.Runner) && !config.Resume && config.State == "", Resumable: config.Resume}
	if !job.IsLocal(config.Runner) {
		runs.Memory = config.ProcessMemory()
	}
	j := &Job{
		Runs:   runs,
		Lanes:  sizing.Lanes,
		Inputs: inputs, Splits: e.Splits,
		Fingerprinting: documents.Fingerprinting{
			Sketching: config.Sketching(sizing.WindowBytes), Inputs: inputs, Kept: kept(config, &parameters),
			Checksums: readsAgain(config), AuditSample: config.AuditSample(), Units: work.Path(e.Units),
		},
		Common: config.CountedLaw(), Counts: config.CommonLaw().IsOff(), KnowsCommon: e.KnowsCommon, Stripping: stripping(config, &parameters),
		Method: config.Method(), Parameters: parameters,
		PlaceBytes: sizing.PlaceBytes, GraphBytes: sizing.GraphBytes,
		Similarity: scoring.Similarity{
			Threshold: config.Threshold, AcceptsAll: scorer.AcceptsAll,
		},
		Excerpt: config.Excerpt, Rarity: config.Rarity,
		Rows: write.Rows{
			Files:  write.Files{Partial: work.Path(e.Partial), Format: config.OutputFormat},
			Inputs: inputs, Emit: config.Outputs(), ByDistance: scorer.IsDistance, IsPartial: isPartial(config), TellsRarity: config.Rarity > 0,
			// A common passage neither removes a document nor puts it into a cluster.
			Undecided: !scorer.HasClusters, Split: config.Split, Least: config.LeastSimilarity(), ForNext: config.State != "" && scorer.HasClusters,
		},
		SketchHashes: config.BottomK(), Index: indexOf(config, e),
		Sites: mirrors.Judging{Inputs: inputs, Limits: config.Limits()},
	}
	if !scorer.IsExact {
		j.Similarity.Smallest = config.BottomK()
	}
	if !config.CommonLaw().IsOff() {
		// What follows from the sets is made when the common shingles are out of them.
		f := &j.Fingerprinting
		j.Stripping.AuditSample, f.AuditSample = f.AuditSample, 0
		f.Kept.Whole, f.Kept.Scheme, f.Kept.Sets, f.Kept.Smallest, f.Options.SimHashBits = true, lshbands.Scheme{}, documents.AllHashes, 0, 0
	}
	return j
}

// stripping returns how a job takes common shingles out of documents.
func stripping(config *job.Config, parameters *methods.Parameters) common.Stripping {
	return common.Stripping{
		Kept: kept(config, parameters), SimHashBits: config.SimHashBits(), Apart: isPartial(config), Inputs: parameters.Inputs,
	}
}

// isPartial reports whether rows of pairs have two similarities: without common shingles, and with them.
func isPartial(config *job.Config) bool {
	return !config.CommonLaw().IsOff() && config.Scorer().TellsWhole()
}

// readsAgain reports whether the job reads the input a second time.
func readsAgain(config *job.Config) bool {
	return slices.Contains(config.Outputs(), output.Unique) || slices.Contains(config.Outputs(), output.Annotated)
}

// kept returns what the job keeps of a document for its method.
func kept(config *job.Config, parameters *methods.Parameters) documents.Kept {
	method, _ := methods.Of(config.Method())
	kept := documents.Kept{
		Scheme: parameters.Scheme, Sets: documents.AllHashes, Fingerprints: method.Fingerprints, ExcludeQuotations: config.NoQuotations,
		Marking: documents.Marking{Keep: config.Keep, SourceField: config.SourceField, Within: config.Within, Across: config.Across, Pages: config.Paging(parameters.Shards)},
	}
	kept.Boilerplate = slices.Contains(config.Outputs(), output.Boilerplate) && len(config.Ignore) > 0
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

// indexOf returns the index for the scores of the job.
func indexOf(config *job.Config, e Extent) write.Index {
	return write.Index{Partial: work.Path(e.Partial), Inputs: work.Path(e.Inputs), Kind: config.Indexing(e.Lists), IsStripped: !config.CommonLaw().IsOff()}
}
