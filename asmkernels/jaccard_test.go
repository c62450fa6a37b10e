package asmkernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveIntersect counts by membership.
func naiveIntersect[E comparable](a, b []E) int {
	in := make(map[E]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	common := 0
	for _, x := range b {
		if in[x] {
			common++
		}
	}
	return common
}

// checkIntersect compares Intersect with naiveIntersect for a and b in both
// orders and for every kind of need, on every tier, and so for as much of a and b
// as makes sets of 32-bit numbers.
func checkIntersect(t *testing.T, a, b []uint64) {
	t.Helper()
	checkCounts(t, a, b)
	checkCounts(t, lower(a), lower(b))
}

// lower returns the set of the lower halves of the elements.
func lower(set []uint64) []uint32 {
	var halves []uint32
	for _, x := range set {
		halves = append(halves, uint32(x))
	}
	slices.Sort(halves)
	return slices.Compact(halves)
}

func checkCounts[E uint32 | uint64](t *testing.T, a, b []E) {
	t.Helper()
	want := naiveIntersect(a, b)
	for _, tier := range Tiers() {
		before := SelectTier(tier)
		for _, need := range []int{
			math.MinInt, 0, 1, want - 1, want, want + 1, want + 40, min(len(a), len(b)),
			math.MaxInt,
		} {
			for _, got := range []int{Intersect(a, b, need), Intersect(b, a, need)} {
				if want >= need && got != want {
					t.Fatalf("%v: Intersect(%d and %d elements of %T, need %d) = %d, want %d", tier, len(a), len(b), a,
						need, got, want)
				}
				if want < need && got >= need {
					t.Fatalf("%v: Intersect(%d and %d elements of %T, need %d) = %d, want less than need", tier,
						len(a), len(b), a, need, got)
				}
			}
		}
		SelectTier(before)
	}
}

// randomSet returns size distinct numbers below limit in ascending order.
func randomSet(random *rand.Rand, size int, limit uint64) []uint64 {
	set := make([]uint64, 0, size)
	for len(set) < size {
		for len(set) < size {
			set = append(set, random.Uint64N(limit))
		}
		slices.Sort(set)
		set = slices.Compact(set)
	}
	return set
}

func TestIntersectTable(t *testing.T) {
	const largest = math.MaxUint64
	long := make([]uint64, 1000)
	for i := range long {
		long[i] = uint64(3 * i)
	}
	for _, c := range [][2][]uint64{
		{nil, nil},
		{nil, {1}},
		{{0}, {0}},
		{{largest}, {largest}},
		{{0, largest}, {largest}},
		{{0, 1, 2}, {largest - 1, largest}},
		{{1, 3, 5}, {2, 4, 6}},
		{{1, 2, 3}, {1, 2, 3}},
		{{3}, long},
		{{4}, long},
		{{0, 2997}, long},
		{{0, 5000}, long},
		{{5000, 6000}, long},
		{long, long},
		{long[:500], long[500:]},
		{long[:31], long[:33]},
	} {
		checkIntersect(t, c[0], c[1])
	}
}

func TestIntersectRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		na, nb := random.IntN(200), random.IntN(200)
		if random.IntN(4) == 0 {
			nb *= 40
		}
		limit := uint64(na+nb+1) << random.IntN(4)
		if random.IntN(4) == 0 {
			limit = math.MaxUint64
		}
		checkIntersect(t, randomSet(random, na, limit), randomSet(random, nb, limit))
	}
}

// TestIntersectSteps goes through all ways in which two short sets can lie to
// each other, and the blocks of longer ones.
func TestIntersectSteps(t *testing.T) {
	for bits := range 1 << 12 {
		var a, b []uint64
		for i := range 6 {
			if bits>>i&1 != 0 {
				a = append(a, uint64(i))
			}
			if bits>>(6+i)&1 != 0 {
				b = append(b, uint64(i))
			}
		}
		checkIntersect(t, a, b)
	}
	random := rand.New(rand.NewPCG(19, 20))
	for size := range 80 {
		for other := size % 3; other < 80; other += 3 {
			limit := uint64(max(size, other) + random.IntN(90))
			checkIntersect(t, randomSet(random, size, limit), randomSet(random, other, limit))
		}
	}
}

