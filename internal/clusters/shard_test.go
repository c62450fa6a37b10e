package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// shardContent is what a shard is read from.
type shardContent struct {
	members []records.Member
	edges   []records.Edge[records.Number]
	spans   []records.Span[records.Number]
}

// shardOf returns a shard of documents and their sorted edges.
func shardOf(layout *documents.Layout, members []records.Member, edges []records.Edge[records.Number]) *Shard {
	return storedShard(new(paged.Store), layout, members, edges)
}

// storedShard is shardOf with lists in a store.
func storedShard(store *paged.Store, layout *documents.Layout, members []records.Member,
	edges []records.Edge[records.Number],
) *Shard {
	s, err := newShard(layout, records.NewMemberList(store, members), store, listed(edges), variants.Warn)
	if err != nil {
		panic(err)
	}
	return s
}

// readsShard returns a task that reads a shard and compares what it has read.
func readsShard(t *testing.T, want shardContent) func(context.Context, work.Task, *work.TaskContext) error {
	return func(_ context.Context, task work.Task, w *work.TaskContext) error {
		s, err := ReadShard(layoutOf(t), w, 0, variants.Warn)
		if err != nil {
			return err
		}
		defer s.Close()
		got := shardContent{edges: slices.Collect(s.withDuplicates(s.edges)), spans: s.spans}
		for i := range s.end() {
			ranked := s.members.Ranked(i)
			got.members = append(got.members, records.Member{
				First:     s.members.First(i),
				Size:      s.members.Size(i),
				Ref:       ranked.Ref,
				Priority:  ranked.Priority,
				Id:        s.members.ID(i),
				Repeated:  s.members.Repeated(i),
				Unchecked: s.members.Unchecked(i),
			})
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("read %+v, want %+v", got, want)
		}
		if w.Figures.Records != int64(len(got.members)+len(got.edges)) {
			return fmt.Errorf("%d records", w.Figures.Records)
		}
		return nil
	}
}

// layoutOf returns the layout of threeFiles.
func layoutOf(t testing.TB) *documents.Layout {
	t.Helper()
	var layout documents.Layout
	if err := layout.Read(string(threeFiles(t))); err != nil {
		t.Fatal(err)
	}
	return &layout
}

// rowsOf returns the rows that write passes.
func rowsOf[T output.Row](t *testing.T, write func(row func(T) error) error) string {
	t.Helper()
	var b []byte
	if err := write(func(row T) error { b = output.AppendRow(b, row); return nil }); err != nil {
		t.Fatal(err)
	}
	// Row passes until it fails: the first failure ends everything.
	passed := 0
	fault := errors.New("full")
	if err := write(func(T) error { passed++; return fault }); len(b) > 0 && (!errors.Is(err, fault) || passed != 1) {
		t.Errorf("%d rows passed after an error, which gave %v", passed, err)
	}
	return string(b)
}

// pairsOf returns the rows of pairs of a kind.
func pairsOf(t *testing.T, s *Shard, kind string) string {
	return rowsOf(t, func(row func(output.Pair) error) error { return s.PairRows(kind, row) })
}

// checkRows compares rows, without their ends.
func checkRows(t *testing.T, what, got string, want ...string) {
	t.Helper()
	if joined := strings.Join(append(want, ""), "\n"); got != joined {
		t.Errorf("%s:\n%swant\n%s", what, got, joined)
	}
}

// chain is a shard of two clusters: a chain of four documents, where the second and the third are identical, and a
// document of the reference with one that is like it. Priorities are the priorities of the documents of the chain.
func chain(t *testing.T, priorities [4]preference.Priority) *Shard {
	return shardOf(layoutOf(t), []records.Member{
		{Ref: at(0, 0), First: 0, Size: 10, Id: "ref"},
		{Ref: at(1, 10), First: 0, Size: 9, Priority: 1},
		{Ref: at(1, 20), First: 2, Size: 10, Priority: priorities[0], Id: "b"},
		{Ref: at(1, 60), First: 2, Size: 8, Priority: priorities[1], Id: "c"},
		{Ref: at(2, 5), First: 2, Size: 8, Priority: priorities[2], Id: "c", Repeated: true},
		{Ref: at(2, 7), First: 2, Size: 7, Priority: priorities[3], Id: "e"},
	}, []records.Edge[records.Number]{edge(0, 1, 9, 10), edge(2, 3, 8, 10), edge(3, 4, 8, 8), edge(3, 5, 6, 8)})
}

