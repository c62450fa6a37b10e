package clusters

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
)

// shardOf4 is an output shard of four documents of the given priorities, with edges. The first documents are of a
// reference.
func shardOf4(references int, priorities [4]preference.Priority, edges ...records.Edge[records.Number]) *Shard {
	members := make([]records.Member, 4)
	for i, priority := range priorities {
		members[i] = records.Member{Ref: docref.Ref(10 + i), Priority: priority}
	}
	return shardOf(&documents.Layout{FirstInput: docref.Ref(10 + references)}, members, edges)
}

// edge is an edge between two documents of an output shard.
func edge(a, b records.Number, shared, total uint32) records.Edge[records.Number] {
	return records.Edge[records.Number]{A: a, B: b, Score: records.Score{Shared: shared, Total: total}}
}

// TestPivotsComeFirst: a pivot is kept before documents that come first, so that the documents like it have one to be
// removed for. Documents without a pivot are counted.
func TestPivotsComeFirst(t *testing.T) {
	plain := func(a, b records.Number) records.Edge[records.Number] { return edge(a, b, 9, 10) }
	hotGroup := func(a, b records.Number) records.Edge[records.Number] { return edge(a, b, 9, 10|records.HotGroupMark) }
	even := [4]preference.Priority{5, 5, 5, 5}
	for _, c := range []struct {
		name         string
		shard        *Shard
		want         []records.Number
		withoutPivot int64
	}{
		{"no heap", shardOf4(0, even, plain(0, 1), plain(1, 2)), []records.Number{0, 0, 2, 3}, 0},
		{
			"a pivot and one before it", shardOf4(0, even, plain(0, 1), hotGroup(1, 2), hotGroup(1, 3)),
			[]records.Number{1, 1, 1, 1},
			0,
		},
		{"the first is the pivot", shardOf4(0, even, hotGroup(0, 1), plain(1, 2)), []records.Number{0, 0, 2, 3}, 0},
		{
			"the preferred one is the pivot",
			shardOf4(0, [4]preference.Priority{6, 6, 4, 1}, hotGroup(0, 2), hotGroup(1, 2), plain(2, 3)),
			[]records.Number{2, 2, 2, 2},
			0,
		},
		{
			"two pivots that are alike", shardOf4(0, even, plain(0, 1), hotGroup(0, 2), hotGroup(1, 3)),
			[]records.Number{0, 0, 0, 3},
			1,
		},
		{
			"a pivot goes for a reference",
			shardOf4(1, [4]preference.Priority{0, 5, 5, 5}, plain(0, 1), hotGroup(1, 2), hotGroup(1, 3)),
			[]records.Number{0, 0, 2, 3},
			2,
		},
		{
			"a reference leads",
			shardOf4(2, [4]preference.Priority{0, 0, 2, 1}, hotGroup(0, 2), hotGroup(1, 3), plain(2, 3)),
			[]records.Number{0, 1, 0, 1},
			0,
		},
	} {
		if err := c.shard.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
			t.Fatal(err)
		}
		var got []records.Number
		for i := range c.shard.end() {
			got = append(got, c.shard.choice(i).Kept)
		}
		if !slices.Equal(got, c.want) || c.shard.unchecked() != c.withoutPivot {
			t.Errorf("%s: kept %d, want %d; %d without a pivot, want %d", c.name, got, c.want, c.shard.unchecked(),
				c.withoutPivot)
		}
	}
}

// TestMostSimilar draws shards with identical documents. Each document is removed for the most similar of the kept ones
// that come before it, or is said to be like the most similar one of its cluster, wherever the documents that are
// identical to it are.
func TestMostSimilar(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 1))
	layout, parted := layoutOf(t), 0
	for range 2000 {
		n := records.Number(4 + random.IntN(12))
		members := make([]records.Member, n)
		first := make([]records.Number, n)
		similarity := map[[2]records.Number]float64{}
		var edges []records.Edge[records.Number]
		for i := range n {
			members[i] = records.Member{
				Ref:      at(1, int64(i)),
				Size:     20,
				Priority: preference.Priority(1 + random.IntN(4)),
			}
			if first[i] = i; i > 0 && random.IntN(2) == 0 {
				first[i] = first[random.IntN(int(i))]
				edges = append(edges, edge(first[i], i, 20, 20))
				continue
			}
			for j := range i {
				if first[j] == j && random.IntN(3) == 0 {
					shared := 10 + random.Uint32N(9)
					edges = append(edges, edge(j, i, shared, 20))
					similarity[[2]records.Number{j, i}] = float64(shared) / 20
				}
			}
		}
		near := func(i, j records.Number) float64 {
			if first[i] == first[j] {
				return 1
			}
			return max(similarity[[2]records.Number{first[i], first[j]}],
				similarity[[2]records.Number{first[j], first[i]}])
		}
		s := shardOf(layout, members, edges)
		rule := keep.Rule{
			Split: []keep.Split{keep.Component, keep.Star}[random.IntN(2)],
			Drop:  keep.Drops[random.IntN(2)],
		}
		if err := s.Decide(rule, nil); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !s.goes(i) {
				continue
			}
			most := 0.
			for j := range n {
				isOne := !s.goes(j) && s.prefer(j, i) < 0
				if rule.Drop == keep.Clusters {
					isOne = i != j && s.members.First(i) == s.members.First(j)
				}
				if isOne {
					most = max(most, near(i, j))
				}
			}
			c := s.choice(i)
			if c.Similarity != most || near(i, c.Kept) != most {
				t.Fatalf("%v: document %d has %+v, the most similar one %v; edges %v", rule, i, c, most, edges)
			}
			if s.members.First(i) != s.members.First(first[i]) {
				parted++
			}
		}
	}
	if parted < 50 {
		t.Errorf("only %d documents are in another star than the first one that is identical to them", parted)
	}
}

// TestUncheckedPivots: pivots that are removed are subtracted from what hot groups have counted.
func TestUncheckedPivots(t *testing.T) {
	members := make([]records.Member, 4)
	for i := range members {
		members[i] = records.Member{Ref: at(1, int64(i)), Priority: 1, Unchecked: i != 3} // 3 is equal to another one
	}
	s := shardOf(layoutOf(t), members,
		[]records.Edge[records.Number]{edge(0, 1, 9, 10|records.HotGroupMark), edge(0, 2, 9, 10), edge(1, 3, 9, 9)})
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.unchecked(); got != -2 { // 1 and 2 are removed
		t.Errorf("%d, want -2", got)
	}
}

// TestDecideStops: a decision that nobody wants ends with the error, wherever it is.
func TestDecideStops(t *testing.T) {
	const n = 1 << 18
	members := make([]records.Member, n)
	var edges []records.Edge[records.Number]
	for i := range members {
		members[i] = records.Member{Ref: at(1, int64(i)), Size: 10}
		if i > 0 {
			edges = append(edges, edge(0, records.Number(i), 8, 10))
		}
	}
	fault, all := errors.New("stop"), 0
	if err := shardOf(layoutOf(t), members, edges).Decide(keep.Rule{Split: keep.Component}, func() error {
		all++
		return nil
	}); err != nil || all < 3 {
		t.Fatalf("asked %d times: %v", all, err)
	}
	for _, after := range []int{1, all / 2, all} {
		asked := 0
		err := shardOf(layoutOf(t), members, edges).Decide(keep.Rule{Split: keep.Component}, func() error {
			if asked++; asked >= after {
				return fault
			}
			return nil
		})
		if !errors.Is(err, fault) || asked != after {
			t.Errorf("asked %d times, stopped at %d: %v", asked, after, err)
		}
	}
}
