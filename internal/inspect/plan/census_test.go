package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
)

// TestHalvings: a small corpus is fingerprinted in full. Of a larger one at most a sixth is, up to a bound.
func TestHalvings(t *testing.T) {
	for size := int64(1); size < 1<<50; size = size*3/2 + 1 {
		sampled := float64(size) / float64(int64(1)<<halvings(size))
		if want := min(max(float64(size)*sampledShare, wholeBytes), mostBytes); sampled > want*1.01 ||
			sampled < min(want/2.1, float64(size)) {
			t.Errorf("of %d bytes %.0f are fingerprinted, want %.0f at most", size, sampled, want)
		}
	}
}

// TestAllPairsAreCounted: counting by lengths gives the same as comparing each document with all others.
func TestAllPairsAreCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	for range 100 {
		all := make([]length, 1+random.IntN(50))
		for i := range all {
			all[i] = length{int64(1 + random.IntN(30)), random.IntN(4) == 0}
		}
		threshold := 0.05 + random.Float64()*0.95
		candidates := 0.
		for i, a := range all {
			for _, b := range all[:i] {
				if low, high := float64(min(a.length, b.length)),
					float64(max(a.length, b.length)); low/high >= threshold && !(a.isReference && b.isReference) {
					candidates++
				}
			}
		}
		if got := pairsOf(all, threshold); got.Candidates != candidates {
			t.Fatalf("%v at %g: %g pairs, want %g", all, threshold, got.Candidates, candidates)
		}
	}
}

// TestFrequentTexts: copies of a text that very many documents have are counted, whether the text is in the sample or
// not.
func TestFrequentTexts(t *testing.T) {
	for name, frequent := range map[string]uint64{"in the sample": 3, "not in the sample": math.MaxUint64 - 3} {
		random := rand.New(rand.NewPCG(1, 2))
		c := newCensus(1<<24, 1<<30)
		const n = 1 << 17
		copies := 0
		for i := range n {
			hash := random.Uint64()
			if i%3 == 0 {
				hash = frequent
				copies++
			}
			c.addTexts([]text{{hash: hash}})
			if c.documents.Wants(hash) {
				c.sampled.Add(1)
				c.documents.Add(sample.Document{Ref: docref.Ref(i), Hash: hash, Digest: hash, Set: []uint64{hash}})
			}
		}
		facts := c.facts(findings.Counts{Documents: n})
		if facts.DocumentShare == 1 || facts.Identical < .98*float64(copies) || facts.Identical > float64(copies) {
			t.Errorf("%s: %g identical documents of %d, of a share of %g", name, facts.Identical, copies,
				facts.DocumentShare)
		}
	}
}