func TestRowsOfComponents(t *testing.T) {
	s := chain(t, [4]preference.Priority{1, 1, 1, 1})
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	checkRows(t, "clusters", rowsOf(t, s.ClusterRows),
		`{"cluster":"ref","id":"ref","ref":"r:0","kept":true,"similarity":1,"size":2,"least":0.9,"mean":0.9,"reference":true}`,
		`{"cluster":"ref","id":"a:10","ref":"a:10","kept":false,"similarity":0.9,"size":2,"least":0.9,"mean":0.9}`,
		`{"cluster":"b","id":"b","ref":"a:20","kept":true,"similarity":1,"size":4,"least":0.8,"mean":0.8}`,
		`{"cluster":"b","id":"c","ref":"a:60","kept":false,"similarity":0.8,"size":4,"least":0.8,"mean":0.8}`,
		`{"cluster":"b","id":"c","ref":"b:5","kept":false,"similarity":0.8,"size":4,"least":0.8,"mean":0.8}`,
		`{"cluster":"b","id":"e","ref":"b:7","kept":true,"similarity":1,"size":4,"least":0.8,"mean":0.8}`)
	checkRows(t, "removed", rowsOf(t, s.RemovedRows),
		`{"id":"a:10","ref":"a:10","cluster":"ref","kept_id":"ref","similarity":0.9,"reference":true}`,
		`{"id":"c","ref":"a:60","cluster":"b","kept_id":"b","similarity":0.8}`,
		`{"id":"c","ref":"b:5","cluster":"b","kept_id":"b","similarity":0.8}`)
	checkRows(t, "pairs", pairsOf(t, s, output.SetPair),
		`{"a":"ref","b":"a:10","jaccard":0.9,"containment_a":0.9,"containment_b":1,"exact":true}`,
		`{"a":"b","b":"c","jaccard":0.8,"containment_a":0.8,"containment_b":1,"exact":true}`,
		`{"a":"c","b":"b:5","jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`,
		`{"a":"c","b":"e","jaccard":0.75,"containment_a":0.75,"containment_b":0.8571428571428571,"exact":true}`)
	var o findings.Findings
	if err := s.count(&o); err != nil {
		t.Fatal(err)
	}
	if want := (findings.Counts{
		Pairs:               4,
		Identical:           1,
		Clusters:            2,
		Clustered:           6,
		Kept:                2,
		Removed:             3,
		RemovedForReference: 1,
	}); !reflect.DeepEqual(o.Counts, want) || o.Skipped.Kept != 0 {
		t.Errorf("counts %+v, want %+v; %d unchecked", o.Counts, want, o.Skipped.Kept)
	}
}

