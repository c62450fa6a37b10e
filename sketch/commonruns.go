package sketch

import (
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// mostRuns bounds the total length of the runs that are found, in multiples of the number of places that are
// searched. Even texts that were made to repeat themselves were seen to have far less.
const mostRuns = 4

// commonRuns finds the longest runs of shingles that two sequences have in common, at places whose shingles
// are frequent. It sorts the suffixes of the runs of such places by prefix doubling (Manber and Myers,
// "Suffix arrays: a new method for on-line string searches", 1993). Then suffixes with long common prefixes
// are neighbours. Equal suffixes are sorted as one, and most are equal to others: their shingles are frequent.
// For n places this takes time in proportion to n log n, whatever repeats in them.
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

	suffixes, inText []uint32 // suffixes in their order, and in the order of the texts
	keys, at         []uint32 // of suffixes: what they are sorted by, and where they are in the order
	prefixes         []uint32 // in common with the suffix before it in order
	longest          []run
	covered          []bool

	tails tails
	ends  []uint32 // of the numbers of each key
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
		r.keys[p] = uint32(n) - m.length
	}
	r.arrange(r.suffixes, r.inText, r.keys, n+1)
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
	r.distinguish()
	ranks := r.rank()
	r.suffixes, r.inText, r.keys = sized(r.suffixes, n), sized(r.inText, n), sized(r.keys, n)
	for p, number := range r.tails.of {
		r.inText[p], r.keys[p] = uint32(p), ranks[number]
	}
	r.arrange(r.suffixes, r.inText, r.keys, len(ranks))
}

// tails are the different suffixes. A tail is known by its first shingle and the tail that is the rest.
type tails struct {
	of      []uint32 // the tail of each suffix
	all     []tail
	buckets []uint32 // of a hash table: the number of a tail plus one, or 0

	order, before  []uint32
	ranks, seconds []uint32 // of the tails, and of their second halves
	rests          []uint32 // the number of the second half plus one; 0 if there is none
}

// tail has the number of the first shingle and the number of the rest plus one, or 0 if nothing is left.
type tail struct{ first, rest uint32 }

// distinguish finds the tail of each suffix. Its rest has a lower number.
func (r *commonRuns) distinguish() {
	n, t := len(r.points), &r.tails
	t.of, t.all = sized(t.of, n), t.all[:0]
	t.buckets = sized(t.buckets, 1<<bits.Len(uint(2*n)))
	clear(t.buckets)
	for p := n - 1; p >= 0; p-- {
		suffix := tail{first: r.number(p)}
		if r.left[p] > 1 {
			suffix.rest = t.of[p+1] + 1
		}
		t.of[p] = t.find(suffix)
	}
}

// find returns the number of a tail, which it adds if it is new.
func (t *tails) find(of tail) uint32 {
	mask := uint64(len(t.buckets) - 1)
	for at := asmkernels.SplitMix(uint64(of.first)<<32|uint64(of.rest)) & mask; ; at = (at + 1) & mask {
		switch known := t.buckets[at]; {
		case known == 0:
			t.all = append(t.all, of)
			t.buckets[at] = uint32(len(t.all))
			return uint32(len(t.all) - 1)
		case t.all[known-1] == of:
			return known - 1
		}
	}
}

// rank returns the rank of each tail in the order of the suffixes.
func (r *commonRuns) rank() []uint32 {
	t := &r.tails
	n := len(t.all)
	t.order, t.before = sized(t.order, n), sized(t.before, n)
	t.ranks, t.seconds, t.rests = sized(t.ranks, n), sized(t.seconds, n), sized(t.rests, n)
	for i, of := range t.all {
		t.before[i], t.ranks[i], t.seconds[i], t.rests[i] = uint32(i), of.first, 0, of.rest
	}
	r.arrange(t.order, t.before, t.ranks, len(r.added))
	// Here the ranks tell apart what differs in the first half. They do in both halves after each round.
	for t.renumber() < n {
		for i, rest := range t.rests {
			t.seconds[i] = 0
			if rest > 0 {
				t.seconds[i] = t.ranks[rest-1] + 1
			}
		}
		r.arrange(t.before, t.order, t.seconds, n+1)
		r.arrange(t.order, t.before, t.ranks, n)
		for i, rest := range slices.Backward(t.rests) {
			if rest > 0 {
				t.rests[i] = t.rests[rest-1] // of a lower tail, which has still the old half
			}
		}
	}
	return t.ranks
}

