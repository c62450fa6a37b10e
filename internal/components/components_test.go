package components

import (
	"math/rand/v2"
	"testing"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/unionfind"
)

// randomParts draws edges over n documents and deals them to parts, as tasks
// would see them.
func randomParts(random *rand.Rand, n, edges, parts int) ([]Part, [][2]docref.Ref) {
	all := make([][2]docref.Ref, edges)
	out := make([]Part, parts)
	numbers := make([]map[docref.Ref]Node, parts)
	for i := range all {
		all[i] = [2]docref.Ref{docref.Ref(random.IntN(n) * 10), docref.Ref(random.IntN(n) * 10)}
		k := random.IntN(parts)
		p := &out[k]
		if numbers[k] == nil {
			numbers[k] = map[docref.Ref]Node{}
		}
		for _, ref := range all[i] {
			if _, ok := numbers[k][ref]; !ok {
				numbers[k][ref] = p.Add(ref, uint32(ref)%97+1)
			}
		}
		p.Parents.Union(numbers[k][all[i][0]], numbers[k][all[i][1]])
	}
	return out, all
}

func TestGraphIsOneUnionFind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 100 {
		n := 1 + random.IntN(300)
		parts, edges := randomParts(random, n, random.IntN(2*n), 1+random.IntN(5))
		want := unionfind.New[uint32](n)
		for _, e := range edges {
			want.Union(uint32(e[0]/10), uint32(e[1]/10))
		}
		g := join(parts)
		for rank, ref := range g.Refs() {
			if rank > 0 && g.Ref(rank-1) >= ref {
				t.Fatal("refs do not ascend")
			}
			if root := g.Ref(g.Roots()[rank]); root != docref.Ref(want.Find(uint32(ref/10)))*10 {
				t.Fatalf("trial %d: the component of %d is %d", trial, ref, root)
			}
			if g.weight(rank) != int64(ref)%97+1 {
				t.Fatalf("trial %d: %d weighs %d", trial, ref, g.weight(rank))
			}
			if g.Rank(ref) != rank {
				t.Fatalf("trial %d: the rank of %d is %d, want %d", trial, ref, g.Rank(ref), rank)
			}
		}
	}
}

func join(parts []Part) *Graph {
	var g Graph
	for _, p := range parts {
		g.Add(p)
	}
	g.Finish()
	return &g
}