// TestDrops: clusters may go as a whole, and copies may stay that are like no document of the reference.
func TestDrops(t *testing.T) {
	for _, c := range []struct {
		rule    keep.Rule
		removed []string
		counts  findings.Counts
	}{
		{keep.Rule{Split: keep.Component, Drop: keep.Clusters}, []string{
			`{"id":"a:10","ref":"a:10","cluster":"ref","like_id":"ref","similarity":0.9,"reference":true}`,
			`{"id":"b","ref":"a:20","cluster":"b","like_id":"c","similarity":0.8}`,
			`{"id":"c","ref":"a:60","cluster":"b","like_id":"b:5","similarity":1}`,
			`{"id":"c","ref":"b:5","cluster":"b","like_id":"c","similarity":1}`,
			`{"id":"e","ref":"b:7","cluster":"b","like_id":"c","similarity":0.75}`,
		}, findings.Counts{Pairs: 4, Identical: 1, Clusters: 2, Clustered: 6, Removed: 5, RemovedForReference: 1}},
		{keep.Rule{Split: keep.Star, Drop: keep.Clusters}, []string{ // e is in no star
			`{"id":"a:10","ref":"a:10","cluster":"ref","like_id":"ref","similarity":0.9,"reference":true}`,
			`{"id":"b","ref":"a:20","cluster":"b","like_id":"c","similarity":0.8}`,
			`{"id":"c","ref":"a:60","cluster":"b","like_id":"b:5","similarity":1}`,
			`{"id":"c","ref":"b:5","cluster":"b","like_id":"c","similarity":1}`,
		}, findings.Counts{
			Pairs:               4,
			Identical:           1,
			Clusters:            2,
			Clustered:           5,
			Kept:                1,
			Removed:             4,
			RemovedForReference: 1,
		}},
		{keep.Rule{Split: keep.Component, Drop: keep.Reference}, []string{
			`{"id":"a:10","ref":"a:10","cluster":"ref","kept_id":"ref","similarity":0.9,"reference":true}`,
		}, findings.Counts{
			Pairs:               4,
			Identical:           1,
			Clusters:            2,
			Clustered:           6,
			Kept:                4,
			Removed:             1,
			RemovedForReference: 1,
		}},
		{keep.Rule{Split: keep.Star, Drop: keep.Reference}, []string{
			`{"id":"a:10","ref":"a:10","cluster":"ref","kept_id":"ref","similarity":0.9,"reference":true}`,
		}, findings.Counts{
			Pairs:               4,
			Identical:           1,
			Clusters:            1,
			Clustered:           2,
			Kept:                4,
			Removed:             1,
			RemovedForReference: 1,
		}},
	} {
		s := chain(t, [4]preference.Priority{1, 1, 1, 1})
		if err := s.Decide(c.rule, nil); err != nil {
			t.Fatal(err)
		}
		checkRows(t, fmt.Sprint(c.rule), rowsOf(t, s.RemovedRows), c.removed...)
		var o findings.Findings
		if err := s.count(&o); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(o.Counts, c.counts) {
			t.Errorf("%v: counts %+v, want %+v", c.rule, o.Counts, c.counts)
		}
	}
}

func TestRowsOfStars(t *testing.T) {
	s := chain(t, [4]preference.Priority{50, 30, 40, 20})
	if err := s.Decide(keep.Rule{Split: keep.Star}, nil); err != nil {
		t.Fatal(err)
	}
	checkRows(t, "clusters", rowsOf(t, s.ClusterRows),
		`{"cluster":"ref","id":"ref","ref":"r:0","kept":true,"similarity":1,"size":2,"least":0.9,"mean":0.9,"reference":true}`,
		`{"cluster":"ref","id":"a:10","ref":"a:10","kept":false,"similarity":0.9,"size":2,"least":0.9,"mean":0.9}`,
		`{"cluster":"c","id":"c","ref":"a:60","kept":false,"similarity":0.75,"size":3,"least":0.75,"mean":0.75}`,
		`{"cluster":"c","id":"c","ref":"b:5","kept":false,"similarity":0.75,"size":3,"least":0.75,"mean":0.75}`,
		`{"cluster":"c","id":"e","ref":"b:7","kept":true,"similarity":1,"size":3,"least":0.75,"mean":0.75}`)
	checkRows(t, "removed", rowsOf(t, s.RemovedRows),
		`{"id":"a:10","ref":"a:10","cluster":"ref","kept_id":"ref","similarity":0.9,"reference":true}`,
		`{"id":"c","ref":"a:60","cluster":"c","kept_id":"e","similarity":0.75}`,
		`{"id":"c","ref":"b:5","cluster":"c","kept_id":"e","similarity":0.75}`)
}

