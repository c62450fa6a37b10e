// Package sample draws the two samples of a corpus from which the number of its
// candidate pairs is estimated: of its keys, and of its documents.
//
// A sample of keys has the complete groups of a share of the key space, so it
// tells what small groups hold, however rare they are. What one large group
// holds, a heap of template pages for instance, it tells only if the group's key
// happens to be in that share; a sample of documents has a part of every large
// group. [Estimator] takes each for what it is good at.
//
// Both are decided by hashes and bounded in size: where a sample grows beyond its
// capacity its share is halved. So they depend on the corpus only, neither on
// the order in which it is read nor on who reads it.
package sample

import (
	"sort"
	"sync"
	"sync/atomic"

	"mirrorbeam/internal/candidates"
)

// Keys is a sample of the keys of all documents: the records below a limit. Any
// number of goroutines may add to it.
type Keys struct {
	capacity int
	shift    atomic.Uint32 // keys below 2^(64-shift) are in the sample

	mutex   sync.Mutex
	records []candidates.Record
}

// NewKeys returns an empty sample of at most that many records of documents that
// are not identical.
func NewKeys(capacity int) *Keys { return &Keys{capacity: max(capacity, 1)} }

// Wants reports whether a key is in the sample so far. Documents of which it wants
// no key need not be added.
func (s *Keys) Wants(key uint64) bool { return isBelow(key, s.shift.Load()) }

// Add takes in those of the records whose keys are in the sample.
func (s *Keys) Add(records []candidates.Record) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i := range records {
		if s.Wants(records[i].Key) {
			s.records = append(s.records, records[i])
		}
	}
	// Twice the capacity, so that the work is done seldom.
	if len(s.records) > 2*s.capacity {
		s.compact()
	}
}

// compact drops identical documents but the last, which is of the reference only if
// all are, and, where too much is left, half of the keys.
func (s *Keys) compact() {
	s.records = candidates.Sort(s.records, make([]candidates.Record, len(s.records)))
	n := 0
	for i, r := range s.records {
		if next := i + 1; next < len(s.records) && s.records[next].Key == r.Key && s.records[next].Digest == r.Digest {
			continue
		}
		s.records[n] = r
		n++
	}
	s.records = s.records[:n]
	for len(s.records) > s.capacity {
		s.shift.Add(1)
		s.records = s.records[:sort.Search(len(s.records), func(i int) bool { return !s.Wants(s.records[i].Key) })]
	}
}

// Records returns the sample, sorted as [candidates.Sort] does, and the share of
// the key space that it holds. Of identical documents it has the last.
func (s *Keys) Records() (records []candidates.Record, share float64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.compact()
	return s.records, shareOf(s.shift.Load())
}