// renumber ranks the tails by their ranks, then by the ranks of their second halves. It returns how many there are.
func (t *tails) renumber() (ranks int) {
	before := [2]uint32{}
	for i, number := range t.order {
		now := [2]uint32{t.ranks[number], t.seconds[number]}
		if i > 0 && now != before {
			ranks++
		}
		before, t.ranks[number] = now, uint32(ranks)
	}
	return ranks + 1
}

// arrange fills to with the numbers from, sorted by their keys, which are below limit. The sort is stable.
func (r *commonRuns) arrange(to, from, keys []uint32, limit int) {
	r.ends = sized(r.ends, limit+1)
	clear(r.ends)
	for _, number := range from {
		r.ends[keys[number]+1]++
	}
	for i := 1; i < len(r.ends); i++ {
		r.ends[i] += r.ends[i-1]
	}
	for _, number := range from {
		end := &r.ends[keys[number]]
		to[*end] = number
		*end++
	}
}

// compare finds the prefixes. The prefix of a suffix is at most one shorter than the prefix of the suffix that begins
// one place before (Kasai and others, "Linear-time longest-common-prefix computation in suffix arrays", 2001).
func (r *commonRuns) compare() {
	n := len(r.points)
	r.prefixes, r.at = sized(r.prefixes, n), sized(r.at, n)
	at := r.at
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

// match finds the longest run of each point: with the nearest suffix of the other text, on either side in the order.
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

// Run is a run of words, known by its hash of 93 bits. Bits of Hash are evenly spread.
type Run struct {
	Hash  uint64 // 61 bits, mixed
	Check uint32
}

// RunHash hashes runs of words: the hashes of the words are the coefficients of a polynomial, whose values at two
// secret points, modulo a prime number, make the hash of the run. Two different runs of n words have the same value at
// n of 2^61 points at most. So nobody without the seed can make two runs alike whose words have different hashes.
type RunHash struct{ hash, check polynomial }

// polynomial is the value of runs at a point.
type polynomial struct {
	point, last uint64 // last is the point to the power of the length
	length      int
}

const (
	modulus = 1<<61 - 1
	// runPurpose makes the points others than all else that the seed is the key of.
	runPurpose = 0x7061737361676573
)

// NewRunHash returns the hash of a seed. The runs that [RunHash.Each] visits have the length in words, at least 1.
func NewRunHash(seed uint64, length int) RunHash {
	first := asmkernels.SplitMix(seed ^ runPurpose)
	return RunHash{
		newPolynomial(first, length),
		newPolynomial(asmkernels.SplitMix(first+asmkernels.SplitMixStep), length),
	}
}

func newPolynomial(random uint64, length int) polynomial {
	p := polynomial{point: random%(modulus-2) + 2, last: 1, length: length}
	for range length {
		p.last = timesModulo(p.last, p.point)
	}
	return p
}

// timesModulo multiplies two numbers below the modulus.
func timesModulo(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return reduced(low&modulus + (high<<3 | low>>61))
}

// reduced returns a number below twice the modulus, modulo that.
func reduced(a uint64) uint64 {
	if a >= modulus {
		return a - modulus
	}
	return a
}

// with returns the value of a run with one more word behind it.
func (p *polynomial) with(value, word uint64) uint64 {
	return reduced(timesModulo(value, p.point) + word)
}

// without returns the value of a run of one word more than the length, without its first word.
func (p *polynomial) without(value, word uint64) uint64 {
	return reduced(value + modulus - timesModulo(word, p.last))
}

func runOf(hash, check uint64) Run {
	return Run{asmkernels.SplitMix(hash), uint32(asmkernels.SplitMix(check))}
}

// Of returns one run, however many words it has, given their hashes of 48 bits. It is another one than [RunHash.Each]
// gives the same words.
func (h *RunHash) Of(words []uint64) Run {
	hash, check := uint64(1), uint64(1) // so other numbers of words are other polynomials
	for _, word := range words {
		hash, check = h.hash.with(hash, word), h.check.with(check, word)
	}
	return runOf(hash, check)
}

// Each visits all runs of the length among words, by their first words, given the hashes of these of 48 bits. It ends
// with the first error.
func (h *RunHash) Each(words []uint64, visit func(first int64, run Run) error) error {
	hash, check, length := uint64(0), uint64(0), h.hash.length
	for i, word := range words {
		hash, check = h.hash.with(hash, word), h.check.with(check, word)
		if i >= length {
			hash, check = h.hash.without(hash, words[i-length]), h.check.without(check, words[i-length])
		}
		if first := i + 1 - length; first >= 0 {
			if err := visit(int64(first), runOf(hash, check)); err != nil {
				return err
			}
		}
	}
	return nil
}