func TestIntersectAllocatesNothing(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		var a, b [100]uint64
		var fingerprintA, fingerprintB [100]uint32
		for i := range a {
			a[i], b[i] = uint64(2*i), uint64(3*i)
			fingerprintA[i], fingerprintB[i] = uint32(2*i), uint32(3*i)
		}
		if allocations := testing.AllocsPerRun(100, func() {
			if Intersect(a[:], b[:], 0)+Intersect(fingerprintA[:], fingerprintB[:], 0) != 2*34 {
				t.Error("wrong count")
			}
		}); allocations != 0 {
			t.Errorf("%v allocations, want none", allocations)
		}
	})
}

func FuzzIntersect(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{2, 1}, 2)
	f.Add([]byte{0}, make([]byte, 300), 0)
	f.Fuzz(func(t *testing.T, gapsA, gapsB []byte, need int) {
		a, b := ascending(gapsA), ascending(gapsB)
		checkIntersect(t, a, b)
		checkIntersect(t, complements(a), complements(b))
		want := naiveIntersect(a, b)
		if got := Intersect(a, b, need); (got >= need || want >= need) && got != want {
			t.Fatalf("Intersect(%v, %v, %d) = %d, want %d", a, b, need, got, want)
		}
	})
}

// ascending turns the gaps between neighbours into a set.
func ascending(gaps []byte) []uint64 {
	set := make([]uint64, len(gaps))
	next := uint64(0)
	for i, gap := range gaps {
		next += uint64(gap)
		set[i] = next
		next++
	}
	return set
}

// complements returns the set of the largest numbers minus the elements.
func complements(set []uint64) []uint64 {
	complements := make([]uint64, len(set))
	for i, x := range set {
		complements[len(set)-1-i] = ^x
	}
	return complements
}

func TestRequired(t *testing.T) {
	thresholds := []float64{
		-1, 0, math.SmallestNonzeroFloat64, 0.1, 1.0 / 3, 0.5, math.Nextafter(0.5, 1), math.Nextafter(0.7, 0),
		0.7, 0.8, 0.9, math.Nextafter(1, 0), 1, math.Nextafter(1, 2), 2, math.Inf(1), math.Inf(-1), math.NaN(),
	}
	for _, threshold := range thresholds {
		for na := range 60 {
			for nb := range 60 {
				want := 0
				for want <= min(na, nb) && !(float64(want)/float64(na+nb-want) >= threshold) {
					want++
				}
				if got := Required(threshold, na, nb); got != want {
					t.Fatalf("Required(%v, %d, %d) = %d, want %d", threshold, na, nb, got, want)
				}
			}
		}
	}
}

func TestRequiredLarge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		threshold, na, nb := random.Float64(), random.IntN(1<<40), random.IntN(1<<40)
		n := Required(threshold, na, nb)
		reached := func(n int) bool { return float64(n)/float64(na+nb-n) >= threshold }
		if n <= min(na, nb) && !reached(n) || n > 0 && reached(n-1) {
			t.Fatalf("Required(%v, %d, %d) = %d is not the smallest", threshold, na, nb, n)
		}
	}
}

func BenchmarkIntersect(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, size := range []int{20, 120, 1000, 10000} {
			for _, ratio := range []int{1, 8, 24, 100} {
				// Half of the smaller set is common, the case that early
				// abort cannot shorten.
				long := randomSet(random, size*ratio, 1<<48)
				short := append(randomSet(random, size/2, 1<<48), randomSubset(random, long, size/2)...)
				slices.Sort(short)
				short = slices.Compact(short)
				b.Run(fmt.Sprintf("%dx%d", size, size*ratio), func(b *testing.B) {
					for b.Loop() {
						Intersect(short, long, 0)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(short)), "ns/short")
				})
			}
		}
	})
}

// randomSubset returns size elements of set in no order.
func randomSubset(random *rand.Rand, set []uint64, size int) []uint64 {
	subset := make([]uint64, 0, size)
	for _, i := range random.Perm(len(set))[:size] {
		subset = append(subset, set[i])
	}
	return subset
}
