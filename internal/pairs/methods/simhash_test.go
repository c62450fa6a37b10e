package methods

import (
	"fmt"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestSkippedBySimHash: of a group of too many pairs, those within the bound are edges, and of the others as many as
// hold the documents together, and one of each document with a pivot. The rest is counted, and the documents that
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
	for _, bounds := range []groups.Bounds{{Group: 50}, {Group: 10, Noted: 3}, {}} {
		s.p.Bounds = bounds
		outcomes := s.group(t, m, s.key(t, m))
		_, edges := s.found(t, outcomes)
		var skipped findings.Skipped
		for _, o := range outcomes {
			findings.Merge(&skipped, o.Skipped)
		}
		written := 0 // edges under all keys: a pair meets once
		for _, packed := range worktest.Read(t, records.Edges, work.RunsOf(outcomes)...) {
			written += len(packed) / records.EdgeSize
		}
		if written+int(skipped.Pairs) != len(all) || skipped.Pairs == 0 || skipped.Groups == 0 ||
			skipped.Example == nil {
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

// TestGroupPairs: beyond the bound a document has a pair with a pivot, and further pairs hold the group together.
func TestGroupPairs(t *testing.T) {
	// 0 and 4 lead. 5 is like 3 only, which goes: it leads, too.
	pairs := [][2]int{{1, 2}, {0, 1}, {0, 2}, {2, 3}, {0, 3}, {3, 4}, {3, 5}}
	for _, c := range []struct {
		all      int64
		allNoted bool
		want     string
		skipped  int64
		missing  []uint32
	}{
		{0, false, "[[0 1] [0 2] [0 3] [3 4] [3 5]]", 2, []uint32{0, 1, 2, 1, 0, 0}},
		{2, false, "[[1 2] [0 1] [0 2] [0 3] [3 4] [3 5]]", 1, []uint32{0, 0, 1, 1, 0, 0}},
		{2, true, "[[1 2] [0 1] [0 2] [0 3] [2 3] [3 4] [3 5]]", 0, []uint32{0, 0, 0, 0, 0, 0}},
		{15, false, "[[1 2] [0 1] [0 2] [2 3] [0 3] [3 4] [3 5]]", 0, nil},
	} {
		var g groupPairs
		g.reset(6, c.all, 2)
		var listed [][2]int
		for _, p := range pairs {
			if g.add(p[0], p[1]) {
				listed = append(listed, p)
			}
		}
		g.rest(c.allNoted, func(i, j int) { listed = append(listed, [2]int{i, j}) })
		if got := fmt.Sprint(listed); got != c.want || g.skipped != c.skipped || !slices.Equal(g.missing, c.missing) {
			t.Errorf("%d, %v: %s, skipped %d, by document %v, want %s, %d and %v", c.all, c.allNoted, got, g.skipped,
				g.missing, c.want, c.skipped, c.missing)
		}
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
