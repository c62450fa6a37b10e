package clusters

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
)

// graphOf is a shard of n documents, joined by edges, which are sorted. Some documents have ids.
func graphOf(t *testing.T, n int, edges []records.Edge[records.Number], ids map[int]string) *Shard {
	t.Helper()
	joined := graphs.NewForest[records.Number](n)
	for _, e := range edges {
		joined.Union(e.A, e.B)
	}
	members := make([]records.Member, n)
	for i := range members {
		members[i] = records.Member{Ref: docref.Ref(at(1, int64(i))), First: joined.Find(records.Number(i)), Id: ids[i]}
	}
	return shardOf(layoutOf(t), members, edges)
}

// TestBridges compares the bridges of random graphs with those that leaving out each edge in turn shows.
func TestBridges(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 400 {
		edges, n := someComponents(random)
		s := graphOf(t, n, edges, nil)
		got := s.bridges(2)
		want := naiveBridges(s, 2)
		found += len(want)
		for i := range min(len(got), len(want)) {
			// Of several that are as good, any is right, as long as it is one.
			if !slices.Contains(want[i], got[i]) {
				t.Fatalf("bridge %+v, want one of %+v of %v", got[i], want[i], edges)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("bridges %+v, want %+v of %v", got, want, edges)
		}
	}
	if found < 100 {
		t.Errorf("only %d bridges were looked for", found)
	}
}

// someComponents makes up components of documents that follow each other, and their edges. Each document is joined to
// an earlier one of its component, and maybe to more; some are identical.
func someComponents(random *rand.Rand) (edges []records.Edge[records.Number], n int) {
	for range 1 + random.IntN(3) {
		size := 1 + random.IntN(14)
		first := make([]int, size)
		seen := map[[2]int]bool{}
		add := func(a, b int, total uint32) {
			if a, b = min(a, b), max(a, b); a != b && !seen[[2]int{a, b}] {
				seen[[2]int{a, b}] = true
				edges = append(edges, edge(records.Number(n+a), records.Number(n+b), 8, total))
			}
		}
		isHotGroup := random.IntN(8) == 0
		for i := 1; i < size; i++ {
			before := first[random.IntN(i)]
			if first[i] = i; random.IntN(5) == 0 {
				first[i] = before
				add(before, i, 8)
				continue
			}
			add(before, i, 10)
			if random.IntN(4) == 0 {
				add(first[random.IntN(i)], i, 10)
			}
		}
		if isHotGroup && len(edges) > 0 {
			edges[len(edges)-1].Total |= records.HotGroupMark
		}
		n += size
	}
	slices.SortFunc(edges, func(a, b records.Edge[records.Number]) int {
		return int(int64(a.A)<<32|int64(a.B)) - int(int64(b.A)<<32|int64(b.B))
	})
	return edges, n
}

// naiveBridges returns, for each component with a bridge, all that are the best of it.
func naiveBridges(s *Shard, least uint32) (all [][]bridge) {
	edges, _ := s.edges.Whole()
	for first := records.Number(0); first < s.end(); first += records.Number(s.size.At(first)) {
		end := first + records.Number(s.size.At(first))
		var best []bridge
		isHotGroup := false
		for left, e := range edges {
			if e.A < first || e.A >= end {
				continue
			}
			isHotGroup = isHotGroup || e.HotGroup()
			if s.classes.first(e.A) == s.classes.first(e.B) {
				continue
			}
			joined := graphs.NewForest[records.Number](s.members.Len())
			for i, other := range edges {
				if i != left {
					joined.Union(other.A, other.B)
				}
			}
			part := uint32(0)
			for i := first; i < end; i++ {
				if joined.Find(i) == joined.Find(e.A) {
					part++
				}
			}
			if joined.Find(e.B) == joined.Find(e.A) {
				continue
			}
			part = min(part, s.size.At(first)-part)
			if len(best) == 0 || part > best[0].part {
				best = nil
			}
			if len(best) == 0 || part == best[0].part {
				best = append(best, bridge{first: first, edge: left, part: part})
			}
		}
		if len(best) > 0 && best[0].part >= least && !isHotGroup {
			all = append(all, best)
		}
	}
	return all
}

// TestDoubt: a large loose cluster is called a template, a tight or a small one is not. The names are plain.
func TestDoubt(t *testing.T) {
	star := func(n int, shared, total uint32) *Shard {
		var edges []records.Edge[records.Number]
		for i := 1; i < n; i++ {
			edges = append(edges, edge(0, records.Number(i), shared, total))
		}
		s := graphOf(t, n, edges, map[int]string{0: "say \"a\"\n"})
		if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
			t.Fatal(err)
		}
		return s
	}
	loose := findings.Template{Cluster: "say \"a\"\n", Documents: leastTemplate, Mean: 0.85, Least: 0.85}
	for _, test := range []struct {
		name  string
		shard *Shard
		want  []findings.Template
	}{
		{"loose", star(leastTemplate, 85, 100), []findings.Template{loose}},
		{"tight", star(leastTemplate, 95, 100), nil},
		{"small", star(leastTemplate-1, 85, 100), nil},
	} {
		var o findings.Findings
		test.shard.doubt(&o, 0.8)
		for i := range o.Templates.Named {
			o.Templates.Named[i].Mean = math.Round(o.Templates.Named[i].Mean*1e6) / 1e6 // a sum of many terms
		}
		if !reflect.DeepEqual(o.Templates.Named, test.want) || o.Bridges.Count != 0 {
			t.Errorf("%s: templates %+v, want %+v; bridges %+v", test.name, o.Templates, test.want, o.Bridges)
		}
	}
}

