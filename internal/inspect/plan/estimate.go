package plan

import (
	"cmp"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/storage"
)

// What a job without flags takes for each GB of text, as measured on real texts; docs/explanation/scale.md has the
// jobs. CPU time and temporary files are within a third of it at the threshold 0.8, requests within three times up to
// some 10 GB.
const (
	cpuSecondsPerGB = 18
	tempBytesPerGB  = 1.6e9
	requestsPerGB   = 45_000

	gb = 1e9

	// A job over next to nothing takes these.
	leastCPUSeconds = 0.05
	leastRequests   = 100
)

// sketchBytesPerGB is what sketch blocks take without the keys of MinHash bands. Where they and all keys take more than
// tempBytesPerGB, as with many keys a document, they are the most that is there at a time.
const sketchBytesPerGB = 1.0e9

// Estimate says what the job takes that was chosen, by its bytes of text.
type Estimate struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	TempBytes  float64 `json:"temp_bytes"`
	// Requests are requests to a bucket, if the temporary files are in one.
	Requests float64 `json:"requests"`
}

type load struct {
	// Bytes of text, Documents, and the shingles of all that are counted to find the rarest.
	bytes, documents, ordered float64
	// Key records, shingles of the sets that are compared, and shingles that an audit looks at.
	records, gathered, probed float64
	// Edges are the candidates that reach the threshold, and the documents joined to a hot group or to an equal
	// document.
	edges float64
	// The parts into which the job is cut, the tasks that run at a time, and the bytes of key records that a task may
	// hold.
	splits, shards, lanes, keyBytes float64
}

// Bytes of memory, fitted to jobs by least squares of relative errors. Much of it is garbage that was not collected
// yet.
const (
	processMemory = 66e6 // most of it is the program
	textMemory    = 3    // for a byte of text, up to textAtATime bytes
	textAtATime   = 20e6
	splitMemory   = 210  // for a document of the current splits
	orderedMemory = 0.14 // for a shingle of them that is counted
	// for a key record of the current shards, up to shardAtATime bytes each or what a task may hold
	shardMemory     = 34
	shardAtATime    = 50e6
	gatheredMemory  = 1.55 // for a shingle that is compared, up to gatheredAtATime shingles
	gatheredAtATime = 16e6
	edgeMemory      = 61 // for an edge, up to edgesAtATime bytes: the rest of very large components is on the disk
	edgesAtATime    = 1e9
	auditMemory     = 5 // for a shingle that an audit looks at, up to auditAtATime shingles
	auditAtATime    = 2e6
)

func (l *load) memory() float64 {
	current := min(l.lanes, l.splits) / max(l.splits, 1) // share of the splits
	return processMemory + min(l.bytes, textAtATime)*textMemory +
		current*(l.documents*splitMemory+l.ordered*orderedMemory) +
		l.lanes*min(l.records/max(l.shards, 1)*shardMemory, max(shardAtATime, l.keyBytes)) +
		min(l.gathered, gatheredAtATime)*gatheredMemory + min(l.edges*edgeMemory, edgesAtATime) +
		min(l.probed, auditAtATime)*auditMemory
}

// Reads says what a job reads.
type Reads struct {
	// Files are ordered by their numbers of bytes, the most first.
	Files []Files `json:"files"`
	// Splits is the number of parts into which they are cut: the tasks of the first stage.
	Splits int `json:"splits"`
}

// Files are the files of one format and compression.
type Files struct {
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Reference   bool   `json:"reference,omitempty"`
	Files       int    `json:"files"`
	// Bytes are as they are stored.
	Bytes int64 `json:"bytes"`
}

func readsOf(inputs *documents.Inputs) *Reads {
	found := map[Files]*Files{} // by what is the same of all
	for i := range inputs.Files {
		for _, file := range inputs.Files[i].All() {
			kind := Files{Format: file.Format.String(), Reference: inputs.Files[i].Reference}
			if file.Compression != corpus.None {
				kind.Compression = file.Compression.String()
			}
			if found[kind] == nil {
				of := kind
				found[kind] = &of
			}
			found[kind].Files++
			found[kind].Bytes += file.Size
		}
	}
	reads := &Reads{Splits: len(inputs.Splits)}
	for files := range maps.Values(found) {
		reads.Files = append(reads.Files, *files)
	}
	slices.SortFunc(reads.Files, func(a, b Files) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Format, b.Format),
			cmp.Compare(a.Compression, b.Compression))
	})
	return reads
}

// describe tells what the chosen job reads and takes, and what room it has.
func (a *Advice) describe(c *Config, measured *survey) {
	a.Reads = readsOf(&measured.corpus.inputs)
	if a.Chosen >= 0 {
		text := float64(a.Corpus.Bytes) / gb
		a.Estimate = &Estimate{
			leastCPUSeconds + text*cpuSecondsPerGB, a.Choices[a.Chosen].TempBytes,
			leastRequests + text*requestsPerGB,
		}
	}
	if c.Temp == "" {
		return
	}
	if free, known := storage.Free(c.Temp); known {
		a.TempFree = &free
	}
}
