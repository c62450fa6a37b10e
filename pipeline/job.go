package pipeline

import (
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/work"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
	"mirrorbeam/transforms"
)

// passageKeyBytes is about how many bytes the keys of a byte of text take where they are
// sorted.
const passageKeyBytes = 4

// extent is what workers need to know beside the configuration: what the job reads, and
// where it works.
type extent struct {
	// scheme is that of MinHash keys.
	scheme lshbands.Scheme
	// bytes is about how many bytes of text there are, splits into how many splits they
	// are cut.
	bytes  int64
	splits int
	// stopWords is the list of stop words.
	stopWords string
	// temp and partial are folders of the run, inputs is the file that lists its inputs.
	temp, partial, inputs string
}

// newJob returns what the workers of a job need to know.
func newJob(config *job.Config, e extent) transforms.Job {
	lanes := config.Lanes
	if lanes == 0 {
		lanes = work.Cores()
	}
	if config.Similarity == methods.Containment {
		e.bytes *= passageKeyBytes
	}
	plan := job.PlanMemory(int64(config.Memory), e.bytes, min(lanes, work.Cores()))
	fields, weights := config.TextFields()
	j := transforms.Job{
		Temp: e.temp, Partial: e.partial, Inputs: e.inputs,
		Fields:        corpus.Fields{ID: config.IDField, Texts: fields, Features: config.Features},
		MaxDocument:   int64(config.MaxDocument),
		Measure:       sketch.Measure{Shingle: config.Shingle, CJKSplit: config.CJKSplit, Seed: config.Seed},
		Normalization: config.Normalize,
		StopWordUse:   config.StopWordUse,
		Weights:       weights,
		SimHashBits:   config.SimHashBits(),
		Similarity:    config.Similarity,
		Threshold:     config.Threshold,
		Keys:          config.Method(),
		Scoring:       config.Scoring(),
		AllPairsUpTo:  config.AllPairsUpTo(),
		Distance:      config.Hamming,
		Scheme:        e.scheme,
		Verify:        config.Verify,
		Keep:          config.Keep,
		Split:         config.Split,
		Emit:          config.Outputs(),
		Format:        config.OutputFormat,
		ConfigHash:    config.SketchHash(e.stopWords),
		Lanes:         lanes,
		Splits:        e.splits,
		Shards:        plan.Shards,
		RunBytes:      plan.RunBytes,
		WindowBytes:   plan.WindowBytes,
		ReleaseRuns:   IsLocal(config.Runner),
		AuditSample:   config.AuditSample(),
		PlaceBytes:    plan.PlaceBytes,
		Bounds:        groups.UsualBounds(),
	}
	if config.Similarity == methods.Containment {
		fitContainment(&j, config)
	}
	return j
}

// fitContainment changes a job to one that looks for passages. It has more records for
// each document, and takes some 40 bytes of memory for each shingle where sets take 8.
func fitContainment(j *transforms.Job, config *job.Config) {
	j.Excerpt, j.ExcludeQuotations = config.Excerpt, config.NoQuotations
	j.PlaceBytes = max(j.PlaceBytes/5, 1)
}
