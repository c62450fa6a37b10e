package graphs

import (
	"slices"
)

const (
	// fewCompared is the largest number of pivots that a set is compared with if there are very many sets.
	fewCompared = 32
	// comparisons bounds the comparisons of up to manySets sets together. They take about two seconds. Of more sets
	// each gets less by the square of their number: 100,000 sets that are like none take some 5 microseconds each.
	comparisons = 1 << 24
	manySets    = 1 << 15
	// mostElements bounds the elements of all pivots together, at 8 bytes each: with the index they take some 100 MB.
	mostElements = 1 << 22
	// mostSeen is the largest number of shared elements that is told from larger ones.
	mostSeen = 255
	// mostOfOne bounds the elements of one pivot, so that a few large pivots do not take all the room.
	mostOfOne = mostElements / 16
)

// Pivot is the index of a pivot, from 0.
type Pivot uint32

const NoPivot = ^Pivot(0)

// Pivots holds the pivots and finds the pivots that may be like another set. It is an inverted index with the prefix
// filter of set-similarity joins (Chaudhuri, Ganti and Kaushik, A primitive operator for similarity joins in data
// cleaning, 2006). It is not for concurrent use.
type Pivots struct {
	threshold float64
	prefix    func(n int) int
	bound     int // largest number of pivots that are listed for an element, and that a set is compared with

	least, most int // sizes of the sets for which there was no room, 0 if there are none

	sets     [][]uint64          // by pivot
	held     *int                // elements of all pivots, also of indexes next to it
	elements Numbering[uint32]   // in the prefixes of pivots
	lists    [][]Pivot           // pivots with each element, by number of the element
	first    []uint32            // by list: the first list with the same pivots
	full     map[[3]Pivot]uint32 // first lists that are full, by some of their pivots
	times    []int               // by list: number of elements of the current set that have these pivots
	current  []uint32            // lists of the current set
	// number of elements of the current set that each pivot has, or mostSeen if it has more
	seen    []uint8
	touched []Pivot
	chosen  []Pivot
}

// NewPivots returns an empty index for the given number of sets. Two sets are alike if their Jaccard similarity reaches
// the threshold. Prefix returns a number of elements for a set of n. If that many first elements of two sets, in
// ascending order, have none in common, the sets are not alike.
func NewPivots(sets int, threshold float64, prefix func(n int) int) *Pivots {
	bound := comparisons / max(sets, 1)
	if sets > manySets {
		bound = bound * manySets / sets
	}
	return (&Pivots{threshold: threshold, prefix: prefix, bound: max(fewCompared, bound), held: new(int)}).Beside()
}

// Bound returns the largest number of pivots that a set is compared with.
func (x *Pivots) Bound() int { return x.bound }

// Beside returns an empty index like x, for other pivots of the same sets. Both share the room for elements.
func (x *Pivots) Beside() *Pivots {
	return &Pivots{threshold: x.threshold, prefix: x.prefix, bound: x.bound, held: x.held, full: map[[3]Pivot]uint32{}}
}

// Add makes a copy of a set the next pivot. It returns None if there is no room.
func (x *Pivots) Add(set []uint64) Pivot {
	if len(set) > mostOfOne || *x.held+len(set) > mostElements {
		if x.most == 0 {
			x.least = len(set)
		}
		x.least, x.most = min(x.least, len(set)), max(x.most, len(set))
		return NoPivot
	}
	*x.held += len(set)
	pivot := Pivot(len(x.sets))
	x.sets = append(x.sets, slices.Clone(set))
	x.seen = append(x.seen, 0)
	for _, element := range set[:x.prefix(len(set))] {
		list, isNew := x.elements.Add(element)
		if isNew {
			x.lists, x.first, x.times = append(x.lists, nil), append(x.first, list), append(x.times, 0)
		}
		if len(x.lists[list]) <= x.bound { // one more says that some are missing
			if x.lists[list] = append(x.lists[list], pivot); len(x.lists[list]) > x.bound {
				x.join(list)
			}
		}
	}
	return pivot
}

// join finds the first list with the pivots of a list that is full. The elements that all sets of a large family have
// make up to half of the lists the same.
func (x *Pivots) join(list uint32) {
	pivots := x.lists[list]
	key := [3]Pivot{pivots[0], pivots[len(pivots)/2], pivots[len(pivots)-1]}
	first, found := x.full[key]
	if !found {
		x.full[key] = list
	} else if slices.Equal(x.lists[first], pivots) {
		x.first[list], x.lists[list] = first, x.lists[first]
	}
}

// Set returns the set of a pivot.
func (x *Pivots) Set(pivot Pivot) []uint64 { return x.sets[pivot] }

// MayLack reports whether a set of that size may be like one that was to be a pivot, and for which there was no room.
func (x *Pivots) MayLack(size int) bool {
	return float64(size) >= x.threshold*float64(x.least) && float64(size)*x.threshold <= float64(x.most)
}

// Candidates returns pivots that may be like a set. They are complete if no other set that was to be a pivot may be
// like it. If they are not complete, they are the pivots that share most of its first elements. They are valid until
// the next call.
func (x *Pivots) Candidates(set []uint64) (candidates []Pivot, isComplete bool) {
	x.touched, x.current = x.touched[:0], x.current[:0]
	isComplete = !x.MayLack(len(set))
	for _, element := range set[:x.prefix(len(set))] {
		list, found := x.elements.Find(element)
		if !found {
			continue
		}
		if list = x.first[list]; x.times[list] == 0 {
			x.current = append(x.current, list)
		}
		x.times[list]++
	}
	for _, list := range x.current {
		pivots, times := x.lists[list], x.times[list]
		x.times[list] = 0
		if len(pivots) > x.bound {
			pivots, isComplete = pivots[:x.bound], false
		}
		for _, pivot := range pivots {
			seen := x.seen[pivot]
			if seen == 0 {
				x.touched = append(x.touched, pivot)
			}
			x.seen[pivot] = uint8(min(int(seen)+times, mostSeen))
		}
	}
	candidates = x.touched
	if len(candidates) > x.bound {
		candidates, isComplete = x.choose(), false
	}
	for _, pivot := range x.touched {
		x.seen[pivot] = 0
	}
	return candidates, isComplete
}

// choose returns the touched pivots that a set is compared with: those that share most elements with it.
func (x *Pivots) choose() []Pivot {
	var having, other [mostSeen + 1]int // number of pivots by number of shared elements
	for i, pivot := range x.touched {
		// Most numbers are the same, and to count in turn in two places is not to wait.
		if i&1 == 0 {
			having[x.seen[pivot]]++
		} else {
			other[x.seen[pivot]]++
		}
	}
	for i, n := range other {
		having[i] += n
	}
	least, room := uint8(mostSeen), x.bound
	for ; having[least] <= room; least-- {
		room -= having[least]
	}
	x.chosen = x.chosen[:0]
	for _, pivot := range x.touched {
		switch shared := x.seen[pivot]; {
		case shared == least && room > 0:
			room--
		case shared <= least:
			continue
		}
		x.chosen = append(x.chosen, pivot)
	}
	return x.chosen
}
