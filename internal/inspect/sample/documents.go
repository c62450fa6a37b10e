// Package sample draws a sample of the documents of a corpus. From the sample it estimates how many candidate pairs the
// keys give for the whole corpus, and what these pairs are like.
//
// A document is in the sample if a hash of its text is below a limit. So equal texts are in the sample together. If the
// sample holds a share s of the documents, it holds a share s*s of the pairs. When the sample outgrows its capacity,
// its share is halved. So it depends on the corpus only, not on the order of reading nor on the readers.
package sample

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/docref"
)

// Document is a document of a sample.
type Document struct {
	Ref docref.Ref
	// Hash decides whether the document is in the sample. It is evenly spread, and the same for equal texts.
	Hash uint64
	// Digest is the same for documents that are identical under the measure.
	Digest uint64
	// Length is the length of the text in bytes.
	Length int64
	// Set is what keys are made of: the distinct shingle hashes in ascending order, or a fingerprint.
	Set []uint64
	// Copies is how many documents of the sample are identical to this one, including itself. Texts is how many
	// different texts these documents have.
	Copies, Texts int
}

// Documents is a sample of documents. Any number of goroutines may add to it.
type Documents struct {
	capacity int
	shift    atomic.Uint32 // hashes of at most 2^(64-shift) are in the sample

	mutex    sync.Mutex
	list     []Document
	hashes   int      // in the sets
	overlong []uint64 // hashes
}

// NewDocuments returns an empty sample. The documents in it will have at most capacity shingles together. Its share of
// the corpus is at most 1/2^halvings.
func NewDocuments(capacity int, halvings uint32) *Documents {
	s := &Documents{capacity: max(capacity, 1)}
	s.shift.Store(halvings)
	return s
}

// Wants reports whether a document of the given hash is in the sample so far. Any other document need not be added.
func (s *Documents) Wants(hash uint64) bool { return hash <= math.MaxUint64>>s.shift.Load() }

// Add takes in a wanted document. One whose set takes over a sixteenth of the capacity is left out and counted.
func (s *Documents) Add(d Document) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.Wants(d.Hash) {
		return
	}
	if len(d.Set) > max(s.capacity/16, 1) {
		s.overlong = append(s.overlong, d.Hash)
		return
	}
	d.Set, d.Copies, d.Texts = slices.Clone(d.Set), 1, 1
	s.list = append(s.list, d)
	s.hashes += len(d.Set)
	for s.hashes > s.capacity {
		s.halve()
	}
}

func (s *Documents) halve() {
	s.shift.Add(1)
	s.list = slices.DeleteFunc(s.list, func(d Document) bool {
		if s.Wants(d.Hash) {
			return false
		}
		s.hashes -= len(d.Set)
		return true
	})
}

// List returns the sample, ordered by ref, and its share of the corpus. The last of identical documents stands for all
// of them. So a document of the reference stands for them only if all are of the reference. Nothing may be added
// afterwards.
func (s *Documents) List() (documents []Document, share float64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	slices.SortFunc(s.list, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Hash, b.Hash))
	})
	n, hash := 0, uint64(0)
	for _, d := range s.list {
		if n == 0 || s.list[n-1].Digest != d.Digest {
			s.list[n] = d
			n++
		} else {
			last := &s.list[n-1]
			last.Copies += d.Copies
			if d.Hash != hash {
				last.Texts++
			}
			last.Ref = max(last.Ref, d.Ref)
		}
		hash = d.Hash
	}
	s.list = s.list[:n]
	slices.SortFunc(s.list, func(a, b Document) int { return cmp.Compare(a.Ref, b.Ref) })
	return s.list, math.Ldexp(1, -int(s.shift.Load()))
}

// Identical estimates how many documents of the corpus are identical to an earlier one: equal have a text that an
// earlier document has, others have a text of their own. Documents with equal texts are in the sample together. Of
// identical documents with different texts, the sample holds only some. The number of pairs among them shows whether
// they come from small classes or from large ones.
func Identical(documents []Document, share float64) (equal, others float64) {
	var other, pairs float64
	for i := range documents {
		d := &documents[i]
		texts := float64(d.Texts)
		equal += float64(d.Copies) - texts
		other += texts - 1
		pairs += texts * (texts - 1) / 2
	}
	if other == 0 || share == 1 {
		return equal / share, other
	}
	// The larger the classes, the more pairs the sample has for each text but the first. The search below finds the
	// size of class that gives the pairs seen. Function seen returns how many texts but the first the sample is
	// expected to hold of a class of the given size.
	seen := func(texts float64) float64 { return texts*share - 1 + math.Pow(1-share, texts) }
	low, high := 2., 1e9
	for high/low > 1.001 {
		texts := math.Sqrt(low * high)
		if texts*(texts-1)/2*share*share/seen(texts) < pairs/other {
			low = texts
		} else {
			high = texts
		}
	}
	return equal / share, other * (low - 1) / seen(low)
}

// Overlong returns how many documents of the sample were left out because they were too long.
func (s *Documents) Overlong() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	n := 0
	for _, hash := range s.overlong {
		if s.Wants(hash) {
			n++
		}
	}
	return n
}

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

const firstDocuments = 64

// thin takes the largest part of a sample that has at most MostRecords records, halving it as often as needed. It is
// given all documents of the sample.
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
