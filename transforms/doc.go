// Package transforms holds the stages of the job, in the order of the data: read, fingerprint, source, strip,
// trim, prune, spread, count, key, group, gather, score, audit, cluster, site, mirror, write. Each is a
// Beam composite over DoFns that adapt plain packages. A pipeline of another program calls [NearDuplicates] only.
//
// No element stands for a document, a key or a pair. A stage works on tasks; a task is a split of the input or a shard
// of records. Each task writes one run file (package runfile) under the job's folder, and emits one small element, its
// outcome, which names the file. Between two stages an exchange turns the outcomes of all tasks of the first into the
// tasks of the second. Files have random names, and no stage ever changes one, so a runner may run a task twice. A
// runner that never does so lets a file go when its last reader is done.
package transforms

import (
	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/pairs/scoring"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Job holds the parameters of the stages. It stays with the driver: each DoFn gets only the parameters of its own work.
type Job struct {
	// Runs says where tasks write their run files.
	Runs work.Runs
	// Lanes is the number of tasks of a bundle that a process works on at a time, at least 1. It changes no result.
	Lanes int
	// Inputs is the path of the file that [documents.WriteInputs] made, see [InputsPath]. Splits is the number of
	// splits in it.
	Inputs work.Path
	Splits int

	Fingerprinting documents.Fingerprinting
	// Common says which shingles are common. They are taken out of all sets.
	Common common.Law
	// KnowsCommon says that an earlier job has found them: see [common.Give].
	KnowsCommon bool
	// Stripping is how they are taken out, if any are.
	Stripping common.Stripping
	// Method finds the candidate pairs.
	Method     methods.Name
	Parameters methods.Parameters
	// PlaceBytes bounds the shingle sets that a scoring task holds, and PairBytes its pairs.
	PlaceBytes, PairBytes int64
	// GraphBytes is about how much memory a step may take to find the connected components of a graph.
	GraphBytes int64
	// JoinRanges, if above 0, is the number of ranges of document order by which many tasks join the parts of a graph.
	// Each task takes about RangeBytes of memory for documents. It changes no result.
	JoinRanges int
	RangeBytes int64
	// SampleBytes is how much memory the sample of an audit may take; 0: no limit.
	SampleBytes int64
	// Similarity is what makes two sets alike. Excerpt is what else makes two texts alike, in addition to their
	// containment, and Rarity is the least rarity of what they share; see [scoring.Passages].
	Similarity scoring.Similarity
	Excerpt    int
	Rarity     float64
	// Rows says which rows are written, and where. Emit names all outputs.
	Rows write.Rows
	// Layout says which names the files get that have records of the input.
	Layout output.Layout
	// SketchHashes is how many hashes a row of sketches lists, or fewer if the set has no more.
	SketchHashes int
	// Trimming says which passages are cut, if any are, and how they are found.
	Trimming trim.Trimming
	// Sites says what makes sites mirrors, if the job is about sites.
	Sites mirrors.Judging
	Watch mirrors.StateFiles

	// method is the method of that name, and scorer what scores its pairs.
	method *methods.Method
	scorer methods.Scorer
}

// HasSources reports whether sources are values of a field, which [Source] counts.
func (j *Job) HasSources() bool { return j.Fingerprinting.Kept.SourceField != "" }

// whole makes the tasks of a step that reads whole sets.
func (j *Job) whole(step int) work.Delivery { return common.WholeDelivery(step, true) }

func (j *Job) siteResults() mirrors.Results {
	return mirrors.Results{Files: j.Rows.Files, Emit: j.Rows.Emit}
}
