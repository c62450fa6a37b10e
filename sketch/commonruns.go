package sketch

import "slices"

// mostRuns bounds the total length of the runs that are found, in multiples of the number of places that are
// searched. Even texts that were made to repeat themselves were seen to have far less.
const mostRuns = 4

// commonRuns finds the longest runs of shingles that two sequences have in common, at places whose shingles
// are frequent. It sorts the suffixes of the runs of such places by prefix doubling (Manber and Myers,
// "Suffix arrays: a new method for on-line string searches", 1993). Then suffixes with long common prefixes
// are neighbours. For n places this takes time in proportion to n log n, whatever repeats in them.
type commonRuns struct {
	a, b *IndexedSequence
	// added are places, first in a, then in b. The low half of each has the number of its shingle.
	added   []uint64
	numbers []uint32 // by place, the number of the shingle plus one; 0 if there is none
	// points are the places in the order of the texts, first in a, then in b. The low half of each has
	// the number of its shingle. All fields below are about points.
	points []uint64
	// left is how many neighbours follow in a row from each point on, including itself.
	left []uint32

	suffixes, ranks []uint32 // suffixes in their order; the rank of each, the same for equal ones
	bySecond        []uint32 // suffixes in the order of their second halves
	newRanks, ends  []uint32
	prefixes        []uint32 // in common with the suffix before it in order
	longest         []run
	covered         []bool
}

// run is the longest common run that begins at a point. Other is where it begins in the other text.
type run struct{ length, other uint32 }

func (r *commonRuns) reset(a, b *IndexedSequence) {
	r.a, r.b, r.added = a, b, r.added[:0]
}

func (r *commonRuns) add(inA, inB []place) {
	number := uint64(len(r.added))
	for _, p := range inA {
		r.added = append(r.added, uint64(p.at)<<32|number)
	}
	for _, p := range inB {
		r.added = append(r.added, uint64(r.a.Len()+int(p.at))<<32|number)
	}
}

// order makes points of the added places that are among the given ones.
func (r *commonRuns) order(inA, inB bitSet) {
	r.numbers = sized(r.numbers, r.a.Len()+r.b.Len())
	clear(r.numbers)
	for _, point := range r.added {
		r.numbers[point>>32] = uint32(point) + 1
	}
	r.points = r.points[:0]
	before := 0
	for _, places := range []bitSet{inA, inB} {
		for at := range places.all() {
			if number := r.numbers[before+at]; number > 0 {
				r.points = append(r.points, uint64(before+at)<<32|uint64(number-1))
			}
		}
		before = r.a.Len()
	}
}

// each calls seed for the common runs of points at the given places, with a place in a and one in b. Longer
// runs come first. Each run is the longest that begins at its point. A point that an earlier run covers in
// its text gets no run of its own. No run is shorter than least.
func (r *commonRuns) each(inA, inB bitSet, least int, seed func(a, b int)) {
	if len(r.added) == 0 {
		return
	}
	r.order(inA, inB)
	r.measure(least)
	n := len(r.points)
	if n == 0 {
		return
	}
	r.sort()
	r.compare()
	r.match()
	for p, m := range r.longest {
		r.bySecond[p], r.ranks[p] = uint32(p), uint32(n)-m.length
	}
	r.sortByRank()
	r.covered = sized(r.covered, n)
	clear(r.covered)
	rest := mostRuns * n
	for _, s := range r.suffixes {
		p, m := int(s), r.longest[s]
		if int(m.length) < least {
			return
		}
		if r.covered[p] {
			continue
		}
		for i := range int(m.length) {
			r.covered[p+i] = true
		}
		other := int(m.other)
		first, second := r.place(min(p, other)), r.place(max(p, other))
		seed(first, second-r.a.Len())
		// The stretch of a seed also reaches back, and this part counts too.
		rest -= int(m.length)
		for p > 0 && other > 0 && r.left[p-1] > 1 && r.left[other-1] > 1 && r.number(p-1) == r.number(other-1) {
			p, other, rest = p-1, other-1, rest-1
		}
		if rest <= 0 {
			return
		}
	}
}

func (r *commonRuns) place(p int) int     { return int(r.points[p] >> 32) }
func (r *commonRuns) number(p int) uint32 { return uint32(r.points[p]) }

// measure notes where runs of neighbours end. It drops runs that are shorter than least.
func (r *commonRuns) measure(least int) {
	r.left = r.left[:0]
	kept := 0
	for p := 0; p < len(r.points); {
		length := 1
		for p+length < len(r.points) && r.neighbours(r.place(p+length-1), r.place(p+length)) {
			length++
		}
		if length >= least {
			copy(r.points[kept:], r.points[p:p+length])
			for left := length; left > 0; left-- {
				r.left = append(r.left, uint32(left))
			}
			kept += length
		}
		p += length
	}
	r.points = r.points[:kept]
}