// TestLargest: the largest cluster of a shard is named, with its first document and the first that is not identical.
func TestLargest(t *testing.T) {
	s := graphOf(t, 6,
		[]records.Edge[records.Number]{edge(0, 1, 9, 10), edge(2, 3, 1, 1), edge(2, 4, 9, 10), edge(2, 5, 9, 10)}, nil)
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	var o findings.Findings
	s.doubt(&o, 0.8)
	if want := (findings.LargeCluster{Name: "a:2", Documents: 4, A: "a:2", B: "a:4"}); len(o.Largest.Named) != 1 ||
		o.Largest.Named[0] != want {
		t.Errorf("%+v, want %+v", o.Largest.Named, want)
	}
}

// TestDoubtOfTitles: removed pages are compared with the page that stays, identical ones too. A page without a title
// says nothing.
func TestDoubtOfTitles(t *testing.T) {
	members := []records.Member{5: {Ref: at(1, 5)}}
	for i, title := range []string{"Fox", "Fox", "Crow", "Hare", ""} {
		members[i] = records.Member{Ref: at(1, int64(i)), Capture: &records.Capture{Title: title}}
	}
	s := shardOf(layoutOf(t), members,
		[]records.Edge[records.Number]{
			edge(0, 1, 9, 10), edge(0, 2, 10, 10), edge(0, 3, 9, 10), edge(0, 4, 9, 10),
			edge(0, 5, 9, 10),
		})
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	var o findings.Findings
	s.doubt(&o, 0.8)
	want := []findings.NearPair{
		{Removed: "a:3", Kept: "a:0", Similarity: .9, Title: "Hare", KeptTitle: "Fox"},
		{Removed: "a:2", Kept: "a:0", Similarity: 1, Title: "Crow", KeptTitle: "Fox"},
	}
	if o.OtherTitle.Count != 2 || !slices.Equal(o.OtherTitle.Named, want) {
		t.Errorf("%+v, want %+v", o.OtherTitle, want)
	}
}

// TestDoubtOfTwoStars: a pair that joins two stars is told, unless clusters are stars.
func TestDoubtOfTwoStars(t *testing.T) {
	var edges []records.Edge[records.Number]
	const half = records.Number(leastPart)
	for i := range 2 * half {
		switch {
		case i > 0 && i < half:
			edges = append(edges, edge(0, i, 99, 100))
		case i > half:
			edges = append(edges, edge(half, i, 99, 100))
		}
	}
	edges = append(edges, edge(3, half+3, 8, 10))
	slices.SortFunc(edges, func(a, b records.Edge[records.Number]) int { return int(a.A) - int(b.A) })
	s := graphOf(t, int(2*half), edges, nil)
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	var o findings.Findings
	s.doubt(&o, 0.8)
	want := findings.Bridge{Cluster: "a:0", Documents: 2 * leastPart, Part: leastPart, A: "a:3", B: "a:28"}
	if o.Bridges.Count != 1 || o.Bridges.Named[0] != want || o.Templates.Count != 0 {
		t.Errorf("%+v, want %+v; templates %+v", o.Bridges, want, o.Templates)
	}
	if err := s.Decide(keep.Rule{Split: keep.Star}, nil); err != nil {
		t.Fatal(err)
	}
	o = findings.Findings{}
	if s.doubt(&o, 0.8); o.Bridges.Count != 0 {
		t.Errorf("stars: %+v", o.Bridges)
	}
}
