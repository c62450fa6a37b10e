// Package leaders finds, among very many sets that are mostly alike, a few that stand
// for the rest: each set is compared with the leaders so far, and becomes one where it
// is like none of them. What stays are sets of which no two are alike.
package leaders

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/numbering"
)

const (
	// mostListed bounds the leaders that are looked for by one element, and mostCompared
	// those that a set is compared with. So the work for a set is bounded, however many
	// leaders there are.
	mostListed   = 64
	mostCompared = 64
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

	least, most int // sizes of those that had no room, 0 if there are none

	sets     [][]uint64
	held     int           // elements of all leaders
	elements numbering.Set // in the prefixes of leaders
	lists    [][]uint32    // the leaders with each element
	seen     []uint32      // how many elements of the set at hand each leader has
	touched  []uint32
}

// New returns an empty index for sets that are alike from the Jaccard similarity threshold
// on. Prefix returns how many of the first elements of a set of
// n, in ascending order, hold one in common with every set that is like it.
func New(threshold float64, prefix func(n int) int) *Index {
	return &Index{threshold: threshold, prefix: prefix}
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
		if len(x.lists[list]) <= mostListed { // one more says that some are missing
			x.lists[list] = append(x.lists[list], number)
		}
	}
	return true
}

// Set returns the set of a leader.
func (x *Index) Set(leader uint32) []uint64 { return x.sets[leader] }

// Candidates returns leaders that may be like a set, those first that share most of
// its first elements. It says whether these are all that may be, of all that were to be
// added. They are valid until the next call.
func (x *Index) Candidates(set []uint64) (candidates []uint32, isComplete bool) {
	x.touched = x.touched[:0]
	isComplete = float64(len(set)) < x.threshold*float64(x.least) || float64(len(set))*x.threshold > float64(x.most)
	for _, element := range set[:x.prefix(len(set))] {
		list, found := x.elements.Find(element)
		if !found {
			continue
		}
		leaders := x.lists[list]
		if len(leaders) > mostListed {
			leaders, isComplete = leaders[:mostListed], false
		}
		for _, leader := range leaders {
			if x.seen[leader] == 0 {
				x.touched = append(x.touched, leader)
			}
			x.seen[leader]++
		}
	}
	slices.SortFunc(x.touched, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(x.seen[b], x.seen[a]), cmp.Compare(a, b))
	})
	for _, leader := range x.touched {
		x.seen[leader] = 0
	}
	if len(x.touched) > mostCompared {
		return x.touched[:mostCompared], false
	}
	return x.touched, isComplete
}
