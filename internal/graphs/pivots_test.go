package graphs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const threshold = 0.8

func prefix(n int) int { return min(n-int(math.Ceil(threshold*float64(n)*(1-1e-9)))+1, n) }

func jaccard(a, b []uint64) float64 {
	shared := 0
	for _, element := range a {
		if _, found := slices.BinarySearch(b, element); found {
			shared++
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// lead goes through sets as a job of that many does and returns the pivots, and how many
// sets were not compared with all pivots.
func lead(sets [][]uint64, of int) (pivots [][]uint64, unchecked int) {
	x := NewPivots(of, threshold, prefix)
	for _, set := range sets {
		candidates, isComplete := x.Candidates(set)
		isLike := slices.ContainsFunc(candidates, func(pivot Pivot) bool {
			return jaccard(set, x.Set(pivot)) >= threshold
		})
		if isLike {
			continue
		}
		if !isComplete {
			unchecked++
		}
		x.Add(set)
		pivots = append(pivots, set)
	}
	return pivots, unchecked
}

// variants makes sets that are each a few elements away from one of some bases.
func variants(random *rand.Rand, n, bases, size, changes int) [][]uint64 {
	var base, all [][]uint64
	for range bases {
		var set []uint64
		for range size {
			set = append(set, random.Uint64N(1<<48))
		}
		base = append(base, set)
	}
	for range n {
		set := slices.Clone(base[random.IntN(bases)])
		for range random.IntN(changes + 1) {
			set[random.IntN(size)] = random.Uint64N(1 << 48)
		}
		slices.Sort(set)
		all = append(all, slices.Compact(set))
	}
	return all
}

// TestPivotsAreAll: where few pivots are enough, no two of them are alike and every
// set is like one, as if all had been compared with all pivots.
func TestPivotsAreAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][4]int{
		{1000, 1, 60, 3},
		{1000, 40, 60, 3},
		{1000, 40, 60, 12},
		{300, 300, 20, 2},
		{50, 1, 1, 1},
	} {
		sets := variants(random, shape[0], shape[1], shape[2], shape[3])
		pivots, unchecked := lead(sets, len(sets))
		var want [][]uint64
		for _, set := range sets {
			if !slices.ContainsFunc(want, func(pivot []uint64) bool { return jaccard(set, pivot) >= threshold }) {
				want = append(want, set)
			}
		}
		if unchecked > 0 {
			t.Errorf("%v: %d sets were not compared with all pivots", shape, unchecked)
		}
		if !slices.EqualFunc(pivots, want, slices.Equal[[]uint64]) {
			t.Errorf("%v: %d pivots, want %d", shape, len(pivots), len(want))
		}
	}
}

// TestPivotsSayWhatTheyMiss: where there are more pivots than a set may be compared
// with, those that were not compared with all are counted.
func TestPivotsSayWhatTheyMiss(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var universe []uint64
	for range 60 {
		universe = append(universe, random.Uint64N(1<<48))
	}
	slices.Sort(universe)
	var sets [][]uint64
	for range 700 {
		set := slices.DeleteFunc(slices.Clone(universe), func(uint64) bool { return random.IntN(4) == 0 })
		sets = append(sets, set)
	}
	for _, of := range []int{len(sets), 1 << 30} {
		pivots, unchecked := lead(sets, of)
		alike := 0
		for i, set := range pivots {
			if slices.ContainsFunc(pivots[:i], func(pivot []uint64) bool { return jaccard(set, pivot) >= threshold }) {
				alike++
			}
		}
		if alike > unchecked || (of > len(sets)) != (alike > 0) {
			t.Errorf("of %d: %d of %d pivots are like another one, %d are said to be unchecked", of, alike,
				len(pivots), unchecked)
		}
	}
}

// TestFullIndex: a set that may be like a pivot without room is not said to have been
// compared with all.
func TestFullIndex(t *testing.T) {
	x := NewPivots(1, threshold, prefix)
	next := uint64(0)
	set := func(n int) []uint64 {
		s := make([]uint64, n)
		for i := range s {
			next++
			s[i] = next
		}
		return s
	}
	complete := func(n int) bool {
		_, isComplete := x.Candidates(set(n))
		return isComplete
	}
	if x.Add(set(mostOfOne+1)) != NoPivot {
		t.Fatal("room for more elements of one than there may be")
	}
	if complete(mostOfOne) || complete(2*mostOfOne/10*6) || !complete(100) || !complete(2*mostOfOne) {
		t.Error("a large pivot that had no room may be like a small set, or is not like itself")
	}
	held := 0
	for x.Add(set(mostOfOne)) != NoPivot {
		held += mostOfOne
	}
	if held != mostElements || complete(mostOfOne) || !complete(100) {
		t.Errorf("room for %d elements", held)
	}
	if x.Add(set(100)) != NoPivot || complete(100) || complete(81) || complete(124) {
		t.Error("a set that may be like one that had no room is said to have been compared with all")
	}
}
