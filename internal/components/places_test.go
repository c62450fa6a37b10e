package components

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/docref"
)

// TestLocations: both ends of every edge are sent to the place where they meet. No place gets more than its capacity, or
// up to four times that for a quarter of a very large component, unless a single document is larger.
func TestLocations(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 100 {
		n := 2 + random.IntN(400)
		parts, edges := randomParts(random, n, random.IntN(2*n), 3)
		g := join(parts)
		capacity := int64(200 + random.IntN(3000))
		locations, places := g.Locations(capacity)
		load := make([]int64, places)
		sent := make([]map[docref.Ref]bool, places)
		component := map[Rank]int64{} // weight by root
		for rank := range g.Refs() {
			component[g.Roots()[rank]] += g.weight(rank)
		}
		bound := slices.Repeat([]int64{capacity}, places)
		rankOf := map[docref.Ref]Rank{}
		for rank, ref := range g.Refs() {
			rankOf[ref] = rank
			at := locations[rank]
			for block := range at.Blocks {
				place := at.MeetingPlace(Location{First: at.First, Block: block})
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
			a, b := locations[rankOf[e[0]]], locations[rankOf[e[1]]]
			if at := a.MeetingPlace(b); at != b.MeetingPlace(a) || !sent[at][e[0]] || !sent[at][e[1]] {
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
