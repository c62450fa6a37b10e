package transforms

import (
	"slices"
	"time"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/incremental"
	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/pairs/scoring"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// Extent holds what the stages need to know of the inputs of a job, in addition to its configuration.
type Extent struct {
	Scheme lshbands.Scheme
	// Bytes is about how many bytes of text there are. Splits is the number of splits into which they are cut.
	Bytes  int64
	Splits int
	// Blocks replace the blocks of the configuration, unless they are empty.
	Blocks []int
	// Segments is the folder in which a state keeps segments, and CachedPairs a table of the similar pairs of the last
	// run. Both are empty without a state.
	Segments, CachedPairs string
	// KnowsCommon is as in [Job].
	KnowsCommon bool
	// Paired is as in [methods.Parameters].
	Paired string
	// Prunes says that documents which can be in no pair are left out, if the method allows that. It needs Paired.
	Prunes bool
	// DistinctIDs and SharedIDs are as in [methods.Parameters].
	DistinctIDs bool
	SharedIDs   string
	Watch       mirrors.StateFiles
	// HaveURLs says that web archives are among the files.
	HaveURLs bool
	// FreshBytes is about how many bytes of text are read, and not known by a state.
	FreshBytes int64
}

// prunedShare is a guess: what is left of a corpus that is known has the keys of this part of its text.
const prunedShare = 32

// passageBytes is about how much memory a task takes for each passage that it holds.
const passageBytes = 128

// resolved is the configuration of a job with what follows from it, each worked out once.
type resolved struct {
	*job.Config
	Extent
	sizing     job.Sizing
	method     *methods.Method
	parameters methods.Parameters
	scorer     methods.Scorer
	common     common.Law // which shingles are left out
}

func resolve(config *job.Config, e Extent) *resolved {
	r := &resolved{Config: config, Extent: e, sizing: config.Sizing(e.Bytes), common: config.CommonLaw()}
	r.method, _ = methods.Of(config.Method())
	r.parameters = methods.Parameters{
		Shards:       r.sizing.Shards,
		CountBytes:   r.sizing.CountBytes,
		KeyBytes:     r.sizing.KeyBytes,
		Threshold:    config.Threshold,
		Shingle:      config.Shingle,
		Passage:      config.Passage,
		Scheme:       e.Scheme,
		SimHashBits:  config.SimHashBits(),
		Distance:     config.Hamming,
		Blocks:       config.Blocks,
		Scoring:      config.Scoring(),
		Verify:       config.Verify,
		HasSides:     config.Across != "",
		AllPairsUpTo: config.AllPairsUpTo(),
		Bounds:       groups.UsualBounds(),
		CachedPairs:  work.Path(e.CachedPairs),
		Paired:       work.Path(e.Paired),
		DistinctIDs:  e.DistinctIDs,
		SharedIDs:    work.Path(e.SharedIDs),
	}
	if len(e.Blocks) > 0 {
		r.parameters.Blocks = e.Blocks
	}
	r.scorer = r.method.Scorer(&r.parameters)
	return r
}

// NewJob returns the parameters of the stages of a job. [Job.In] says where it works.
func NewJob(config *job.Config, e Extent) *Job {
	r := resolve(config, e)
	fingerprinting := r.fingerprinting()
	isWhole := r.comparesWhole(fingerprinting.Kept)
	if isWhole && r.common.IsOff() && config.State != "" {
		fingerprinting.HeadThreshold = config.Threshold
	}
	keepsPairs := incremental.KeepsPassages(config)
	if keepsPairs {
		r.parameters.TellsLasting = true
		fingerprinting.PassageShingles = r.parameters.PassageShingles()
	}
	if r.parameters.Pruned = e.Prunes && (isWhole || r.scorer.IsDistance || keepsPairs); r.parameters.Pruned {
		r.parameters.Shards = max(r.sizing.LeastShards, config.Sizing(e.FreshBytes+e.Bytes/prunedShare).Shards)
	}
	return &Job{
		Runs:           r.runs(),
		Lanes:          r.sizing.Lanes,
		Splits:         e.Splits,
		Fingerprinting: fingerprinting,
		Common:         config.CommonLaw(),
		KnowsCommon:    e.KnowsCommon,
		Stripping:      r.stripping(),
		Method:         r.method.Name,
		Parameters:     r.parameters,
		PlaceBytes:     r.sizing.PlaceBytes,
		PairBytes:      r.sizing.PairBytes,
		GraphBytes:     r.sizing.GraphBytes,
		JoinRanges:     union.RangesOf(r.parameters.Shards, e.Bytes),
		RangeBytes:     r.sizing.CountBytes,
		SampleBytes:    r.sizing.SampleBytes,
		Similarity:     r.similarity(),
		Excerpt:        config.Excerpt,
		Rarity:         config.Rarity,
		Rows:           r.rows(keepsPairs),
		Layout:         config.Layout,
		SketchHashes:   config.BottomK(),
		Trimming: trim.Trimming{
			Rule:      config.TrimRule(),
			Sketching: fingerprinting.Sketching,
			Ranges:    r.sizing.Shards,
			Held:      max(int(r.sizing.PlaceBytes/passageBytes), 1),
			ByFile:    config.SourceField == "",
		},
		Sites:  mirrors.Judging{Limits: config.Limits()},
		Watch:  e.Watch,
		method: r.method,
		scorer: r.scorer,
	}
}

// In gives a job the folders of its run, and returns it.
func (j *Job) In(temp, partial string) *Job {
	inputs, results := work.Path(InputsPath(temp)), work.Path(partial)
	j.Runs.Folder, j.Inputs = work.Path(temp), inputs
	j.Parameters.Inputs, j.Fingerprinting.Inputs, j.Stripping.Inputs = inputs, inputs, inputs
	j.Rows.Inputs, j.Sites.Inputs, j.Trimming.Inputs = inputs, inputs, inputs
	j.Rows.Partial = results
	return j
}

// InputsPath returns the file that lists the inputs of a run, in its folder of temporary files.
func InputsPath(temp string) string { return storage.Join(temp, "inputs.gob") }

// runs says how tasks write and drop their run files.
func (r *resolved) runs() work.Runs {
	runs := work.Runs{
		Held:       r.sizing.RunBytes,
		Ahead:      r.sizing.AheadBytes,
		LargeBytes: r.sizing.LargeBytes,
		Resumable:  r.Resume,
		Patience:   time.Duration(r.StorageTimeout),
	}
	if job.IsLocal(r.Runner) {
		runs.Release = !r.Resume && r.State == ""
	} else {
		runs.Memory = r.ProcessMemory()
	}
	return runs
}

func (r *resolved) rows(keepsPairs bool) write.Rows {
	return write.Rows{
		Files: write.Files{
			Format: r.OutputFormat, HaveURLs: r.HaveURLs, HaveVariants: r.Config.Variants.Keeps(),
		},
		Emit:    r.Outputs(),
		Columns: r.Columns,
		Pairs:   r.PairKind(),
		// A common passage neither removes a document nor puts it into a cluster.
		Undecided:  !r.scorer.HasClusters,
		Rule:       r.Rule(),
		Least:      r.LeastSimilarity(),
		TellsLost:  r.TellsRemoved() && r.scorer.IsExact && !r.scorer.IsDistance,
		ForNext:    r.State != "" && r.scorer.HasClusters,
		KeepsPairs: keepsPairs,
		Bytes:      r.sizing.CountBytes,
	}
}

func (r *resolved) similarity() scoring.Similarity {
	s := scoring.Similarity{Threshold: r.Threshold, AcceptsAll: r.scorer.AcceptsAll}
	if !r.scorer.IsExact {
		s.Smallest = r.BottomK()
	}
	return s
}

// NewFingerprinting returns how a job makes sketches of documents. If it takes common shingles out of the sets, what
// follows from a set is made after that, by [Strip].
func NewFingerprinting(config *job.Config, e Extent) documents.Fingerprinting {
	return resolve(config, e).fingerprinting()
}

func (r *resolved) fingerprinting() documents.Fingerprinting {
	f := documents.Fingerprinting{
		Sketching:   r.Sketching(r.sizing.WindowBytes),
		Kept:        r.kept(),
		Checksums:   r.EmitsCopies(),
		AuditSample: r.AuditSample(),
		Segments:    work.Path(r.Segments),
	}
	if !r.common.IsOff() {
		f.AuditSample, f.Options.SimHashBits = 0, 0
		f.Kept.Whole, f.Kept.Scheme, f.Kept.Sets, f.Kept.Smallest = true, lshbands.Scheme{}, documents.AllHashes, 0
	}
	return f
}

func (r *resolved) stripping() common.Stripping {
	s := common.Stripping{
		Kept:        r.kept(),
		SimHashBits: r.SimHashBits(),
		Apart:       r.PairKind() == output.PartialPair,
	}
	if !r.common.IsOff() {
		s.AuditSample = r.AuditSample()
	}
	return s
}

// comparesWhole reports whether pairs are scored by whole shingle sets, which blocks hold.
func (r *resolved) comparesWhole(kept documents.Kept) bool {
	return r.scorer.Reads == methods.Sets && r.scorer.IsExact &&
		kept.Fingerprints == fingerprints.Sets && kept.Sets == documents.AllHashes
}

// kept returns what the job keeps of a document for its method.
func (r *resolved) kept() documents.Kept {
	kept := documents.Kept{
		Scheme:            r.parameters.Scheme,
		Sets:              documents.AllHashes,
		Fingerprints:      r.Kind().Name,
		ExcludeQuotations: r.NoQuotations,
		Texts:             r.Config.Variants.Keeps(),
		Marking: documents.Marking{
			Keep:        r.Keep,
			SourceField: r.SourceField,
			Within:      r.Within,
			Across:      r.Across,
			Pages:       r.Paging(r.parameters.Shards),
		},
	}
	isScored := r.scorer.Reads != methods.Nothing
	switch {
	case !isScored && !slices.Contains(r.Outputs(), output.Sketches):
		kept.Sets = documents.NoHashes // nobody reads the sets
	case !r.scorer.IsExact || !isScored:
		kept.Sets, kept.Smallest = documents.SmallestHashes, r.BottomK()
	}
	return kept
}
