package components

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/unionfind"
)

// randomParts draws edges over n documents and deals them to parts, as tasks
// would see them.
func randomParts(random *rand.Rand, n, edges, parts int) ([]Part, [][2]docref.Ref) {
	all := make([][2]docref.Ref, edges)
	out := make([]Part, parts)
	numbers := make([]map[docref.Ref]uint32, parts)
	for i := range all {
		all[i] = [2]docref.Ref{docref.Ref(random.IntN(n) * 10), docref.Ref(random.IntN(n) * 10)}
		k := random.IntN(parts)
		p := &out[k]
		if numbers[k] == nil {
			numbers[k] = map[docref.Ref]uint32{}
		}
		for _, ref := range all[i] {
			if _, ok := numbers[k][ref]; !ok {
				numbers[k][ref] = uint32(len(p.Refs))
				p.Refs = append(p.Refs, ref)
				p.Weights = append(p.Weights, uint32(ref)%97+1)
				p.Parents = append(p.Parents, uint32(len(p.Parents)))
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
		want := unionfind.New(n)
		for _, e := range edges {
			want.Union(uint32(e[0]/10), uint32(e[1]/10))
		}
		g := join(parts)
		for rank := range g.Len() {
			ref := g.Ref(rank)
			if rank > 0 && g.Ref(rank-1) >= ref {
				t.Fatal("refs do not ascend")
			}
			if root := g.Ref(int(g.Roots()[rank])); root != docref.Ref(want.Find(uint32(ref/10)))*10 {
				t.Fatalf("trial %d: the component of %d is %d", trial, ref, root)
			}
			if g.weight(rank) != int64(ref)%97+1 {
				t.Fatalf("trial %d: %d weighs %d", trial, ref, g.weight(rank))
			}
			if int(g.Rank(ref)) != rank {
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

// TestPlacesMeetAndHold: the two ends of every edge are both sent to the place
// where they meet, and no place gets more than its capacity, or a quarter of a very
// large component up to four times that, unless a single document is larger.
func TestPlacesMeetAndHold(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 100 {
		n := 2 + random.IntN(400)
		parts, edges := randomParts(random, n, random.IntN(2*n), 3)
		g := join(parts)
		capacity := int64(200 + random.IntN(3000))
		places, count := g.Places(capacity)
		load := make([]int64, count)
		sent := make([]map[docref.Ref]bool, count)
		component := map[uint32]int64{} // weight by root
		for rank, root := range g.Roots() {
			component[root] += g.weight(rank)
		}
		bound := slices.Repeat([]int64{capacity}, count)
		rankOf := map[docref.Ref]int{}
		for rank, p := range places {
			ref := g.Ref(rank)
			rankOf[ref] = rank
			for block := range p.Blocks {
				place := p.Of(Place{First: p.First, Block: block})
				if sent[place] == nil {
					sent[place] = map[docref.Ref]bool{}
				}
				if sent[place][ref] {
					t.Fatalf("trial %d: %d is sent twice to place %d", trial, ref, place)
				}
				sent[place][ref] = true
				bound[place] = max(bound[place], min(4*capacity, component[g.Roots()[rank]]/4))
				load[place] += g.weight(rank)
			}
		}
		for _, e := range edges {
			a, b := places[rankOf[e[0]]], places[rankOf[e[1]]]
			if at := a.Of(b); at != b.Of(a) || !sent[at][e[0]] || !sent[at][e[1]] {
				t.Fatalf("trial %d: %v do not meet at %d", trial, e, at)
			}
		}
		for place, weight := range load {
			if weight > bound[place]+2*97 {
				t.Errorf("trial %d: place %d holds %d of %d", trial, place, weight, bound[place])
			}
		}
	}
}
