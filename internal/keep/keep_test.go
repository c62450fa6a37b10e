package keep

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name         string
		order, first []records.Number
		edges        []Edge
		want         []Choice
	}{
		{
			"a chain keeps both ends",
			[]records.Number{0, 1, 2},
			[]records.Number{0, 1, 2},
			[]Edge{{A: 0, B: 1, Similarity: .8}, {A: 1, B: 2, Similarity: .9}},
			[]Choice{{0, 1}, {0, .8}, {2, 1}},
		},
		{
			"the preferred middle stands for both ends",
			[]records.Number{1, 0, 2},
			[]records.Number{0, 1, 2},
			[]Edge{{A: 0, B: 1, Similarity: .8}, {A: 1, B: 2, Similarity: .9}},
			[]Choice{{1, .8}, {1, 1}, {1, .9}},
		},
		{
			"the most similar kept one is named",
			[]records.Number{0, 1, 2},
			[]records.Number{0, 1, 2},
			[]Edge{{A: 0, B: 2, Similarity: .8}, {A: 1, B: 2, Similarity: .9}},
			[]Choice{{0, 1}, {1, 1}, {1, .9}},
		},
		{
			"a class that an edge spares stays, and still stands for others",
			[]records.Number{0, 1, 2},
			[]records.Number{0, 1, 2},
			[]Edge{{A: 0, B: 1, Similarity: .8, SparesB: true}, {A: 1, B: 2, Similarity: .9, SparesA: true}},
			[]Choice{{0, 1}, {1, 1}, {1, .9}},
		},
		{
			"of equals the preferred one is named",
			[]records.Number{1, 0, 2},
			[]records.Number{0, 1, 2},
			[]Edge{{A: 0, B: 2, Similarity: .8}, {A: 1, B: 2, Similarity: .8}},
			[]Choice{{0, 1}, {1, 1}, {1, .8}},
		},
		{
			"identical documents keep the preferred one",
			[]records.Number{2, 0, 1},
			[]records.Number{0, 0, 0},
			nil,
			[]Choice{{2, 1}, {2, 1}, {2, 1}},
		},
		{
			"identical documents go together",
			[]records.Number{0, 3, 1, 2},
			[]records.Number{0, 1, 1, 1},
			[]Edge{{A: 0, B: 1, Similarity: .85}},
			[]Choice{{0, 1}, {0, .85}, {0, .85}, {0, .85}},
		},
		{
			"a copy of a removed document goes for one that was kept between them, and is nearer",
			[]records.Number{0, 1, 2, 3},
			[]records.Number{0, 1, 2, 1},
			[]Edge{{A: 0, B: 1, Similarity: .5}, {A: 1, B: 2, Similarity: .57}},
			[]Choice{{0, 1}, {0, .5}, {2, 1}, {2, .57}},
		},
	} {
		if got := choose(c.order, c.first, nil, c.edges); !slices.Equal(got, c.want) {
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
		first := make([]records.Number, n)
		var firsts []records.Number
		for i := range first {
			first[i] = records.Number(i)
			if len(firsts) > 0 && random.IntN(3) == 0 {
				first[i] = firsts[random.IntN(len(firsts))]
			} else {
				firsts = append(firsts, records.Number(i))
			}
		}
		joined := map[[2]records.Number]float64{}
		var edges []Edge
		for range random.IntN(2 * n) {
			a, b := firsts[random.IntN(len(firsts))], firsts[random.IntN(len(firsts))]
			if _, ok := joined[[2]records.Number{a, b}]; a == b || ok {
				continue
			}
			similarity := float64(random.IntN(4)+1) / 5
			edges = append(edges, Edge{A: a, B: b, Similarity: similarity})
			joined[[2]records.Number{a, b}], joined[[2]records.Number{b, a}] = similarity, similarity
		}
		order := make([]records.Number, n)
		for i, p := range random.Perm(n) {
			order[i] = records.Number(p)
		}
		choices := choose(order, first, nil, edges)
		random.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
		if !slices.Equal(choices, choose(order, first, nil, edges)) {
			t.Fatal("the choice depends on the order of the edges")
		}
		for i, c := range choices {
			if choices[c.Kept].Kept != c.Kept {
				t.Fatalf("%d stands for %d, which goes", c.Kept, i)
			}
			want := 1.0
			if first[i] != first[c.Kept] {
				want = joined[[2]records.Number{first[i], first[c.Kept]}]
			}
			if c.Similarity != want {
				t.Fatalf("%d goes for %d at %g, their similarity is %g", i, c.Kept, c.Similarity, want)
			}
		}
		for i := range choices {
			for j := range choices {
				if i != j && choices[i].Kept == records.Number(i) && choices[j].Kept == records.Number(j) {
					if _, ok := joined[[2]records.Number{first[i], first[j]}]; ok || first[i] == first[j] {
						t.Fatalf("%d and %d are both kept", i, j)
					}
				}
			}
		}
	}
}

