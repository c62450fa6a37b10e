package graphs

import (
	"math/rand/v2"
	"testing"
)

// TestVotes: frequent hashes are found with about their numbers, whatever comes between them, and others are not.
func TestVotes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, several := range []int{0, 1, 5} {
		var v Votes
		want := map[uint64]int{}
		for range several {
			want[random.Uint64()] = 0
		}
		var frequent []uint64
		for hash := range want {
			frequent = append(frequent, hash)
		}
		const n = 100_000
		for range n {
			hash := random.Uint64()
			if k := random.IntN(100); k < several { // each is a 100th of all
				hash = frequent[k]
				want[hash]++
			}
			v.Add(hash)
		}
		got := v.Frequent()
		for hash, count := range want {
			if got[hash] > count || got[hash] < count-n/200 {
				t.Errorf("%d of %d hashes counted", got[hash], count)
			}
		}
		if len(got) != several {
			t.Errorf("%d frequent hashes, want %d", len(got), several)
		}
	}
	if none := (&Votes{}).Frequent(); len(none) > 0 {
		t.Errorf("%v of nothing", none)
	}
}
