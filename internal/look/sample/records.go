package sample

import (
	"math"
	"slices"

	"mirrorbeam/internal/carry/candidates"
)

// Memory is what an estimate works in. One estimate after another may use it, but not two at a time.
type Memory struct {
	records, scratch []candidates.Record
}

// thinned is a sample of documents that is thinned out to what an estimate can take in.
type thinned struct {
	documents []Document
	share     float64
	keys      float64             // mean number of keys of a document of the corpus
	records   []candidates.Record // sorted; Mark is the number of the document plus 1
}

// firstDocuments is how many documents show how many records there will be.
const firstDocuments = 64

// thin takes the largest part of a sample that has at most MostRecords records, halving it as often as
// needed. It is given all documents of the sample.
func (e *Estimator) thin(documents []Document, share float64, m *Memory) thinned {
	t := thinned{documents: documents, share: share}
	if few := documents[:min(firstDocuments, len(documents))]; len(few) < len(documents) {
		e.addRecords(&thinned{documents: few}, math.MaxInt, m)
		for len(m.records)/len(few)*len(t.documents) > e.MostRecords {
			t.halve()
		}
		// Room for all at once: small samples need little of it, and large ones are not moved.
		room := (len(m.records)/len(few) + 1) * len(t.documents)
		m.records = slices.Grow(m.records[:0], min(room, e.MostRecords))
	}
	for !e.addRecords(&t, e.MostRecords, m) {
		t.halve()
	}
	m.scratch = slices.Grow(m.scratch[:0], len(m.records))[:len(m.records)]
	t.records = candidates.Sort(m.records, m.scratch)
	return t
}

// addRecords makes the records of the documents. It returns false if there are more than most.
func (e *Estimator) addRecords(t *thinned, most int, m *Memory) bool {
	m.records = m.records[:0]
	keys, copies := 0, 0
	for i := range t.documents {
		d := &t.documents[i]
		start := len(m.records)
		m.records = e.AppendRecords(m.records, d)
		for j := start; j < len(m.records); j++ {
			m.records[j].Mark = uint32(i) + 1
		}
		keys += (len(m.records) - start) * d.Copies
		copies += d.Copies
		if len(m.records) > most && len(t.documents) > 1 {
			return false
		}
	}
	t.keys = float64(keys) / float64(max(copies, 1))
	return true
}

// halve drops half of the documents.
func (t *thinned) halve() {
	t.share /= 2
	limit := uint64(t.share * math.MaxInt64 * 2)
	t.documents = slices.DeleteFunc(slices.Clone(t.documents), func(d Document) bool { return d.Hash > limit })
}

// groups yields the groups of two or more records that have one key.
func groups(records []candidates.Record) func(yield func([]candidates.Record) bool) {
	return func(yield func([]candidates.Record) bool) {
		for start := 0; start < len(records); {
			end := start + 1
			for end < len(records) && records[end].Key == records[start].Key {
				end++
			}
			if end-start > 1 && !yield(records[start:end]) {
				return
			}
			start = end
		}
	}
}
