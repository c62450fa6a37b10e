package job

import (
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Sizing says how a process works on a job.
type Sizing struct {
	// Lanes is the number of tasks of a bundle that a process works on at a time, at least 1.
	Lanes int
	MemoryPlan
}

// bandsOfText is how many bands have records that are about as long as the text of a usual document.
const bandsOfText = 16

// Sizing cuts the job over text bytes of text. A job that looks for passages has more records for each document, and
// takes some 40 bytes of memory for each shingle where sets take 8. A job with very many bands has more records, too.
//
// On a cluster a bundle does one task at once, since the engine gives each slot of a worker a bundle of its own.
func (c *Config) Sizing(text int64) Sizing {
	lanes, tasks := c.Lanes, work.Cores()
	if !IsLocal(c.Runner) {
		lanes, tasks = 1, workerTasks
	} else if lanes == 0 {
		lanes = tasks
	} else {
		tasks = min(lanes, tasks)
	}
	load := c.method().Load
	if scheme, err := c.Scheme(); err == nil { // [Config.Validate] tells the error
		load.Text *= max(int64(scheme.Bands+bandsOfText-1)/bandsOfText, 1)
	}
	s := Sizing{Lanes: lanes, MemoryPlan: PlanMemory(c.ProcessMemory(), load.Text*text, tasks)}
	s.PlaceBytes = max(s.PlaceBytes/load.Memory, 1)
	return s
}

// workerTasks is how many tasks a worker of a cluster is taken to do at a time. It is unknown when the job is cut.
const workerTasks = 8

// ProcessMemory is the size, in bytes, that a process that works on tasks aims to stay below; 0: no limit.
func (c *Config) ProcessMemory() int64 {
	if c.WorkerMemory > 0 && !IsLocal(c.Runner) {
		return int64(c.WorkerMemory)
	}
	return int64(c.Memory)
}

// Dialect returns how CSV and TSV are cut. The configuration is valid.
func (c *Config) Dialect() corpus.Dialect {
	delimiter, _ := corpus.ParseDelimiter(c.Delimiter)
	quote, _ := corpus.ParseQuote(c.Quote)
	escape, _ := corpus.ParseMark(c.Escape)
	return corpus.Dialect{Delimiter: delimiter, Quote: quote, Escape: escape, SkipLines: c.SkipLines}
}

// Sketching returns how records are read and how they become fingerprints. The reader accepts windows of compressed
// files up to windowBytes.
func (c *Config) Sketching(windowBytes int64) documents.Sketching {
	fields, weights := c.TextFields()
	return documents.Sketching{
		Reading: documents.Reading{
			Fields: corpus.Fields{
				ID:       c.IDField,
				Texts:    fields,
				Items:    c.itemFields(),
				Features: c.Features,
				Beside:   c.FeatureWeight > 0,
				Given:    c.GivenFingerprints(),
			},
			Records:       c.Records,
			MaxDocument:   int64(c.MaxDocument),
			DocumentBytes: c.DocumentBytes(),
			MaxExpanded:   int64(c.MaxExpanded),
			WindowBytes:   windowBytes,
			PageText:      c.HTMLText,
			AsShown:       c.HasSites(),
			Dialect:       c.Dialect(),
			Charset:       c.Encoding,
			TextForm:      c.TextFormat,
		},
		Options: sketch.Options{
			Measure:         sketch.Measure{Shingle: c.Shingle, Tokens: c.Tokens, Seed: c.Seed.Number},
			Code:            c.Code,
			Normalization:   c.Normalize,
			Weights:         weights,
			StopWordUse:     c.StopWordUse,
			LeastShingles:   c.MinShingles,
			SimHashBits:     c.SimHashBits(),
			FeatureShingles: c.FeatureWeight,
		},
	}
}
