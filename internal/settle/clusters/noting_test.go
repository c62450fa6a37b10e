package clusters

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/internal/settle/standing"
)

// drawnShard draws a shard of small components, some of whose documents are identical, and decides it.
func drawnShard(t *testing.T, random *rand.Rand) (*Shard, keep.Rule) {
	t.Helper()
	var members []records.Member
	var edges []records.Edge[records.Number]
	for range random.IntN(12) {
		start, n := records.Number(len(members)), records.Number(2+random.IntN(8))
		if random.IntN(8) == 0 {
			n = standing.Most + 1
		}
		for i := start; i < start+n; i++ {
			members = append(members, records.Member{
				Ref: at(1, int64(i)), Size: 30 + random.Uint32N(20), Standing: preference.Standing(1 + random.IntN(3)), Source: sources.Number(random.IntN(3)), Id: fmt.Sprint(i),
			})
			if i == start {
				continue
			}
			to := start + records.Number(random.IntN(int(i-start)))
			if random.IntN(3) == 0 {
				members[i].Size = members[to].Size
				edges = append(edges, edge(to, i, members[i].Size, members[i].Size))
			} else {
				edges = append(edges, edge(to, i, 80+random.Uint32N(15), 100))
			}
		}
	}
	shards, _, err := Cut(layoutOf(t), members, edges, 1)
	if err != nil {
		t.Fatal(err)
	}
	shards[0].FindComponents()
	rule := keep.Rule{Split: []keep.Split{keep.Component, keep.Star}[random.IntN(2)], Drop: keep.Drops[random.IntN(2)]}
	if err := shards[0].Decide(rule, nil); err != nil {
		t.Fatal(err)
	}
	return shards[0], rule
}

// TestNotes: what is noted of each component adds up to what the shard counts, and what is counted of components that stand is the same.
func TestNotes(t *testing.T) {
	random := rand.New(rand.NewPCG(30, 2))
	stood := 0
	for range 300 {
		s, _ := drawnShard(t, random)
		want, err := s.Findings(0.8)
		if err != nil {
			t.Fatal(err)
		}

		list, next := new(standing.List), 0
		var chosen []uint32
		var left findings.Findings // of components that cannot stand
		s.Notes(func(component int, c *standing.Component, documents []standing.Document) {
			if component != next {
				t.Fatalf("component %d, want %d", component, next)
			}
			next++
			list.Add(*c, documents)
			size := s.Start(component+1) - s.Start(component)
			if len(documents) == int(size) {
				chosen, stood = append(chosen, uint32(component)), stood+1
			} else if documents != nil || size <= standing.Most {
				t.Fatalf("%d of %d documents are noted", len(documents), size)
			}
			left.Counts.Pairs += int64(c.Pairs)
			left.Near.Count += int64(c.Near.Count)
		})
		if next != s.Components() || left.Counts.Pairs != want.Counts.Pairs || left.Near.Count != want.Near.Count {
			t.Fatalf("%d of %d components, %d pairs and %d near ones, want %+v", next, s.Components(), left.Counts.Pairs, left.Near.Count, want)
		}
		if len(chosen) < next {
			continue // what stands is a part
		}
		var got findings.Findings
		list.Count(chosen, &got, func(ref docref.Ref) sources.Number { return s.members.Source(records.Number(ref.Position())) })
		got.Sent = 0 // is counted when documents are sent
		want.Near.Named, want.NearShort.Named, want.Largest, want.Bridges, want.Sizes = nil, nil, got.Largest, got.Bridges, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nwant\n%+v", got, want)
		}
	}
	if stood < 500 {
		t.Errorf("only %d components can stand", stood)
	}
}