// TestPairsOfOtherScores: pairs of fingerprints have distances, and pairs with passages have spans. Without a decision
// only pairs are counted.
func TestPairsOfOtherScores(t *testing.T) {
	members := []records.Member{
		{Ref: at(1, 0), Size: 7, Id: "a"},
		{Ref: at(1, 1), Size: 7, Id: "b"},
		{Ref: at(1, 2), Size: 7, Id: "c"},
		{Ref: at(1, 3), Size: 25, Id: "d"},
	}
	s := shardOf(layoutOf(t), members, []records.Edge[records.Number]{
		{A: 1, B: 2, Score: records.NewScore(96, 128, true)},
		{A: 1, B: 3, Score: records.NewScore(2, 30, false)},
	})
	s.spans = []records.Span[records.Number]{
		{A: 1, B: 3, Span: sketch.Span{StartA: 5, EndA: 50, StartB: 7, EndB: 52, Words: 9}, More: 4},
		{A: 1, B: 3, Span: sketch.Span{StartA: 60, EndA: 70, StartB: 80, EndB: 90, Words: 2}, More: 4},
	}
	near := shardOf(layoutOf(t), members, []records.Edge[records.Number]{
		{A: 0, B: 1, Score: records.HammingScore(3, 64)},
		{A: 0, B: 2, Score: records.HammingScore(0, 64)},
	})
	checkRows(t, "pairs by distance", pairsOf(t, near, output.HammingPair),
		`{"a":"a","b":"b","hamming":3,"cosine":0.9892,"exact":true}`,
		`{"a":"a","b":"c","hamming":0,"cosine":1,"exact":true,"identical":true}`)
	checkRows(t, "pairs", pairsOf(t, s, output.SetPair),
		`{"a":"b","b":"c","jaccard":0.75,"containment_a":0.8571428571428571,"containment_b":0.8571428571428571,"exact":false}`,
		`{"a":"b","b":"d","jaccard":0.06666666666666667,"containment_a":0.2857142857142857,"containment_b":0.08,"exact":true,`+
			`"spans":[{"a":[5,50],"b":[7,52],"words":9},{"a":[60,70],"b":[80,90],"words":2}],"more_spans":4}`)
	var o findings.Findings
	if err := near.count(&o); err != nil {
		t.Fatal(err)
	}
	if err := s.count(&o); err != nil {
		t.Fatal(err)
	}
	if want := (findings.Counts{Pairs: 4, Identical: 1, Kept: 8}); !reflect.DeepEqual(o.Counts, want) {
		t.Errorf("counts %+v, want %+v", o.Counts, want)
	}
	if removed := slices.Collect(s.Removed); len(removed) > 0 {
		t.Errorf("removed %d", removed)
	}
}

// TestRemovedBySplit: removed refs are written for the split that holds them.
func TestRemovedBySplit(t *testing.T) {
	s := chain(t, [4]preference.Priority{1, 1, 1, 1})
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	run := worktest.Write(t, worktest.Runs(t), s.WriteRemoved)
	pieces, err := runfile.Pieces(run)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	got := map[int][]docref.Ref{}
	for _, piece := range pieces {
		packed, err := reader.Read(nil, piece)
		if err != nil || piece.Kind != records.Removed {
			t.Fatalf("records of kind %d (%v)", piece.Kind, err)
		}
		for ; len(packed) > 0; packed = packed[records.RefSize:] {
			got[piece.Shard] = append(got[piece.Shard], records.GetRef(packed))
		}
	}
	if want := map[int][]docref.Ref{1: {at(1, 10)}, 2: {at(1, 60), at(2, 5)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("removed %v, want %v", got, want)
	}
}

// TestDecisionsHold draws random shards. Whatever is decided, documents of the reference are kept. A document is
// removed for a kept one to which it, or its equal, has an edge. If clusters go as a whole, each document goes that has
// an edge, and if only copies of a reference go, each that is joined to one. Rows and counts agree.
func TestDecisionsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	layout := layoutOf(t)
	for range 300 {
		n := 1 + random.IntN(30)
		references := random.IntN(n)
		members := make([]records.Member, n)
		for i := range members {
			members[i] = records.Member{
				Ref:      at(1, int64(i)),
				Size:     10,
				Priority: 1 + preference.Priority(random.IntN(4)),
			}
			if i < references {
				members[i].Ref, members[i].Priority = at(0, int64(i)), preference.Reference
			}
		}
		var edges []records.Edge[records.Number]
		for a := range records.Number(n) {
			for b := a + 1; int(b) < n; b++ {
				if random.IntN(n) == 0 {
					edges = append(edges, edge(a, b, 7+random.Uint32N(4), 10|records.HotGroupMark*random.Uint32N(2)))
				}
			}
		}
		s := shardOf(layout, members, edges)
		rule := keep.Rule{
			Split: []keep.Split{keep.Component, keep.Star}[random.IntN(2)],
			Drop:  keep.Drops[random.IntN(3)],
		}
		if err := s.Decide(rule, nil); err != nil {
			t.Fatal(err)
		}
		for i := range s.end() {
			c := s.choice(i)
			isJoined := func(to func(records.Number) bool) bool {
				return to(s.classes.first(i)) || slices.ContainsFunc(edges, func(e records.Edge[records.Number]) bool {
					a, b := s.classes.first(e.A), s.classes.first(e.B)
					return a == s.classes.first(i) && to(b) || b == s.classes.first(i) && to(a)
				})
			}
			if rule.Drop == keep.Reference && !s.reference(i) && s.goes(i) != isJoined(s.reference) {
				t.Fatalf("document %d goes: %v", i, s.goes(i))
			}
			isAlone := !slices.ContainsFunc(edges, func(e records.Edge[records.Number]) bool {
				return e.A == i || e.B == i
			})
			if rule == (keep.Rule{Split: keep.Component, Drop: keep.Clusters}) && !s.reference(i) &&
				s.goes(i) == isAlone {
				t.Fatalf("document %d goes: %v", i, s.goes(i))
			}
			if s.goes(c.Kept) && rule.Drop != keep.Clusters || s.reference(i) && s.goes(i) {
				t.Fatalf("document %d goes for %d", i, c.Kept)
			}
			joined := func(e records.Edge[records.Number]) bool {
				a := s.classes.first(e.A)
				b := s.classes.first(e.B)
				want := [2]records.Number{s.classes.first(i), s.classes.first(c.Kept)}
				return [2]records.Number{a, b} == want || [2]records.Number{b, a} == want
			}
			if s.classes.first(i) != s.classes.first(c.Kept) && !slices.ContainsFunc(edges, joined) {
				t.Fatalf("document %d goes for %d, which it has no edge to", i, c.Kept)
			}
		}
		var o findings.Findings
		if err := s.count(&o); err != nil {
			t.Fatal(err)
		}
		removed := strings.Count(rowsOf(t, s.RemovedRows), "\n")
		clustered := strings.Count(rowsOf(t, s.ClusterRows), "\n")
		if int64(removed) != o.Counts.Removed || removed != len(slices.Collect(s.Removed)) ||
			int64(clustered) != o.Counts.Clustered || o.Counts.RemovedForReference > o.Counts.Removed {
			t.Fatalf("%d rows of removed, %d of clusters, counted %+v", removed, clustered, o.Counts)
		}
	}
}

