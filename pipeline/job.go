package pipeline

import (
	"slices"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/mirrors"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/scoring"
	"mirrorbeam/internal/work"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
	"mirrorbeam/transforms"
)

// extent holds what workers need to know besides the configuration: what the job reads, and where it works.
type extent struct {
	// scheme is the scheme of MinHash keys.
	scheme lshbands.Scheme
	// bytes is about how many bytes of text there are. splits is the number of splits into which they are cut.
	bytes  int64
	splits int
	// stopWords is the list of stop words.
	stopWords string
	// temp and partial are folders of the run. inputs is the file that lists its inputs.
	temp, partial, inputs string
	// units is the folder in which a state keeps units, and verdicts a table of the similar pairs of the last run. Both are
	// empty without a state.
	units, verdicts string
}

// newJob returns the parameters of the stages of a job.
func newJob(config *job.Config, e extent) *transforms.Job {
	sizing, inputs := config.Sizing(e.bytes), work.Path(e.inputs)
	parameters := methods.Parameters{
		Inputs: inputs, Shards: sizing.Shards, Threshold: config.Threshold, Shingle: config.Shingle, Scheme: e.scheme,
		SimHashBits: config.SimHashBits(), Distance: config.Hamming, Scoring: config.Scoring(),
		HasSides: config.Across != "", AllPairsUpTo: config.AllPairsUpTo(), Bounds: groups.UsualBounds(),
		Verdicts: work.Path(e.verdicts),
	}
	runs := work.Runs{Folder: work.Path(e.temp), Held: sizing.RunBytes, Release: job.IsLocal(config.Runner) && !config.Resume && config.State == "", Resumable: config.Resume}
	if !job.IsLocal(config.Runner) {
		runs.Memory = config.ProcessMemory()
	}
	return &transforms.Job{
		Runs:   runs,
		Lanes:  sizing.Lanes,
		Inputs: inputs, Splits: e.splits,
		Fingerprinting: documents.Fingerprinting{
			Sketching: config.Sketching(sizing.WindowBytes), Inputs: inputs, Kept: kept(config, &parameters),
			Checksums: readsAgain(config), AuditSample: config.AuditSample(), Units: work.Path(e.units),
		},
		Method: config.Method(), Parameters: parameters,
		PlaceBytes: sizing.PlaceBytes, GraphBytes: sizing.GraphBytes,
		Similarity: scoring.Similarity{
			Threshold: config.Threshold, IsEstimate: config.Verify != methods.VerifyExact, AcceptsAll: config.Verify == methods.VerifyNone,
		},
		Excerpt: config.Excerpt,
		Rows: outputs.Rows{
			Files:  outputs.Files{Partial: work.Path(e.partial), Format: config.OutputFormat},
			Inputs: inputs, Emit: config.Outputs(), ByDistance: config.Scoring() == methods.Hamming,
			// A common passage neither removes a document nor puts it into a cluster.
			Undecided: config.Similarity == methods.Containment, Split: config.Split, Least: config.LeastSimilarity(), ForNext: config.State != "" && config.Similarity == methods.Resemblance,
		},
		Index: indexOf(config, e),
		Sites: mirrors.Judging{Inputs: inputs, Limits: config.Limits()},
	}
}

// readsAgain reports whether the job reads the input a second time.
func readsAgain(config *job.Config) bool {
	return slices.Contains(config.Outputs(), output.Unique) || slices.Contains(config.Outputs(), output.Annotated)
}

// kept returns what the job keeps of a document for its method.
func kept(config *job.Config, parameters *methods.Parameters) documents.Kept {
	method, _ := methods.Of(config.Method())
	kept := documents.Kept{
		Scheme: parameters.Scheme, Sets: documents.AllHashes, Identity: method.Identity,
		Sequences: method.Reads&methods.ReadsSequences != 0, ExcludeQuotations: config.NoQuotations,
		Marking: documents.Marking{Keep: config.Keep, SourceField: config.SourceField, Within: config.Within, Across: config.Across, Pages: config.Paging(parameters.Shards)},
	}
	isScored := method.Scorer(parameters) != methods.NoScorer
	switch {
	case !isScored && !slices.Contains(config.Outputs(), output.Sketches):
		kept.Sets = documents.NoHashes // nobody reads the sets
	case config.Verify != methods.VerifyExact || !isScored:
		kept.Sets = documents.SmallestHashes
	}
	return kept
}

// indexOf returns the index for the scores of the job.
func indexOf(config *job.Config, e extent) outputs.Index {
	return outputs.Index{Partial: work.Path(e.partial), Inputs: work.Path(e.inputs), Kind: config.Indexing(e.stopWords)}
}