// neighbours reports whether the shingles at two places are neighbours in one text.
func (r *commonRuns) neighbours(x, y int) bool {
	of := r.a
	if x >= r.a.Len() {
		of, x, y = r.b, x-r.a.Len(), y-r.a.Len()
	}
	return y == x+1 && y < of.Len() && of.Tokens[y] == of.Tokens[x]+1
}

// sort sorts the suffixes. Of equal suffixes, the first in the texts comes first.
func (r *commonRuns) sort() {
	n := len(r.points)
	r.suffixes, r.ranks = sized(r.suffixes, n), sized(r.ranks, n)
	r.bySecond, r.newRanks, r.ends = sized(r.bySecond, n), sized(r.newRanks, n), sized(r.ends, len(r.added)+2)
	for p := range n {
		r.ranks[p], r.bySecond[p] = r.number(p), uint32(p) // numbers are below the number of added places
	}
	r.sortByRank()
	r.ends = r.ends[:n+2]
	ranks := r.rank(n)
	for half := 1; ; half *= 2 {
		// The order of the suffixes is also the order of the second halves that they are.
		second := r.bySecond[:0]
		for p := range n {
			if int(r.left[p]) <= half {
				second = append(second, uint32(p))
			}
		}
		for _, s := range r.suffixes {
			if p := int(s) - half; p >= 0 && int(r.left[p]) > half {
				second = append(second, uint32(p))
			}
		}
		r.sortByRank()
		before := ranks
		if ranks = r.rank(half); ranks == before {
			return
		}
	}
}

// sortByRank fills suffixes with bySecond, sorted stably by rank.
func (r *commonRuns) sortByRank() {
	clear(r.ends)
	for _, rank := range r.ranks {
		r.ends[rank+1]++
	}
	for i := 1; i < len(r.ends); i++ {
		r.ends[i] += r.ends[i-1]
	}
	for _, p := range r.bySecond {
		r.suffixes[r.ends[r.ranks[p]]] = p
		r.ends[r.ranks[p]]++
	}
}

// rank numbers the suffixes. Two suffixes get the same number if they have the same rank and the suffixes
// half further on do too. It returns how many ranks there are.
func (r *commonRuns) rank(half int) (ranks uint32) {
	second := func(p uint32) uint32 {
		if int(r.left[p]) <= half {
			return 0
		}
		return r.ranks[int(p)+half] + 1
	}
	for i, p := range r.suffixes {
		if i > 0 && (r.ranks[p] != r.ranks[r.suffixes[i-1]] || second(p) != second(r.suffixes[i-1])) {
			ranks++
		}
		r.newRanks[p] = ranks
	}
	r.ranks, r.newRanks = r.newRanks, r.ranks
	return ranks + 1
}

// compare finds the prefixes. The prefix of a suffix is at most one shorter than the prefix of the suffix
// that begins one place before (Kasai and others, "Linear-time longest-common-prefix computation in suffix
// arrays", 2001).
func (r *commonRuns) compare() {
	n := len(r.points)
	r.prefixes = sized(r.prefixes, n)
	at := r.newRanks
	for i, p := range r.suffixes {
		at[p] = uint32(i)
	}
	length := uint32(0)
	for p := range uint32(n) {
		if at[p] == 0 {
			r.prefixes[0], length = 0, 0
			continue
		}
		q := r.suffixes[at[p]-1]
		for most := min(r.left[p], r.left[q]); length < most && r.number(int(p+length)) == r.number(int(q+length)); {
			length++
		}
		r.prefixes[at[p]] = length
		length = max(length, 1) - 1
	}
}

// match finds the longest run of each point. It is shared with the nearest suffix of the other text, on one
// side or the other in the order.
func (r *commonRuns) match() {
	n := len(r.points)
	r.longest = sized(r.longest, n)
	clear(r.longest)
	var of [2]run // the last suffix of b, and the last of a
	see := func(p, prefix uint32) {
		for i := range of {
			of[i].length = min(of[i].length, prefix)
		}
		mine, others := 0, 1
		if r.place(int(p)) < r.a.Len() {
			mine, others = 1, 0
		}
		if of[others].length > r.longest[p].length {
			r.longest[p] = of[others]
		}
		of[mine] = run{r.left[p], p}
	}
	for i, p := range r.suffixes {
		see(p, r.prefixes[i])
	}
	of = [2]run{}
	for i := n - 1; i >= 0; i-- {
		prefix := uint32(0)
		if i+1 < n {
			prefix = r.prefixes[i+1]
		}
		see(r.suffixes[i], prefix)
	}
}

// sized returns s with length n. Its content is arbitrary.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
