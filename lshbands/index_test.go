package lshbands

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mirrorbeam.dev/sketch"
)

// family returns a set that is more or less like the others of its family. Its elements are small numbers, as a user
// of the index may have.
func family(random *rand.Rand, number, size int) []uint64 {
	set := map[uint64]bool{}
	for range size {
		from := uint64(number * 1000)
		if random.IntN(10) == 0 {
			from = 1 << 20
		}
		set[from+random.Uint64N(uint64(size))] = true
	}
	var sorted []uint64
	for element := range set {
		sorted = append(sorted, element)
	}
	slices.Sort(sorted)
	return sorted
}

// indexModel is what an Index is: sets in the order of arrival.
type indexModel struct {
	ids  []int
	sets map[int][]uint64
}

func (m *indexModel) remove(id int) bool {
	_, found := m.sets[id]
	delete(m.sets, id)
	m.ids = slices.DeleteFunc(m.ids, func(other int) bool { return other == id })
	return found
}

func (m *indexModel) similar(set []uint64, threshold float64) (found []Similar[int]) {
	for id, other := range m.sets {
		if similarity := sketch.Jaccard(set, other); similarity >= threshold {
			found = append(found, Similar[int]{id, similarity})
		}
	}
	slices.SortFunc(found, func(a, b Similar[int]) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// TestIndex: whatever is added and removed, a query finds what a list of all sets does: all of it with a recall of 1,
// nearly all by bands, and with estimates near the similarities.
func TestIndex(t *testing.T) {
	for _, o := range []IndexOptions{
		{Threshold: 0.7, Recall: 1, Exact: true},
		{Threshold: 0.4, Recall: 1, Exact: true, Window: 40},
		{Threshold: 0.5, Exact: true},
		{Threshold: 0.5, Exact: true, Window: 1},
		{Threshold: 0.5, Window: 70},
		{Threshold: 1},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			x, err := NewIndex[int](o)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(3, uint64(o.Window)))
			m := indexModel{sets: map[int][]uint64{}}
			expected, met := 0, 0
			for step := range 1500 {
				id, set := random.IntN(200), family(random, random.IntN(4), random.IntN(60))
				if step%5 == 0 {
					if got, want := x.Remove(id), m.remove(id); got != want {
						t.Fatalf("step %d: removed: %v, want %v", step, got, want)
					}
				} else {
					if err := x.Add(id, set); err != nil {
						t.Fatal(err)
					}
					m.remove(id)
					if o.Window > 0 && len(m.ids) == o.Window {
						m.remove(m.ids[0])
					}
					m.ids, m.sets[id] = append(m.ids, id), set
				}
				query := family(random, random.IntN(4), random.IntN(60))
				got, err := x.Query(nil, query)
				want := m.similar(query, o.Threshold)
				if err != nil || x.Len() != len(m.ids) || o.Recall == 1 && !slices.Equal(got, want) {
					t.Fatalf("step %d: %v, want %v (%v); %d documents, want %d", step, got, want, err, x.Len(),
						len(m.ids))
				}
				expected, met = expected+len(want), met+checkFound(t, o, got, want, m.sets, query)
			}
			// Half of the estimates at the threshold are below it.
			least := 0.98
			if !o.Exact {
				least = 0.6
			}
			if float64(met) < least*float64(expected) || expected == 0 {
				t.Errorf("%d of %d are found", met, expected)
			}
		})
	}
}

// checkFound checks the similarities of what was found, and returns how many of the wanted ones it has.
func checkFound(t *testing.T, o IndexOptions, got, want []Similar[int], sets map[int][]uint64,
	query []uint64,
) (met int) {
	t.Helper()
	for _, found := range got {
		exact, inexact := sketch.Jaccard(query, sets[found.ID]), 0.25
		if o.Exact {
			inexact = 0
		}
		if math.Abs(found.Similarity-exact) > inexact {
			t.Errorf("%d has the similarity %g, want %g", found.ID, found.Similarity, exact)
		}
		if slices.ContainsFunc(want, func(w Similar[int]) bool { return w.ID == found.ID }) {
			met++
		}
	}
	return met
}

// TestIndexReaders: queries run while documents come and go. The race detector looks on.
func TestIndexReaders(t *testing.T) {
	x, err := NewIndex[string](IndexOptions{Threshold: 0.5, Window: 50})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Add("stays", []uint64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 300 {
				found, err := x.Query(nil, []uint64{1, 2, 3})
				if err != nil || len(found) == 0 || found[0] != (Similar[string]{"stays", 1}) {
					t.Errorf("%v, %v", found, err)
				}
			}
		})
	}
	for i := range uint64(40) {
		if err := x.Add(fmt.Sprint(i), []uint64{i * 10, i*10 + 1}); err != nil {
			t.Error(err)
		}
		x.Remove(fmt.Sprint(i / 2))
	}
	readers.Wait()
}

// TestIndexFaults: impossible options and sets that are none are errors.
func TestIndexFaults(t *testing.T) {
	for _, o := range []IndexOptions{
		{},
		{Threshold: 2},
		{Threshold: math.NaN()},
		{Threshold: 0.5, Recall: -1},
		{Threshold: 0.5, Recall: 1},
		{Threshold: 0.5, Window: -1},
		{Threshold: 1e-9},
	} {
		if _, err := NewIndex[int](o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	x, err := NewIndex[float64](IndexOptions{Threshold: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]uint64{{2, 1}, {1, 1}} {
		if _, err := x.Query(nil, set); err == nil || x.Add(1, set) == nil {
			t.Errorf("%v is taken", set)
		}
	}
	if x.Add(math.NaN(), nil) == nil {
		t.Error("an id that is not equal to itself is taken")
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, o := range []IndexOptions{{Threshold: 0.8}, {Threshold: 0.8, Exact: true}} {
		b.Run(fmt.Sprint(o), func(b *testing.B) {
			x, err := NewIndex[uint64](o)
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			set := make([]uint64, 200)
			draw := func() []uint64 {
				for i := range set {
					set[i] = random.Uint64()
				}
				slices.Sort(set)
				return set
			}
			b.Run("Add", func(b *testing.B) {
				for id := uint64(0); b.Loop(); id++ {
					if err := x.Add(id, draw()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("Query", func(b *testing.B) {
				draw()
				for b.Loop() {
					if _, err := x.Query(nil, set); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
