// Package transforms holds the stages of the job, one file a stage, in the
// order of the data: read, fingerprint, count, key, group, gather, score, audit, cluster,
// write. Each is a Beam composite over DoFns that adapt plain packages.
//
// No element stands for a document, a key or a pair. A stage works on tasks, a
// split of the input or a shard of records; what a task puts out goes into one
// run file (package runfile) under the job's folder, and one small element, its
// outcome, names the file. Between two stages an exchange turns the outcomes of
// all tasks of the one into the tasks of the other. Files have random names and
// are never changed by a stage, so a runner may run a task twice; where it never
// does, they go when their last reader is done.
package transforms

import (
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Job is what the workers know of a job. It travels in the DoFns.
type Job struct {
	// Temp is the job's own folder for run files, Partial the one for output
	// files that are not published yet. All workers share them.
	Temp, Partial string
	// Inputs is the path of the file that WriteInputs made.
	Inputs string

	Fields      corpus.Fields
	MaxDocument int64
	// WindowBytes is the largest window of a zstd file that is read, in bytes.
	WindowBytes int64
	Measure     sketch.Measure
	// Normalization, StopWordUse and Weights change texts and what they count;
	// see [sketch.Options].
	Normalization sketch.Normalization
	StopWordUse   sketch.StopWordUse
	Weights       []float64
	// SimHashBits is the length of SimHash fingerprints, 0 where none are wanted.
	SimHashBits int
	Similarity  methods.Similarity
	// Threshold is the least Jaccard similarity, or the least containment of one of
	// two documents in the other.
	Threshold float64
	// Excerpt is the number of words of the shortest passage that makes a pair
	// whatever the containment; 0: none does. ExcludeQuotations leaves quoted words
	// out. Both are for Containment.
	Excerpt           int
	ExcludeQuotations bool
	Keys              methods.Name
	// AllPairsUpTo is up to how many documents the pairs of a corpus are all compared
	// where Keys are exact, which is cheaper there and finds the same; 0: never.
	AllPairsUpTo int64
	Scoring      methods.Scoring
	// Distance is the largest Hamming distance of SimHash fingerprints that share a
	// key.
	Distance int
	// Scheme is that of MinHash keys; without bands for others.
	Scheme lshbands.Scheme
	Verify methods.Verification
	Keep   keep.Preference
	Split  keep.Split
	Emit   []string
	Format output.Format
	// ConfigHash identifies the configuration in an index.
	ConfigHash string

	// Lanes is how many tasks of a bundle a process works on at a time, at least 1.
	// It changes no result.
	Lanes int
	// ReleaseRuns allows run files to go as soon as no task that is still to come
	// reads them: the runner does not run a task twice.
	ReleaseRuns bool
	// Shards is the number of shards that keys and candidate pairs are spread
	// over, at least 1. It changes no result.
	Shards int
	// Splits is the number of splits of the inputs.
	Splits int
	// RunBytes is how much of its run file a task holds back in memory, so that
	// sections grow to a size worth a read.
	RunBytes int
	// PlaceBytes bounds the shingle sets that a scoring task holds, and its pairs.
	PlaceBytes int64
	// AuditSample is about how many documents are sampled to estimate the recall; 0:
	// none.
	AuditSample int
	// Bounds say what is compared of documents that are much alike.
	Bounds groups.Bounds
}

// runs returns where run files are written.
func (j *Job) runs() work.Runs {
	return work.Runs{Folder: work.Path(j.Temp), Held: j.RunBytes, Release: j.ReleaseRuns}
}

func newBundle(job Job) bundle { return bundle{Runs: job.runs(), Lanes: job.Lanes} }

// Method returns the method of the job, which has been checked to be there.
func (j *Job) Method() *methods.Method {
	m, _ := methods.Of(j.Keys)
	return m
}

// Parameters returns what the method knows of the job.
func (j *Job) Parameters() methods.Parameters {
	return methods.Parameters{
		Inputs: work.Path(j.Inputs), Shards: j.Shards, Threshold: j.Threshold, Shingle: j.Measure.Shingle,
		Scheme: j.Scheme, SimHashBits: j.SimHashBits, Distance: j.Distance, Scoring: j.Scoring,
		AllPairsUpTo: j.AllPairsUpTo, Bounds: j.Bounds,
	}
}