// TestShardsOnDisk: clusters whose lists lie in files have the rows and counts of those that are held, for each rule.
func TestShardsOnDisk(t *testing.T) {
	members, edges := largeClusters(rand.New(rand.NewPCG(17, 18)))
	checkOnDisk(t, members, slices.DeleteFunc(slices.Clone(edges), func(e records.Edge[records.Number]) bool {
		return !e.Identical() && members[e.A].Side == members[e.B].Side // no job compares these
	}))
	for i := range members {
		members[i].Side = 0
	}
	checkOnDisk(t, members, edges)
}

func checkOnDisk(t *testing.T, members []records.Member, edges []records.Edge[records.Number]) {
	t.Helper()
	layout := layoutOf(t)
	var rows, counts [2]string
	for _, split := range []keep.Split{keep.Component, keep.Star} {
		for _, drop := range keep.Drops {
			for k, bytes := range []int64{0, 1} {
				store := &paged.Store{Folder: t.TempDir(), Bytes: bytes}
				s := storedShard(store, layout, members, edges)
				if _, whole := s.classes.of.Whole(); whole != (bytes == 0) {
					t.Fatalf("%d bytes: whole %v", bytes, whole)
				}
				err := s.Decide(keep.Rule{Split: split, Drop: drop}, func() error { return nil })
				o, fault := s.Findings(0.8)
				if err := errors.Join(err, fault); err != nil {
					t.Fatal(err)
				}
				rows[k] = rowsOf(t, s.ClusterRows) + rowsOf(t, s.RemovedRows) + pairsOf(t, s, output.SetPair)
				counts[k] = fmt.Sprintf("%+v", o)
				s.Close()
				if (split == keep.Component && drop != keep.Clusters) != (o.Bridges.Count > 0) {
					t.Errorf("split %s, drop %s, %d bytes: bridges %+v", split, drop, bytes, o.Bridges)
				}
			}
			if rows[0] != rows[1] || counts[0] != counts[1] || rows[0] == "" {
				t.Fatalf("split %s, drop %s: %d and %d bytes of rows, counts\n%s\n%s", split, drop, len(rows[0]),
					len(rows[1]), counts[0], counts[1])
			}
		}
	}
}

