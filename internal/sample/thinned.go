package sample

import (
	"math/bits"
	"slices"

	"mirrorbeam/internal/candidates"
)

// partRecords bounds the memory of an estimate, mostRecords its time.
const (
	partRecords = 1 << 18
	mostRecords = 1 << 21
)

// thinned is a sample of documents, thinned out to what an estimate can take in.
type thinned struct {
	documents     []Document
	shift         uint32 // of those that are in
	share         float64
	keys          float64  // mean number of a document
	hashes        []uint32 // of all keys, see isFirst
	starts        []int    // of a document's in hashes
	parts         int      // of the key space, that are gone through one after the other
	appendRecords func(records []candidates.Record, d *Document) []candidates.Record
	records       []candidates.Record
	scratch       []candidates.Record
}

// thin takes as large a part of a sample as has at most mostRecords keys.
func (e *Estimator) thin(documents *Documents) thinned {
	list, _ := documents.List()
	t := thinned{documents: list, shift: documents.shift.Load(), appendRecords: e.AppendRecords}
	for ; ; t.shift++ {
		keys, copies := 0, 0
		t.hashes, t.starts = t.hashes[:0], t.starts[:0]
		for i := range list {
			t.starts = append(t.starts, len(t.hashes))
			if !isBelow(list[i].Digest, t.shift) || len(t.hashes) > mostRecords {
				continue
			}
			t.records = e.AppendRecords(t.records[:0], &list[i])
			for j := range t.records {
				t.hashes = append(t.hashes, candidates.PreviousOf(t.records[j].Key))
			}
			keys += len(t.records) * list[i].Copies
			copies += list[i].Copies
		}
		if len(t.hashes) <= mostRecords {
			t.share, t.parts, t.keys = shareOf(t.shift), len(t.hashes)/partRecords+1, float64(keys)/float64(max(copies, 1))
			return t
		}
	}
}

// halve drops half of the documents.
func (t *thinned) halve() {
	t.shift++
	t.share /= 2
}

// isFirst reports whether two records are of the first key that their documents
// have in common, for keys that are in common only if they are the same ones in the
// order of both.
func (t *thinned) isFirst(a, b *candidates.Record) bool {
	ofA, ofB := t.hashes[t.starts[a.Mark-1]:], t.hashes[t.starts[b.Mark-1]:]
	for i := range a.Position {
		if ofA[i] == ofB[i] {
			return false
		}
	}
	return true
}

// groups gives the groups of two or more, which may be changed. The Mark of a
// record is the number of the document plus 1.
func (t *thinned) groups(yield func([]candidates.Record) bool) {
	for part := range t.parts {
		t.records = t.records[:0]
		for i := range t.documents {
			d := &t.documents[i]
			if !isBelow(d.Digest, t.shift) {
				continue
			}
			start := len(t.records)
			t.records = t.appendRecords(t.records, d)
			wanted := start
			for j := start; j < len(t.records); j++ {
				if high, _ := bits.Mul64(t.records[j].Key, uint64(t.parts)); int(high) == part {
					t.records[wanted] = t.records[j]
					t.records[wanted].Mark = uint32(i) + 1
					wanted++
				}
			}
			t.records = t.records[:wanted]
		}
		t.scratch = slices.Grow(t.scratch[:0], len(t.records))[:len(t.records)]
		sorted := candidates.Sort(t.records, t.scratch)
		for group := range groups(sorted) {
			if !yield(group) {
				return
			}
		}
	}
}

// groups gives the groups of two or more.
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
