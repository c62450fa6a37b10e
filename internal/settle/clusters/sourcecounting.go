package clusters

import (
	"context"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/sources"
)

// SourceCounting is the work of the stage source. A task counts the documents of all values whose hashes are in its range. It
// writes the values that most documents have.
type SourceCounting struct{}

// Delivery returns the delivery of its tasks.
func (SourceCounting) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.SourceCounts}}
}

// Task counts the documents of the values of a range.
func (SourceCounting) Task(_ context.Context, _ work.Task, w *work.Desk) error {
	counts, err := w.Read(0, records.SourceCounts)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(counts))
	var found [sources.Corpora]map[uint64]records.SourceCount
	for corpus := range found {
		found[corpus] = map[uint64]records.SourceCount{}
	}
	for len(counts) > 0 {
		var c records.SourceCount
		c, counts = records.NextSourceCount(counts)
		w.Figures.Records++
		c.Documents += found[c.Corpus][c.Hash].Documents
		found[c.Corpus][c.Hash] = c
	}
	for corpus := range sources.Corpora {
		leading := sources.LeadingOf(corpus)
		for hash, c := range found[corpus] {
			leading.Add(sources.Value{Hash: hash, Name: string(c.Name), Documents: c.Documents})
		}
		values, others := leading.Cut()
		w.Outcome.OtherSources[corpus] = others
		for _, v := range values {
			c := records.SourceCount{Hash: v.Hash, Documents: v.Documents, Corpus: corpus, Name: []byte(v.Name)}
			if err := records.WriteSourceCount(&w.Run, records.LeadingSources, 0, c); err != nil {
				return err
			}
		}
	}
	return nil
}