// largeClusters returns documents of two clusters, one of them with nearly all, and their edges. Many are equal to
// others of their side, and one edge holds the larger cluster together.
func largeClusters(random *rand.Rand) (members []records.Member, edges []records.Edge[records.Number]) {
	const n, small, half = 6000, 400, 3500
	firsts := []records.Number{}
	for i := range records.Number(n) {
		cluster := records.Number(0)
		if i >= small {
			cluster = small
		}
		m := records.Member{
			Ref:      at(1, int64(i)),
			First:    cluster,
			Size:     20,
			Priority: preference.Priority(1 + random.IntN(1000)),
			Source:   sources.Number(random.IntN(3)),
		}
		if i < 10 {
			m.Ref, m.Priority = at(0, int64(i)), preference.Reference
		}
		if i == 0 || i == small || i == half {
			m.Side = 1 + uint64(i)%3
			members, firsts = append(members, m), append(firsts[:0], i)
			continue
		}
		first := firsts[random.IntN(len(firsts))]
		e := edge(first, i, 20, 20)
		m.Side = members[first].Side
		if random.IntN(3) > 0 {
			e = edge(first, i, 16+random.Uint32N(4), 20)
			m.Side = 1 + m.Side%3
			firsts = append(firsts, i)
		}
		members, edges = append(members, m), append(edges, e)
		if other := firsts[random.IntN(len(firsts))]; !e.Identical() && other < i {
			edges = append(edges, edge(other, i, 16+uint32(i)%4, 20))
		}
	}
	edges = append(edges, edge(small, half, 17, 20))
	slices.SortFunc(edges, func(a, b records.Edge[records.Number]) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	edges = slices.CompactFunc(edges, func(a, b records.Edge[records.Number]) bool { return a.A == b.A && a.B == b.B })
	random.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return members, edges
}

// TestDuplicates draws shards of identical and similar documents. Edges that follow from a class say the same as any
// other.
func TestDuplicates(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	layout, all := layoutOf(t), 0
	for range 300 {
		n, first := 1+random.IntN(30), records.Number(0)
		var edges []records.Edge[records.Number]
		members := make([]records.Member, n)
		isDistance := random.IntN(2) == 0
		for i := range members {
			i := records.Number(i)
			members[i] = records.Member{
				Ref:      at(1, int64(i)),
				Size:     random.Uint32N(12),
				Priority: preference.Priority(random.IntN(3)),
				Id:       fmt.Sprint(i),
			}
			score := records.NewScore(int(members[first].Size), int(members[first].Size), false)
			if isDistance {
				score = records.HammingScore(0, 64)
			}
			switch random.IntN(6) {
			case 0:
				first = i
			case 1:
				edges = append(edges, edge(first, i, 9, 10))
			case 2: // its class is identical to an earlier one by other edges
				edges = append(edges, edge(i/2, i, 7, 7))
			case 3:
				edges = append(edges, records.Edge[records.Number]{
					A:     first,
					B:     i,
					Score: records.Score{Shared: score.Shared, Total: score.Total | records.HotGroupMark},
				})
				fallthrough
			default:
				edges = append(edges, records.Edge[records.Number]{A: first, B: i, Score: score})
			}
		}
		edges = slices.DeleteFunc(edges, func(e records.Edge[records.Number]) bool { return e.A == e.B })
		s := shardOf(layout, members, edges)
		all += s.duplicates.pairs
		plain := *s
		every := slices.Collect(s.withDuplicates(s.edges))
		plain.edges = paged.Of[int](s.store, every)
		plain.pairs, plain.duplicates = plain.edges, duplicates{}
		sorted, err := records.SortEdges(s.store, listed(edges))
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := sorted.Whole(); !slices.Equal(every, want) {
			t.Fatalf("edges %v, want %v", every, want)
		}
		rule := keep.Rule{Split: keep.Component, Drop: keep.Drops[random.IntN(3)]}
		var content, counted [2]string
		for k, shard := range []*Shard{s, &plain} {
			err := shard.Decide(rule, nil)
			o, fault := shard.Findings(0.8)
			if err := errors.Join(err, fault); err != nil {
				t.Fatal(err)
			}
			content[k] = rowsOf(t, shard.ClusterRows) + rowsOf(t, shard.RemovedRows) + pairsOf(t, shard, output.SetPair)
			counted[k] = fmt.Sprintf("%+v", o)
		}
		if content[0] != content[1] || counted[0] != counted[1] {
			t.Fatalf("rows\n%swant\n%s%s, want %s", content[0], content[1], counted[0], counted[1])
		}
	}
	if all < 1000 {
		t.Errorf("only %d duplicates", all)
	}
}
