package methods

import (
	"maps"
	"testing"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestExactMissesNone: every pair that reaches the threshold is a candidate.
func TestExactMissesNone(t *testing.T) {
	s := newScene(t)
	m, _ := Of(Exact)
	pairs, edges := s.found(t, s.group(t, m, s.key(t, m)))
	want := s.near(func(x *text) uint64 { return x.digest()[0] }, func(a, b *text) bool {
		return jaccard(a, b) >= s.p.Threshold
	})
	for p := range want {
		if !pairs[p] {
			t.Errorf("%v is missed", p)
		}
	}
	if len(want) < 20 || len(edges) < 20 {
		t.Errorf("%d pairs and %d edges of equal documents tell little", len(want), len(edges))
	}
}

// TestSmallCorpora: an ordered method leaves small corpora to all pairs.
func TestSmallCorpora(t *testing.T) {
	s := newScene(t)
	m, _ := Of(Exact)
	s.p.AllPairsUpTo = int64(len(s.texts))
	small := s.group(t, m, s.key(t, m))
	distinct := map[digest.Digest]bool{}
	for i := range s.texts {
		if x := &s.texts[i]; len(x.shingles) > 0 {
			distinct[x.digest()] = true
		}
	}
	got := 0
	for shard := range s.p.Shards {
		for b := worktest.Read(
			t, records.Distinct, work.RunsOf(small)...,
		)[shard]; len(b) > 0; b = b[records.NodeSize:] {
			got++
		}
	}
	if pairs, _ := s.found(t, small); len(pairs) > 0 || got < len(distinct) {
		t.Errorf("%d pairs, and %d documents of %d to be compared with all others", len(pairs), got, len(distinct))
	}
	s.p.AllPairsUpTo--
	if pairs, _ := s.found(t, s.group(t, m, s.key(t, m))); len(pairs) == 0 {
		t.Error("one document more, and no pair by keys")
	}
}

// TestSimHashFindsDistances: the pairs within the distance are edges where the distance is the score. Otherwise they
// are candidates if their sizes allow the threshold.
func TestSimHashFindsDistances(t *testing.T) {
	s := newScene(t)
	for i := 0; i < len(s.texts); i += 5 {
		// too small for the documents that are near
		s.texts[i].shingles = s.texts[i].shingles[:len(s.texts[i].shingles)/2]
	}
	m, _ := Of(SimHash)
	for _, scoring := range []Scoring{Hamming, Jaccard} {
		s.p.Scoring = scoring
		isNear := func(a, b *text) bool { return distance(a, b) <= s.p.Distance }
		class := func(x *text) uint64 { return x.simHash[0]*3 ^ x.simHash[1] }
		if scoring == Jaccard {
			ofSet := class
			class = func(x *text) uint64 { return ofSet(x) ^ x.digest()[0] }
			isNear = func(a, b *text) bool {
				sizes := float64(min(len(a.shingles), len(b.shingles))) / float64(max(len(a.shingles), len(b.shingles)))
				return distance(a, b) <= s.p.Distance && sizes >= s.p.Threshold
			}
		}
		hasWords := func(x *text) uint64 {
			if len(x.shingles) == 0 {
				return 1 // documents without words are only like each other
			}
			return class(x)
		}
		want := s.near(hasWords, isNear)
		pairs, edges := s.found(t, s.group(t, m, s.key(t, m)))
		for p := range want {
			e, isEdge := edges[p]
			if _, isHamming := e.Hamming(); scoring == Hamming && !(isEdge && isHamming) ||
				scoring == Jaccard && !pairs[p] {
				t.Errorf("%s: %v is missed", scoring, p)
			}
		}
		for p := range pairs {
			if !want[p] {
				t.Errorf("%s: %v are not near", scoring, p)
			}
		}
		if len(want) < 20 || (len(pairs) > 0) != (scoring == Jaccard) {
			t.Errorf("%s: %d pairs are near, %d candidates", scoring, len(want), len(pairs))
		}
		s.p.large = 1
		outcomes := s.group(t, m, s.key(t, m))
		again, edgesAgain := s.found(t, outcomes)
		if s.p.large = 0; !maps.Equal(again, pairs) || !maps.Equal(edgesAgain, edges) {
			t.Errorf("%s: %d candidates and %d edges where identical documents are merged early, %d and %d without",
				scoring, len(again), len(edgesAgain), len(pairs), len(edges))
		}
		further := 0
		for part := range worktest.Read(t, records.EdgeNodes, work.RunsOf(outcomes)...) {
			if part >= groups.MostParts(s.p.Shards) {
				further++
			}
		}
		if further == 0 {
			t.Errorf("%s: no identical document was merged early", scoring)
		}
	}
}

// TestScorers: what scores the pairs of a method follows from its parameters.
func TestScorers(t *testing.T) {
	for _, c := range []struct {
		name Name
		p    Parameters
		want Scorer
	}{
		{Exact, Parameters{Verify: VerifyExact}, Scorer{HasClusters: true, IsExact: true}},
		{MinHash, Parameters{Verify: VerifySketch}, Scorer{HasClusters: true}},
		{MinHash, Parameters{Verify: VerifyNone}, Scorer{HasClusters: true, AcceptsAll: true}},
		{SameWords, Parameters{Verify: VerifyExact}, Scorer{Reads: Nothing, HasClusters: true, IsExact: true}},
		{Passages, Parameters{Verify: VerifyExact}, Scorer{Reads: Texts, IsExact: true}},
		{SimHash, Parameters{Scoring: Jaccard}, Scorer{HasClusters: true, NeedsAll: true}},
		{SimHash, Parameters{Scoring: Hamming, Verify: VerifyExact}, Scorer{
			Reads:       Nothing,
			IsDistance:  true,
			HasClusters: true,
			IsExact:     true,
		}},
	} {
		if m, _ := Of(c.name); m.Scorer(&c.p) != c.want {
			t.Errorf("%s %+v: scorer %+v, want %+v", c.name, c.p, m.Scorer(&c.p), c.want)
		}
	}
}
