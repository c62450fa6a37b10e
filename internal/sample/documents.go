// Package sample draws a sample of the documents of a corpus and estimates from it
// how many candidate pairs keys give the whole, and what these are like.
//
// A document is in the sample if a hash of its text is below a limit, so that equal
// texts are there together. Of pairs the sample has the square of its share. Where it
// grows beyond its capacity its share is halved. So it depends on the corpus only,
// neither on the order in which this is read nor on who reads it.
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
	// Hash decides whether it is in the sample. It is evenly spread, and the same for
	// equal texts.
	Hash uint64
	// Digest tells which documents are identical under the measure.
	Digest uint64
	// Set is what keys are made of: the distinct shingle hashes, ascending, or a
	// fingerprint.
	Set []uint64
	// Copies is how many documents of the sample are identical to this one, itself
	// included, Texts how many different texts these have.
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

// NewDocuments returns an empty sample of documents with at most capacity shingles
// together. It has a share of 1/2^halvings of the corpus at most.
func NewDocuments(capacity int, halvings uint32) *Documents {
	s := &Documents{capacity: max(capacity, 1)}
	s.shift.Store(halvings)
	return s
}

// Wants reports whether a document of that hash is in the sample so far. What it
// does not want need not be added.
func (s *Documents) Wants(hash uint64) bool { return isBelow(hash, s.shift.Load()) }

func isBelow(hash uint64, shift uint32) bool { return hash <= math.MaxUint64>>shift }

// Add takes in a document that Wants wants. One whose set takes more than a
// sixteenth of the capacity is left out and counted.
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

// halve drops half of the documents.
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

// List returns the sample, ordered by ref, and the share of the corpus that it is.
// The last of identical documents, which is of the reference only if all are, stands
// for them. Nothing may be added afterwards.
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
	return s.list, shareOf(s.shift.Load())
}

// Identical returns about how many documents of the corpus are identical to an earlier
// one. Those of equal texts are in the sample together. Of different texts it has some:
// whether they come from small classes or from large ones is told by the pairs of them.
func Identical(documents []Document, share float64) float64 {
	var equal, other, pairs float64
	for i := range documents {
		d := &documents[i]
		texts := float64(d.Texts)
		equal += float64(d.Copies) - texts
		other += texts - 1
		pairs += texts * (texts - 1) / 2
	}
	if other == 0 || share == 1 {
		return equal/share + other
	}
	// The number of texts of a class that gives so many pairs for each text but the
	// first.
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
	return equal/share + other*(low-1)/seen(low)
}

// Overlong returns how many documents of the sample were too long for it.
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

// shareOf is the share of evenly spread hashes that are below a limit.
func shareOf(shift uint32) float64 { return math.Ldexp(1, -int(shift)) }
