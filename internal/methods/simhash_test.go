package methods

import (
	"fmt"
	"slices"
	"testing"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
	"mirrorbeam/internal/work/worktest"
)

// TestSkippedBySimHash: of a group of too many pairs, those within the bound are edges, and of the others as many as
// hold the documents together, and one of each document with the first that is like it. The rest is counted, and the documents that
// have such pairs are marked.
func TestSkippedBySimHash(t *testing.T) {
	s := newScene(t)
	m, _ := Of(SimHash)
	s.p.Scoring, s.p.Shards = Hamming, 1
	for i := range s.texts { // no two equal, all within the distance of most others
		s.texts[i].simHash = []uint64{1 << (i % 60), uint64(i) / 60 << 60}
		s.texts[i].shingles = []uint64{uint64(i + 1)}
	}
	s.p.Bounds.Group = 1 << 40
	_, all := s.found(t, s.group(t, m, s.key(t, m)))
	for _, bounds := range []groups.Bounds{{Group: 50}, {Group: 10, Listed: 3}, {}} {
		s.p.Bounds = bounds
		outcomes := s.group(t, m, s.key(t, m))
		_, edges := s.found(t, outcomes)
		var skipped work.Skipped
		for _, o := range outcomes {
			skipped.Add(o.Skipped)
		}
		written := 0 // edges under all keys: a pair meets once
		for _, packed := range worktest.Read(t, records.Edges, work.RunsOf(outcomes)...) {
			written += len(packed) / records.EdgeSize
		}
		if written+int(skipped.Pairs) != len(all) || skipped.Pairs == 0 || skipped.Groups == 0 || skipped.Example == nil {
			t.Errorf("%+v: %d edges, skipped %+v, want %d pairs together", bounds, written, skipped, len(all))
		}
		for p, e := range edges {
			if all[p].Shared != e.Shared {
				t.Errorf("%+v: an edge %v that is none", bounds, p)
			}
		}
		partly := map[docref.Ref]bool{}
		for _, packed := range worktest.Read(t, records.PartlyListed, work.RunsOf(outcomes)...) {
			for ; len(packed) > 0; packed = packed[records.RefSize:] {
				partly[records.GetRef(packed)] = true
			}
		}
		for p := range all {
			if _, listed := edges[p]; !listed && (!partly[p.a] || !partly[p.b]) {
				t.Fatalf("%+v: the pair %v is not listed, and not all of its documents are marked", bounds, p)
			}
		}
		if got, want := componentsOf(edges), componentsOf(all); got != want {
			t.Errorf("%+v: %d components, want %d", bounds, got, want)
		}
	}
}

// TestBeyondBound: of the pairs that do not hold a group together, one of each document is listed: that with the first one.
func TestBeyondBound(t *testing.T) {
	var b beyondBound
	var listed []string
	for _, p := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {1, 3}, {0, 3}, {0, 2}} {
		if b.joins(p[0], p[1], p[0]+p[1], 4) {
			listed = append(listed, fmt.Sprint(p[0], p[1]))
		}
	}
	if b.skipped != 3 {
		t.Errorf("%d pairs are skipped, want 3", b.skipped)
	}
	b.eachFirst(func(i, j, distance int) {
		listed = append(listed, fmt.Sprint(i, j))
		if distance != i+j {
			t.Errorf("the distance of %d and %d is %d", i, j, distance)
		}
	})
	if want := []string{"0 1", "1 2", "2 3", "0 2", "0 3"}; !slices.Equal(listed, want) {
		t.Errorf("listed are %v, want %v", listed, want)
	}
	if want := []uint32{0, 1, 0, 1}; b.skipped != 1 || !slices.Equal(b.missing, want) {
		t.Errorf("%d pairs are skipped, by document %v, want 1 and %v", b.skipped, b.missing, want)
	}
}

// componentsOf returns the number of components of more than one document.
func componentsOf(edges map[pair]records.Score) int {
	least := map[docref.Ref]docref.Ref{}
	for p := range edges {
		least[p.a], least[p.b] = p.a, p.b
	}
	for changed := true; changed; {
		changed = false
		for p := range edges {
			if low := min(least[p.a], least[p.b]); least[p.a] != low || least[p.b] != low {
				least[p.a], least[p.b], changed = low, low, true
			}
		}
	}
	firsts := map[docref.Ref]bool{}
	for _, first := range least {
		firsts[first] = true
	}
	return len(firsts)
}
