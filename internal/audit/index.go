package audit

import (
	"math"
	"math/bits"
	"slices"

	"mirrorbeam.dev/internal/graphs"
)

// Index finds the sampled classes whose sets may be similar to another set. It is an inverted index with the
// prefix filter of set-similarity joins (Chaudhuri, Ganti and Kaushik, A primitive operator for similarity
// joins in data cleaning, 2006).
//
// Take a set of n elements. Another set whose Jaccard similarity to it reaches the threshold contains at
// least threshold*n of its elements. Sort the elements of all sets in one common order. Then the two sets
// share an element among the first n - threshold*n + 1 of each, where n is the size of the respective set.
// Here the elements that are rare in the sample come first.
//
// Any number of goroutines may read an Index.
type Index struct {
	threshold float64
	sizes     []int    // of the sets
	filter    []uint64 // a bit for each element, at the place that its lower bits name
	// how many sets have an element, up to 255, at the place that its lower bits name
	counts   []uint8
	elements graphs.Numbering[uint32] // in the prefixes of the sets
	starts   []uint32                 // in members, by number of the element
	members  []SampledClass           // the classes whose sets have each element
}

// NewIndex returns an index of the sets of sampled classes, for a threshold above 0. The elements of each set
// ascend. The index takes some 4 bytes an element, and 32 more for each element in a prefix.
func NewIndex(threshold float64, sets [][]uint64) *Index {
	x := &Index{threshold: threshold, sizes: make([]int, len(sets))}
	total := 0
	for i, set := range sets {
		x.sizes[i] = len(set)
		total += len(set)
	}
	x.count(sets, total)
	x.list(sets)
	return x
}

// count fills in filter and counts. The filter has at least 8 bits an element: it stops most others.
func (x *Index) count(sets [][]uint64, elements int) {
	size := 1 << bits.Len(uint(max(elements, 1<<10)-1))
	x.filter, x.counts = make([]uint64, size/8), make([]uint8, size)
	for _, set := range sets {
		for _, element := range set {
			x.filter[element/64&uint64(len(x.filter)-1)] |= 1 << (element % 64)
			if n := &x.counts[element&uint64(size-1)]; *n < math.MaxUint8 {
				*n++
			}
		}
	}
}

func (x *Index) list(sets [][]uint64) {
	total := 0
	for _, size := range x.sizes {
		total += x.room(size)
	}
	numbers := make([]uint32, 0, total) // of the elements of all prefixes
	ends := make([]int, len(sets))
	p := x.NewProbe()
	for i, set := range sets {
		for _, element := range p.prefix(set) {
			number, _ := x.elements.Add(element)
			numbers = append(numbers, number)
		}
		ends[i] = len(numbers)
	}
	x.starts = make([]uint32, len(x.elements.Keys)+2)
	for _, number := range numbers {
		x.starts[number+2]++
	}
	for i := range x.elements.Keys {
		x.starts[i+2] += x.starts[i+1]
	}
	x.members = make([]SampledClass, len(numbers))
	start := 0
	for i, end := range ends {
		for _, number := range numbers[start:end] {
			x.members[x.starts[number+1]] = SampledClass(i)
			x.starts[number+1]++
		}
		start = end
	}
}

// Probe asks an index. Not for concurrent use.
type Probe struct {
	index   *Index
	known   []uint64 // elements that pass the filter
	first   []uint64 // a prefix
	seen    []bool   // by sampled class: it is found already
	touched []SampledClass
}

// NewProbe returns a Probe of the index.
func (x *Index) NewProbe() *Probe { return &Probe{index: x, seen: make([]bool, len(x.sizes))} }

// filtered returns the elements that the filter knows, but none if the others alone fill the prefix of length room.
func (p *Probe) filtered(set []uint64, room int) []uint64 {
	const step = 16
	p.known = slices.Grow(p.known[:0], len(set)+1)[:len(set)+1]
	filter, n := p.index.filter, 0
	mask := uint64(len(filter) - 1)
	for start := 0; start < len(set); start += step {
		end := min(start+step, len(set))
		for _, element := range set[start:end] {
			// No branch: the processor could not predict it.
			p.known[n] = element
			n += int(filter[element/64&mask] >> (element % 64) & 1)
		}
		if end-n >= room {
			return nil
		}
	}
	return p.known[:n]
}

// room returns the length of the prefix of a set of the given size.
func (x *Index) room(size int) int {
	// Take a little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(x.threshold * float64(size) * (1 - 1e-9)))
	return min(size-least+1, size)
}

// prefix returns the elements of a set that are in its prefix and known to the filter. Each similar set in
// the index has one of them in its own prefix.
func (p *Probe) prefix(set []uint64) []uint64 {
	if len(set) == 0 {
		return nil
	}
	room := p.index.room(len(set))
	known := p.filtered(set, room)
	if len(known) == 0 {
		return nil
	}
	room -= len(set) - len(known)
	counts, mask := p.index.counts, uint64(len(p.index.counts)-1)
	var histogram [math.MaxUint8 + 1]int
	for _, element := range known {
		histogram[counts[element&mask]]++
	}
	// The prefix takes all elements whose count is below the limit. Elements at the limit fill the room that is left.
	limit := 0
	for ; room > histogram[limit]; limit++ {
		room -= histogram[limit]
	}
	p.first = p.first[:0]
	for _, element := range known {
		n := int(counts[element&mask])
		if n == limit {
			room--
		}
		if n < limit || n == limit && room >= 0 {
			p.first = append(p.first, element)
		}
	}
	return p.first
}

// Candidates returns in ascending order the sampled classes whose sets may be similar to a set. It returns
// all similar ones and few others. The slice is valid until the next call.
func (p *Probe) Candidates(set []uint64) []SampledClass {
	x := p.index
	p.touched = p.touched[:0]
	for _, element := range p.prefix(set) {
		number, found := x.elements.Find(element)
		if !found {
			continue
		}
		for _, member := range x.members[x.starts[number]:x.starts[number+1]] {
			if !p.seen[member] {
				p.seen[member] = true
				p.touched = append(p.touched, member)
			}
		}
	}
	for _, member := range p.touched {
		p.seen[member] = false
	}
	p.touched = slices.DeleteFunc(p.touched, func(member SampledClass) bool {
		low, high := min(len(set), x.sizes[member]), max(len(set), x.sizes[member])
		return float64(low)/float64(high) < x.threshold
	})
	slices.Sort(p.touched)
	return p.touched
}
