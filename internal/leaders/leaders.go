// Package leaders finds, among very many sets that are mostly alike, a few that stand
// for the rest: each set is compared with the leaders so far, and becomes one where it
// is like none of them. What stays are sets of which no two are alike.
package leaders

import (
	"slices"

	"mirrorbeam/internal/numbering"
)

const (
	// fewCompared is how many leaders a set is compared with at most where there are very
	// many sets. Where there are fewer it is compared with more, up to some comparisons
	// for all sets together, which take about a second. So the work is bounded, however
	// many leaders there are.
	fewCompared = 64
	comparisons = 1 << 24
	// mostElements bounds the elements of all leaders together, of 8 bytes each, and
	// with them the index: some 100 MB in all.
	mostElements = 1 << 22
	// mostOfOne bounds those of one leader, so that a few large ones do not take all the
	// room.
	mostOfOne = mostElements / 16
)

// Index holds the leaders and finds those that may be like another set: an inverted
// index with the prefix filter of set-similarity joins (Chaudhuri, Ganti and Kaushik,
// A primitive operator for similarity joins in data cleaning, 2006). Not for concurrent
// use.
type Index struct {
	threshold float64
	prefix    func(n int) int
	bound     int // leaders that are listed for an element, and that a set is compared with

	least, most int // sizes of those that had no room, 0 if there are none

	sets     [][]uint64
	held     int           // elements of all leaders
	elements numbering.Set // in the prefixes of leaders
	lists    [][]uint32    // the leaders with each element
	seen     []uint32      // how many elements of the set at hand each leader has
	touched  []uint32
	chosen   []uint32
}

// New returns an empty index for that many sets, which are alike from the Jaccard
// similarity threshold on. Prefix returns how many of the first elements of a set of n,
// in ascending order, hold one in common with every set that is like it.
func New(sets int, threshold float64, prefix func(n int) int) *Index {
	return &Index{threshold: threshold, prefix: prefix, bound: max(fewCompared, comparisons/max(sets, 1))}
}

// Add makes a copy of a set a leader, whose number is the count of those before. It
// returns false where there is no room for it.
func (x *Index) Add(set []uint64) bool {
	if len(set) > mostOfOne || x.held+len(set) > mostElements {
		if x.most == 0 {
			x.least = len(set)
		}
		x.least, x.most = min(x.least, len(set)), max(x.most, len(set))
		return false
	}
	x.held += len(set)
	number := uint32(len(x.sets))
	x.sets = append(x.sets, slices.Clone(set))
	x.seen = append(x.seen, 0)
	for _, element := range set[:x.prefix(len(set))] {
		list, isNew := x.elements.Add(element)
		if isNew {
			x.lists = append(x.lists, nil)
		}
		if len(x.lists[list]) <= x.bound { // one more says that some are missing
			x.lists[list] = append(x.lists[list], number)
		}
	}
	return true
}

// Set returns the set of a leader.
func (x *Index) Set(leader uint32) []uint64 { return x.sets[leader] }

// Candidates returns leaders that may be like a set. It says whether these are all that
// may be, of all that were to be added; if not, they are those that share most of its
// first elements. They are valid until the next call.
func (x *Index) Candidates(set []uint64) (candidates []uint32, isComplete bool) {
	x.touched = x.touched[:0]
	isComplete = float64(len(set)) < x.threshold*float64(x.least) || float64(len(set))*x.threshold > float64(x.most)
	for _, element := range set[:x.prefix(len(set))] {
		list, found := x.elements.Find(element)
		if !found {
			continue
		}
		leaders := x.lists[list]
		if len(leaders) > x.bound {
			leaders, isComplete = leaders[:x.bound], false
		}
		for _, leader := range leaders {
			if x.seen[leader] == 0 {
				x.touched = append(x.touched, leader)
			}
			x.seen[leader]++
		}
	}
	candidates = x.touched
	if len(candidates) > x.bound {
		candidates, isComplete = x.choose(), false
	}
	for _, leader := range x.touched {
		x.seen[leader] = 0
	}
	return candidates, isComplete
}

// choose returns as many of the leaders that were touched as a set is compared with:
// those that share most elements with it.
func (x *Index) choose() []uint32 {
	var having [256]int // how many leaders share so many elements, or more at the end
	for _, leader := range x.touched {
		having[min(x.seen[leader], 255)]++
	}
	least, room := uint32(255), x.bound
	for ; having[least] <= room; least-- {
		room -= having[least]
	}
	x.chosen = x.chosen[:0]
	for _, leader := range x.touched {
		switch shared := min(x.seen[leader], 255); {
		case shared == least && room > 0:
			room--
		case shared <= least:
			continue
		}
		x.chosen = append(x.chosen, leader)
	}
	return x.chosen
}
