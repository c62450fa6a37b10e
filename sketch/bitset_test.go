package sketch

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBitSet compares a set with a slice of what is in it, for ranges that begin and end anywhere in a word.
func TestBitSet(t *testing.T) {
	random := rand.New(rand.NewPCG(71, 72))
	for range 300 {
		n := 1 + random.IntN(300)
		var set bitSet
		set.reset(n)
		in := make([]bool, n)
		for range random.IntN(12) {
			begin := random.IntN(n + 1)
			end := begin + random.IntN(n+1-begin)
			isIn := random.IntN(3) > 0
			for i := begin; i < end; i++ {
				in[i] = isIn
			}
			if isIn {
				set.addRange(begin, end)
			} else {
				set.removeRange(begin, end)
			}
		}
		var all []int
		var runs [][2]int
		for i, isIn := range in {
			if set.has(i) != isIn || (set.bit(i) == 1) != isIn {
				t.Fatalf("%d of %d: has %v, bit %d, want %v", i, n, set.has(i), set.bit(i), isIn)
			}
			if !isIn {
				continue
			}
			all = append(all, i)
			if last := len(runs) - 1; last >= 0 && runs[last][1] == i-1 {
				runs[last][1] = i
			} else {
				runs = append(runs, [2]int{i, i})
			}
		}
		if got := slices.Collect(set.all()); !slices.Equal(got, all) {
			t.Fatalf("all are %v, want %v", got, all)
		}
		var got [][2]int
		for first, last := range set.runs() {
			got = append(got, [2]int{first, last})
		}
		if !slices.Equal(got, runs) {
			t.Fatalf("runs are %v, want %v", got, runs)
		}
	}
}
