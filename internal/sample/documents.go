package sample

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mirrorbeam/internal/docref"
)

// Document is a document of a sample.
type Document struct {
	Ref docref.Ref
	// Digest tells which documents are identical under the measure. It is evenly
	// spread.
	Digest uint64
	// Set is what keys are made of: the distinct shingle hashes, ascending, or a
	// fingerprint.
	Set []uint64
	// Copies is how many documents of the corpus are identical to this one, itself
	// included.
	Copies int
}

// Documents is a sample of documents: those whose digest is below a limit, the
// last of identical ones, which is of the reference only if all are. Any number of
// goroutines may add to it.
type Documents struct {
	capacity int
	shift    atomic.Uint32

	mutex    sync.Mutex
	list     []Document
	place    map[uint64]int // of a digest in the list
	hashes   int            // in the sets
	overlong []uint64       // digests
	isSorted bool
}

// NewDocuments returns an empty sample, of documents with at most that many
// shingles together.
func NewDocuments(capacity int) *Documents {
	return &Documents{capacity: max(capacity, 1), place: map[uint64]int{}}
}

// Wants reports whether a document is in the sample so far. What it does not want
// need not be added.
func (s *Documents) Wants(digest uint64) bool { return isBelow(digest, s.shift.Load()) }

func isBelow(digest uint64, shift uint32) bool { return digest <= math.MaxUint64>>shift }

// Add takes in a copy of a document that Wants wants. One whose set takes more
// than a sixteenth of the capacity is left out and counted.
func (s *Documents) Add(d Document) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.Wants(d.Digest) {
		return
	}
	if len(d.Set) > max(s.capacity/16, 1) {
		s.overlong = append(s.overlong, d.Digest)
		return
	}
	if at, known := s.place[d.Digest]; known {
		s.list[at].Copies++
		s.list[at].Ref = max(s.list[at].Ref, d.Ref)
		s.isSorted = false
		return
	}
	s.isSorted = false
	d.Set, d.Copies = slices.Clone(d.Set), 1
	s.place[d.Digest] = len(s.list)
	s.list = append(s.list, d)
	s.hashes += len(d.Set)
	for s.hashes > s.capacity {
		s.halve()
	}
}

// halve drops half of the documents.
func (s *Documents) halve() {
	s.shift.Add(1)
	s.list = slices.DeleteFunc(s.list, func(d Document) bool {
		if s.Wants(d.Digest) {
			return false
		}
		delete(s.place, d.Digest)
		s.hashes -= len(d.Set)
		return true
	})
	s.index()
}

// index notes where the documents are in the list.
func (s *Documents) index() {
	for i := range s.list {
		s.place[s.list[i].Digest] = i
	}
}

// List returns the sample, ordered by ref, and the share of the corpus that it
// is. Its members must not be changed.
func (s *Documents) List() (documents []Document, share float64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.isSorted {
		slices.SortFunc(s.list, func(a, b Document) int { return cmp.Compare(a.Ref, b.Ref) })
		s.index()
		s.isSorted = true
	}
	return s.list, shareOf(s.shift.Load())
}

// Overlong returns how many documents of the sample were too long for it.
func (s *Documents) Overlong() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	n := 0
	for _, digest := range s.overlong {
		if s.Wants(digest) {
			n++
		}
	}
	return n
}

// shareOf is the share of evenly spread hashes that are below a limit.
func shareOf(shift uint32) float64 { return math.Ldexp(1, -int(shift)) }
