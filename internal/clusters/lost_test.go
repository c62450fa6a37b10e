package clusters

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
)

// TestLost compares what is lost with a count of the sets, and documents that go only if they are contained with the
// share of them that is in the one that stays.
func TestLost(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	removed, spared := 0, 0
	for trial := range 300 {
		sets := make([]map[int]bool, 2+random.IntN(8))
		members := make([]records.Member, len(sets))
		for i := range sets {
			sets[i] = map[int]bool{}
			for shingle := range 12 {
				if random.IntN(5) > 0 {
					sets[i][shingle] = true
				}
			}
			sets[i][0] = true
			members[i] = records.Member{Ref: docref.Ref(10 + i), Size: uint32(len(sets[i])), Id: fmt.Sprint("d", i)}
		}
		var edges []records.Edge[records.Number]
		for a := range sets {
			for b := a + 1; b < len(sets); b++ {
				shared := len(sets[a]) - missing(sets[a], sets[b])
				if union := len(sets[a]) + len(sets[b]) - shared; 2*shared >= union {
					edges = append(edges,
						edge(records.Number(a), records.Number(b), uint32(shared), uint32(union)))
				}
			}
		}
		rule := keep.Rule{Split: keep.Component, Contained: []float64{0, 0.9, 1}[trial%3]}
		s := shardOf(&documents.Layout{}, members, edges)
		if err := s.Decide(rule, nil); err != nil {
			t.Fatal(err)
		}
		var found findings.Findings
		s.AddLost(&found)
		var want, got findings.Lost
		for i := range s.end() {
			kept := s.choice(i).Kept
			if kept == i {
				continue
			}
			lost := missing(sets[i], sets[kept])
			if float64(len(sets[i])-lost) < rule.Contained*float64(len(sets[i])) {
				t.Errorf("%d goes for %d, which lacks %d of its %d shingles", i, kept, lost, len(sets[i]))
			}
			removed++
			want.Of += int64(len(sets[i]))
			want.Shingles += int64(lost)
			if lost > 0 {
				want.Documents++
				text := findings.LostText{Removed: s.name(i), Kept: s.name(kept), Shingles: int64(lost)}
				text.Of = int64(len(sets[i]))
				if want.Worst.Of == 0 || text.Compare(want.Worst) < 0 {
					want.Worst = text
				}
			}
		}
		if found.Lost != nil {
			got = *found.Lost
		}
		if got != want || found.Sources.Lost.Of(0) != want.Shingles || found.Sources.LostOf.Of(0) != want.Of {
			t.Errorf("%v: lost %+v of %+v, want %+v", rule, got, found.Sources, want)
		}
		if rule.Contained == 1 && len(edges) > 0 && found.Lost == nil {
			spared++
		}
	}
	if removed < 100 || spared == 0 {
		t.Errorf("%d removed, %d shards without a contained document", removed, spared)
	}
}

// missing returns how many elements of a set another one lacks.
func missing(a, b map[int]bool) (n int) {
	for element := range a {
		if !b[element] {
			n++
		}
	}
	return n
}
