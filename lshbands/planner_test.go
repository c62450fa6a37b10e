package lshbands

import (
	"math"
	"slices"
	"testing"
)

func TestSchemesReachTheRecall(t *testing.T) {
	got := Schemes(0.8, 0.99)
	want := []Scheme{{3, 1}, {5, 2}, {7, 3}, {9, 4}, {12, 5}, {16, 6}, {20, 7}, {26, 8}}
	if !slices.Equal(got, want) {
		t.Errorf("schemes are %v, want %v", got, want)
	}
	for _, threshold := range []float64{0.3, 0.5, 0.7, 0.95, 1} {
		for _, s := range Schemes(threshold, 0.99) {
			if s.Bands > dearBands || s.Probability(threshold) < 0.99 {
				t.Errorf("at %g %v finds a pair with %.4f", threshold, s, s.Probability(threshold))
			}
			if fewer := (Scheme{s.Bands - 1, s.Rows}); s.Bands > 1 && fewer.Probability(threshold) >= 0.99 {
				t.Errorf("at %g %v would do in place of %v", threshold, fewer, s)
			}
		}
	}
}

// testWorkload is a million documents whose keys take 40 bytes each.
func testWorkload() Workload {
	return Workload{
		Documents: 1e6, Shingles: 100, RecordBytes: func(keys float64) float64 { return 40 * keys },
		Costs: Costs{Key: 1e-6, Component: 1e-9, Shingle: 1e-8, Comparison: 2e-6},
	}
}

func TestMinHashChoice(t *testing.T) {
	w := testWorkload()
	w.Memory = 2e8
	got := w.MinHash(Scheme{7, 3}, 0.8, 5e6)
	want := Choice{
		Scheme: Scheme{7, 3}, KeysPerDocument: 7, Probability: Scheme{7, 3}.Probability(0.8),
		Candidates: 5e6, PerProbe: 10, Bytes: 2.8e8,
		Seconds: 2.1 + 7 + 10, // signatures, keys, comparisons
	}
	if math.Abs(got.Seconds-want.Seconds) > 1e-9 {
		t.Errorf("it takes %g s, want %g", got.Seconds, want.Seconds)
	}
	if got.Seconds = want.Seconds; got.Fits || got.Candidates != want.Candidates || got.PerProbe != want.PerProbe || got.Bytes != want.Bytes || got.Probability != want.Probability {
		t.Errorf("the choice is %+v, want %+v", got, want)
	}
	w.Memory = 0
	if !w.MinHash(Scheme{7, 3}, 0.8, 5e6).Fits {
		t.Error("it does not fit where there is no limit")
	}
}

func TestExactChoice(t *testing.T) {
	got := testWorkload().Exact(7.5, 1e6)
	if math.Abs(got.Seconds-(1+7.5+2)) > 1e-9 || got.Bytes != 3e8 || got.Probability != 1 || got.PerProbe != 2 {
		t.Errorf("the choice is %+v", got)
	}
}

// TestArticleTables takes the configurations of an article on 2^34 fingerprints of 64
// bits: what one probe finds in a table is 2^34 shifted by the length of its
// prefix.
func TestArticleTables(t *testing.T) {
	w := testWorkload()
	w.Documents = 1 << 34
	for _, c := range []struct {
		distance int
		blocks   []int
		tables   float64
		prefix   int
		perProbe float64
	}{
		{3, []int{4}, 4, 16, 4 << 18},     // "about a million hamming checks per query overall"
		{3, []int{4, 4}, 16, 28, 16 << 6}, // "16 tables and getting on average 2^(34-28) = 64 results per query"
		{3, []int{6}, 20, 31, 0},
	} {
		p, err := NewPermuted(64, c.distance, c.blocks...)
		if err != nil {
			t.Fatal(err)
		}
		got := w.Permuted(p, c.blocks, -1)
		if got.KeysPerDocument != c.tables || got.PrefixBits != c.prefix || got.Distance != c.distance || c.perProbe > 0 && got.UniformPerProbe != c.perProbe {
			t.Errorf("blocks %v: %+v, want %v", c.blocks, got, c)
		}
		if want := w.Documents * got.UniformPerProbe / 2; got.Candidates != want || got.PerProbe != got.UniformPerProbe {
			t.Errorf("blocks %v: %g candidates, %g a probe; want %g, %g", c.blocks, got.Candidates, got.PerProbe, want, got.UniformPerProbe)
		}
		if got := w.Permuted(p, c.blocks, 7); got.Candidates != 7 {
			t.Errorf("blocks %v: %g candidates, 7 were measured", c.blocks, got.Candidates)
		}
	}
}

func TestTableSchemesAreOfUse(t *testing.T) {
	for _, c := range []struct{ bits, distance int }{{64, 0}, {64, 1}, {64, 3}, {64, 6}, {64, 10}, {128, 3}, {256, 20}} {
		all, err := TableSchemes(c.bits, c.distance)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bits, distance %d:", c.bits, c.distance)
		tables, bits := 0, -1
		for _, s := range all {
			shortest := shortest(s.Permuted)
			if want := shortestPrefix(c.bits, c.distance, s.Blocks); shortest != want {
				t.Errorf("%d bits, distance %d: blocks %v have prefixes of %d bits, thought to be %d", c.bits, c.distance, s.Blocks, shortest, want)
			}
			t.Logf("  blocks %v: %d tables, %d bits", s.Blocks, s.Tables(), shortest)
			if s.Tables() <= tables || shortest <= bits || s.Tables() > mostRankedTables {
				t.Errorf("%d bits, distance %d: blocks %v make %d tables with prefixes of %d bits, after %d with %d", c.bits, c.distance, s.Blocks, s.Tables(), shortest, tables, bits)
			}
			tables, bits = s.Tables(), shortest
		}
		if len(all) == 0 || all[0].Tables() > c.distance+1 {
			t.Errorf("%d bits, distance %d: the fewest tables are missing", c.bits, c.distance)
		}
	}
	if _, err := TableSchemes(63, 3); err == nil {
		t.Error("63 bits have tables")
	}
}

func TestCompareChoices(t *testing.T) {
	choices := []Choice{
		{KeysPerDocument: 1, Seconds: 1},
		{KeysPerDocument: 2, Seconds: 3, Fits: true},
		{KeysPerDocument: 3, Seconds: 2, Fits: true, Bytes: 2},
		{KeysPerDocument: 4, Seconds: 2, Fits: true, Bytes: 1},
	}
	slices.SortFunc(choices, func(a, b Choice) int { return a.Compare(&b) })
	var order []float64
	for _, c := range choices {
		order = append(order, c.KeysPerDocument)
	}
	if want := []float64{4, 3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}
