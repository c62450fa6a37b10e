package job

import (
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

// Sizing says how a process works on a job. It changes no result.
type Sizing struct {
	// Lanes is the number of tasks of a bundle that a process works on at a time, at least 1.
	Lanes int
	MemoryPlan
}

// passageKeyBytes is about how many bytes of keys are sorted for each byte of text, if passages are looked for.
const passageKeyBytes = 4

// Sizing cuts the job over text bytes of text. A job that looks for passages has more records for each document, and
// takes some 40 bytes of memory for each shingle where sets take 8.
func (c *Config) Sizing(text int64) Sizing {
	lanes := c.Lanes
	if lanes == 0 {
		lanes = work.Cores()
	}
	if c.Similarity == methods.Containment {
		text *= passageKeyBytes
	}
	s := Sizing{Lanes: lanes, MemoryPlan: PlanMemory(int64(c.Memory), text, min(lanes, work.Cores()))}
	if c.Similarity == methods.Containment {
		s.PlaceBytes = max(s.PlaceBytes/5, 1)
	}
	return s
}

// Sketching returns how records are read and how they become fingerprints. The reader accepts windows of compressed
// files up to windowBytes.
func (c *Config) Sketching(windowBytes int64) documents.Sketching {
	fields, weights := c.TextFields()
	return documents.Sketching{
		Reading: documents.Reading{
			Fields:      corpus.Fields{ID: c.IDField, Texts: fields, Features: c.Features},
			MaxDocument: int64(c.MaxDocument), WindowBytes: windowBytes, PageText: c.HTMLText,
		},
		Options: sketch.Options{
			Measure:       sketch.Measure{Shingle: c.Shingle, CJKSplit: c.CJKSplit, Seed: c.Seed},
			Normalization: c.Normalize, Weights: weights, StopWordUse: c.StopWordUse, SimHashBits: c.SimHashBits(),
		},
	}
}
