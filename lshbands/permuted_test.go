package lshbands

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// schemes are the schemes that the tests try: one level and more, even and uneven blocks, all lengths of
// fingerprints.
var schemes = []struct {
	bits, distance int
	blocks         []int
}{
	{64, 3, []int{6}},
	{64, 3, []int{4}},
	{64, 3, []int{4, 4}},
	{64, 3, []int{5, 4, 6}},
	{64, 6, []int{8}},
	{64, 0, []int{1}},
	{64, 1, []int{2, 2, 2}},
	{32, 4, []int{5}},
	{32, 2, []int{7}},
	{128, 3, []int{4}},
	{128, 3, []int{4, 4, 4}},
	{128, 5, []int{7, 6}},
	{256, 4, []int{6}},
	{256, 10, []int{11}},
	{1024, 2, []int{5}},
	{1024, 20, []int{21}},
}

func newScheme(t testing.TB, bits, distance int, blocks ...int) *Permuted {
	t.Helper()
	p, err := NewPermuted(bits, distance, blocks...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func forAllSchemes(t *testing.T, test func(t *testing.T, p *Permuted, random *rand.Rand)) {
	for _, s := range schemes {
		t.Run(fmt.Sprintf("%d bits, distance %d, blocks %v", s.bits, s.distance, s.blocks), func(t *testing.T) {
			test(t, newScheme(t, s.bits, s.distance, s.blocks...), rand.New(rand.NewPCG(7, uint64(s.bits))))
		})
	}
}

func randomFingerprint(p *Permuted, random *rand.Rand) []uint64 {
	f := make([]uint64, p.words)
	for i := range f {
		f[i] = random.Uint64()
		if p.bits == 32 {
			f[i] >>= 32
		}
	}
	return f
}

// flipped returns the fingerprint with some bits changed.
func flipped(fingerprint []uint64, flips []int) []uint64 {
	other := slices.Clone(fingerprint)
	for _, bit := range flips {
		other[bit/64] ^= 1 << (bit % 64)
	}
	return other
}

// Six blocks of 11, 11, 11, 11, 10 and 10 bits, with three in the
// prefix: 20 tables; in each, 2^34 documents bring 8, 4 or 2 candidates.
func TestSixBlocksForDistanceThree(t *testing.T) {
	p := newScheme(t, 64, 3, 6)
	if p.Tables() != 20 {
		t.Fatalf("%d tables, want 20", p.Tables())
	}
	tables := map[int]int{}
	for table := range p.Tables() {
		width := p.PrefixBits(table)
		tables[width]++
		want := map[int]float64{31: 8, 32: 4, 33: 2}[width]
		if got := p.ExpectedCandidates(table, 1<<34); got != want {
			t.Errorf("table %d with a prefix of %d bits: %g candidates, want %g", table, width, got, want)
		}
	}
	// Of the four longer blocks and the two shorter ones: 1+2, 2+1 or 3+0.
	if want := map[int]int{31: 4, 32: 12, 33: 4}; fmt.Sprint(tables) != fmt.Sprint(want) {
		t.Errorf("tables by the bits of their prefixes: %v, want %v", tables, want)
	}
	if first, last := p.PrefixBits(0), p.PrefixBits(19); first != 33 || last != 31 {
		t.Errorf("the first blocks have %d bits and the last %d, want 11+11+11 and 11+10+10", first, last)
	}
}

// Four blocks of 16 bits, one in the prefix: 4 tables with 262,144 candidates
// each, about a million comparisons for a query.
func TestFourBlocksForDistanceThree(t *testing.T) {
	checkTables(t, newScheme(t, 64, 3, 4), 4, 16, 1<<34, 262_144)
}

// The same with the other 48 bits cut into four blocks of 12: 16 tables that are
// searched by 28 bits, with 64 candidates each.
func TestFourBlocksCutIntoFour(t *testing.T) {
	checkTables(t, newScheme(t, 64, 3, 4, 4), 16, 28, 1<<34, 64)
}

// Eight blocks for distance 6 and 2^23 documents: 28 tables with 128 candidates
// each, some 3,500 comparisons for a query.
func TestEightBlocksForDistanceSix(t *testing.T) {
	p := newScheme(t, 64, 6, 8)
	checkTables(t, p, 28, 16, 1<<23, 128)
	comparisons := 0.
	for table := range p.Tables() {
		comparisons += p.ExpectedCandidates(table, 1<<23)
	}
	if comparisons != 3584 {
		t.Errorf("%g comparisons for a query, want 3584", comparisons)
	}
}

func checkTables(t *testing.T, p *Permuted, tables, prefixBits int, documents, candidates float64) {
	t.Helper()
	if p.Tables() != tables {
		t.Errorf("%d tables, want %d", p.Tables(), tables)
	}
	for table := range p.Tables() {
		if got := p.PrefixBits(table); got != prefixBits {
			t.Errorf("table %d is searched by %d bits, want %d", table, got, prefixBits)
		}
		if got := p.ExpectedCandidates(table, documents); got != candidates {
			t.Errorf("table %d: %g candidates, want %g", table, got, candidates)
		}
	}
}

// TestPermute compares with the definition: the permuted fingerprint has the
// same bits, the prefix is at its top, and Unpermute is the inverse.
func TestPermute(t *testing.T) {
	forAllSchemes(t, func(t *testing.T, p *Permuted, random *rand.Rand) {
		permuted, back := make([]uint64, p.words), make([]uint64, p.words)
		for table := range p.Tables() {
			fingerprint := randomFingerprint(p, random)
			p.Permute(table, permuted, fingerprint)
			p.Unpermute(table, back, permuted)
			if !slices.Equal(back, fingerprint) {
				t.Fatalf("table %d: Unpermute(Permute(%x)) = %x", table, fingerprint, back)
			}
			if ones(permuted) != ones(fingerprint) {
				t.Fatalf("table %d: %x has not the bits of %x", table, permuted, fingerprint)
			}
			inMask, inPrefix := 0, min(p.PrefixBits(table), 64)
			for i, mask := range p.mask(table) {
				inMask += bits.OnesCount64(fingerprint[i] & mask)
			}
			front := 0
			for i := range p.PrefixBits(table) {
				front += int(permuted[i/64] >> (min(p.bits, 64) - 1 - i%64) & 1)
			}
			if front != inMask {
				t.Fatalf("table %d: %d bits in front, %d in the mask", table, front, inMask)
			}
			want := permuted[0] >> (min(p.bits, 64) - inPrefix)
			if got := p.Prefix(table, fingerprint); p.PrefixBits(table) <= 64 && got != want {
				t.Fatalf("table %d: the prefix of %x is %x, want %x", table, fingerprint, got, want)
			}
		}
	})
}

func ones(words []uint64) (count int) {
	for _, word := range words {
		count += bits.OnesCount64(word)
	}
	return count
}

// TestPairsWithinTheDistanceShareAPrefix holds the guarantee. The differing bits are spread over as many
// blocks as possible, at their borders, close together and anywhere.
func TestPairsWithinTheDistanceShareAPrefix(t *testing.T) {
	forAllSchemes(t, func(t *testing.T, p *Permuted, random *rand.Rand) {
		for trial := range 2000 {
			a := randomFingerprint(p, random)
			b := flipped(a, flips(p, random, trial))
			first := -1
			for table := range p.Tables() {
				same := true
				for i, mask := range p.mask(table) {
					same = same && a[i]&mask == b[i]&mask
				}
				if equal := p.Prefix(table, a) == p.Prefix(table, b); equal != same {
					t.Fatalf("table %d: prefixes of %x and %x are equal: %v, want %v", table, a, b, equal, same)
				}
				if same && first < 0 {
					first = table
				}
			}
			if got := p.FirstCommon(a, b); first < 0 || got != first {
				t.Fatalf("%x and %x, %d bits apart, meet first in table %d, want %d", a, b, p.distance, got, first)
			}
		}
	})
}

// flips returns as many bits as may differ.
func flips(p *Permuted, random *rand.Rand, trial int) []int {
	var flips []int
	for i := range p.distance {
		bit := random.IntN(p.bits)
		switch trial % 4 {
		case 1: // in different blocks
			width := p.bits / p.distance
			bit = i*width + random.IntN(width)
		case 2: // close together
			bit = (trial/4 + i) % p.bits
		case 3: // at the borders of equal blocks, on both sides
			blocks := 1 + random.IntN(p.distance+3)
			bit = max(random.IntN(blocks+1)*p.bits/blocks-random.IntN(2), 0) % p.bits
		}
		flips = append(flips, bit)
	}
	return flips
}

func TestFirstCommonOfStrangers(t *testing.T) {
	p := newScheme(t, 64, 3, 6)
	if got := p.FirstCommon([]uint64{0}, []uint64{^uint64(0)}); got != -1 {
		t.Errorf("FirstCommon of fingerprints without a common bit = %d, want -1", got)
	}
}

func TestNewPermutedSaysWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		bits, distance int
		blocks         []int
		want           string
	}{
		{48, 3, []int{4}, "multiple of 64"},
		{2048, 3, []int{4}, "multiple of 64"},
		{64, -1, []int{4}, "negative"},
		{64, 3, nil, "need a number of blocks"},
		{64, 3, []int{3}, "more than the distance"},
		{64, 3, []int{65}, "at most 64"},
		{64, 3, []int{4, 3}, "level 2"},
		{64, 3, []int{32, 7}, "at most 6"},
		{64, 0, []int{4, 4}, "at most 0"},
		{128, 10, []int{20}, "184756"},
	} {
		if _, err := NewPermuted(c.bits, c.distance, c.blocks...); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("NewPermuted(%d, %d, %v): %v, want an error about %q", c.bits, c.distance, c.blocks, err, c.want)
		}
	}
}

func TestPermutedAllocatesNothing(t *testing.T) {
	p := newScheme(t, 128, 3, 4, 4)
	random := rand.New(rand.NewPCG(1, 1))
	a, b, permuted := randomFingerprint(p, random), randomFingerprint(p, random), make([]uint64, 2)
	allocations := testing.AllocsPerRun(10, func() {
		for table := range p.Tables() {
			permuted[0] += p.Prefix(table, a)
			p.Permute(table, permuted, a)
		}
		p.FirstCommon(a, b)
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func BenchmarkPrefix(b *testing.B) {
	for _, c := range [][]int{{64, 3, 6}, {64, 3, 4, 4}, {64, 6, 8}, {256, 3, 4}} {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			p := newScheme(b, c[0], c[1], c[2:]...)
			fingerprint := randomFingerprint(p, rand.New(rand.NewPCG(1, 1)))
			sum := uint64(0)
			for b.Loop() {
				for table := range p.Tables() {
					sum += p.Prefix(table, fingerprint)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Tables()), "ns/prefix")
		})
	}
}
