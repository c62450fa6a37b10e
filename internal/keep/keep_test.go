package keep

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name         string
		order, first []uint32
		edges        []Edge
		want         []Choice
	}{
		{
			"a chain keeps both ends",
			[]uint32{0, 1, 2},
			[]uint32{0, 1, 2},
			[]Edge{{0, 1, .8}, {1, 2, .9}},
			[]Choice{{0, 1}, {0, .8}, {2, 1}},
		},
		{
			"the preferred middle stands for both ends",
			[]uint32{1, 0, 2},
			[]uint32{0, 1, 2},
			[]Edge{{0, 1, .8}, {1, 2, .9}},
			[]Choice{{1, .8}, {1, 1}, {1, .9}},
		},
		{
			"the most similar kept one is named",
			[]uint32{0, 1, 2},
			[]uint32{0, 1, 2},
			[]Edge{{0, 2, .8}, {1, 2, .9}},
			[]Choice{{0, 1}, {1, 1}, {1, .9}},
		},
		{
			"of equals the preferred one is named",
			[]uint32{1, 0, 2},
			[]uint32{0, 1, 2},
			[]Edge{{0, 2, .8}, {1, 2, .8}},
			[]Choice{{0, 1}, {1, 1}, {1, .8}},
		},
		{
			"identical documents keep the preferred one",
			[]uint32{2, 0, 1},
			[]uint32{0, 0, 0},
			nil,
			[]Choice{{2, 1}, {2, 1}, {2, 1}},
		},
		{
			"identical documents go together",
			[]uint32{0, 3, 1, 2},
			[]uint32{0, 1, 1, 1},
			[]Edge{{0, 1, .85}},
			[]Choice{{0, 1}, {0, .85}, {0, .85}, {0, .85}},
		},
	} {
		if got := Choose(c.order, c.first, slices.Values(c.edges)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestChooseKeepsTheLaw draws graphs: a document that goes has an edge to, or is
// identical to, one that stays; two that stay have none between them.
func TestChooseKeepsTheLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + random.IntN(40)
		first := make([]uint32, n)
		var firsts []uint32
		for i := range first {
			first[i] = uint32(i)
			if len(firsts) > 0 && random.IntN(3) == 0 {
				first[i] = firsts[random.IntN(len(firsts))]
			} else {
				firsts = append(firsts, uint32(i))
			}
		}
		joined := map[[2]uint32]float64{}
		var edges []Edge
		for range random.IntN(2 * n) {
			a, b := firsts[random.IntN(len(firsts))], firsts[random.IntN(len(firsts))]
			if _, ok := joined[[2]uint32{a, b}]; a == b || ok {
				continue
			}
			similarity := float64(random.IntN(4)+1) / 5
			edges = append(edges, Edge{a, b, similarity})
			joined[[2]uint32{a, b}], joined[[2]uint32{b, a}] = similarity, similarity
		}
		order := make([]uint32, n)
		for i, p := range random.Perm(n) {
			order[i] = uint32(p)
		}
		choices := Choose(order, first, slices.Values(edges))
		random.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
		if !slices.Equal(choices, Choose(order, first, slices.Values(edges))) {
			t.Fatal("the choice depends on the order of the edges")
		}
		for i, c := range choices {
			if choices[c.Kept].Kept != c.Kept {
				t.Fatalf("%d stands for %d, which goes", c.Kept, i)
			}
			want := 1.0
			if first[i] != first[c.Kept] {
				want = joined[[2]uint32{first[i], first[c.Kept]}]
			}
			if c.Similarity != want {
				t.Fatalf("%d goes for %d at %g, their similarity is %g", i, c.Kept, c.Similarity, want)
			}
		}
		for i := range choices {
			for j := range choices {
				if i != j && choices[i].Kept == uint32(i) && choices[j].Kept == uint32(j) {
					if _, ok := joined[[2]uint32{first[i], first[j]}]; ok || first[i] == first[j] {
						t.Fatalf("%d and %d are both kept", i, j)
					}
				}
			}
		}
	}
}
