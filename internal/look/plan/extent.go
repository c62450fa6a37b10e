package plan

import (
	"cmp"
	"maps"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/corpus"
)

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

// Write says what an output takes if the job writes it.
type Write struct {
	Output string `json:"output"`
	// Bytes are not compressed. AtMost says that they are a bound, and not an estimate.
	Bytes  float64 `json:"bytes"`
	AtMost bool    `json:"at_most,omitempty"`
}

func readsOf(inputs *documents.Inputs) *Reads {
	type kind struct {
		format      corpus.Format
		compression corpus.Compression
		reference   bool
	}
	found := map[kind]*Files{}
	for i := range inputs.Files {
		reference := inputs.Files[i].Reference
		for _, file := range inputs.Files[i].All() {
			k := kind{file.Format, file.Compression, reference}
			if found[k] == nil {
				found[k] = &Files{Format: k.format.String(), Compression: compressionNames[k.compression], Reference: reference}
			}
			found[k].Files++
			found[k].Bytes += file.Size
		}
	}
	reads := &Reads{Splits: len(inputs.Splits)}
	for files := range maps.Values(found) {
		reads.Files = append(reads.Files, *files)
	}
	slices.SortFunc(reads.Files, func(a, b Files) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Format, b.Format), cmp.Compare(a.Compression, b.Compression))
	})
	return reads
}

var compressionNames = map[corpus.Compression]string{corpus.Gzip: "gzip", corpus.Zstd: "zstd"}

// Bytes of rows, with ids of some twenty characters.
const (
	clusterRow = 200
	pairRow    = 150
	removedRow = 130
	sketchRow  = 90
	rejectRow  = 130
	// hashText is a hash in a row of sketches.
	hashText = 16
)

// writesOf says what the outputs of a job with that work take, where sketches have up to the given number of hashes. Outputs are as large as the input is repeated, so most
// of what can be said are bounds.
func writesOf(inputs *documents.Inputs, w *Work, facts *Facts, hashes int) []Write {
	stored := int64(0)
	for i := range inputs.Files {
		if !inputs.Files[i].Reference {
			for _, file := range inputs.Files[i].All() {
				stored += file.Size
			}
		}
	}
	documents := float64(facts.Documents)
	return []Write{
		{output.Clusters, min(2*w.Edges, w.Documents) * clusterRow, true},
		{output.Pairs, w.Edges * pairRow, false},
		{output.Removed, min(w.Edges, documents) * removedRow, true},
		{output.Unique, float64(stored), true},
		{output.Sketches, documents * (sketchRow + min(facts.Shingles, float64(hashes))*hashText), false},
	}
}

// describe tells what the chosen job reads and writes, and what room it has.
func (a *Advice) describe(c *Config, inputs *documents.Inputs) {
	a.Reads = readsOf(inputs)
	if a.Chosen >= 0 {
		a.Writes = writesOf(inputs, a.Choices[a.Chosen].Work, a.Corpus, c.BottomK())
	}
	if c.Temp == "" {
		return
	}
	if free, known := storage.Free(c.Temp); known {
		a.TempFree = &free
	}
}