// choose returns the choices of documents whose edges all count. First holds the first document that is identical to
// each one.
func choose(order, first []records.Number, sides []uint64, edges []Edge) []Choice {
	store := new(paged.Store)
	class := map[records.Number]records.Number{}
	classes := make([]records.Number, len(first))
	distinct := records.Number(0)
	for i, of := range first {
		if of == records.Number(i) {
			class[of] = distinct
			distinct++
		}
		classes[i] = class[of]
	}
	edge := func(i int) (Edge, bool) {
		e := edges[i]
		e.A, e.B = class[e.A], class[e.B]
		return e, true
	}
	d := Documents{
		Store:    store,
		Order:    paged.Of[records.Number](store, order),
		Classes:  paged.Of[records.Number](store, classes),
		Distinct: distinct,
	}
	if sides != nil {
		d.Sides = paged.Of[records.Number](store, sides)
	}
	into := paged.New[records.Number, Choice](store, len(first))
	Choose(d, into, len(edges), edge)
	choices, _ := into.Whole()
	return choices
}

// TestChooseIsTheDefinition compares the choice with one that looks, for each document, at all that are kept before it.
func TestChooseIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for trial := range 500 {
		n := 1 + random.IntN(30)
		var order []records.Number
		first, sides := make([]records.Number, n), []uint64(nil)
		if trial%2 == 0 {
			sides = make([]uint64, n)
		}
		apart := func(i, j records.Number) bool { return sides != nil && sides[i] == sides[j] }
		for i := range n {
			if first[i] = records.Number(i); i > 0 && random.IntN(3) == 0 {
				first[i] = first[random.IntN(i)]
			}
			if sides != nil {
				sides[i] = uint64(random.IntN(3))
			}
		}
		for _, i := range random.Perm(n) {
			order = append(order, records.Number(i))
		}
		similarity := map[[2]records.Number]float64{} // 0: no edge
		var edges []Edge
		for range random.IntN(3 * n) {
			e := Edge{A: first[random.IntN(n)], B: first[random.IntN(n)], Similarity: float64(1+random.IntN(5)) / 5}
			if e.A != e.B && similarity[[2]records.Number{e.A, e.B}] == 0 {
				similarity[[2]records.Number{e.A, e.B}] = e.Similarity
				similarity[[2]records.Number{e.B, e.A}] = e.Similarity
				edges = append(edges, e)
			}
		}
		want := make([]Choice, n)
		for at, i := range order {
			before := order[:at]
			want[i] = Choice{i, 1}
			best := 0.0
			for _, j := range before {
				s := similarity[[2]records.Number{first[i], first[j]}]
				if first[i] == first[j] {
					s = 1
				}
				if want[j].Kept == j && s > best && !apart(i, j) {
					best, want[i] = s, Choice{j, s}
				}
			}
		}
		if got := choose(order, first, sides, edges); !slices.Equal(got, want) {
			t.Fatalf("order %v, classes %v, sides %v, edges %v: %v, want %v", order, first, sides, edges, got, want)
		}
	}
}
