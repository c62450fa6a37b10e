package lshbands

import (
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
			if s.Bands > expensiveBands || s.Probability(threshold) < 0.99 {
				t.Errorf("at %g %v finds a pair with %.4f", threshold, s, s.Probability(threshold))
			}
			if fewer := (Scheme{s.Bands - 1, s.Rows}); s.Bands > 1 && fewer.Probability(threshold) >= 0.99 {
				t.Errorf("at %g %v would do instead of %v", threshold, fewer, s)
			}
		}
	}
}

// TestArticleTables takes the configurations of an article on 2^34 fingerprints of 64
// bits: what one probe finds in a table is 2^34 shifted by the length of its
// prefix.
func TestArticleTables(t *testing.T) {
	for _, c := range []struct {
		blocks   []int
		tables   int
		prefix   int
		perProbe float64
	}{
		{[]int{4}, 4, 16, 4 << 18},     // "about a million hamming checks per query overall"
		{[]int{4, 4}, 16, 28, 16 << 6}, // "16 tables and getting on average 2^(34-28) = 64 results per query"
	} {
		p, err := NewPermuted(64, 3, c.blocks...)
		if err != nil {
			t.Fatal(err)
		}
		perProbe := 0.
		for table := range p.Tables() {
			perProbe += p.ExpectedCandidates(table, 1<<34)
		}
		if p.Tables() != c.tables || shortest(p) != c.prefix || perProbe != c.perProbe {
			t.Errorf("blocks %v: %d tables of %d bits find %g, want %+v", c.blocks, p.Tables(), shortest(p), perProbe,
				c)
		}
	}
}

func TestTableSchemesAreOfUse(t *testing.T) {
	for _, c := range []struct{ bits, distance int }{
		{64, 0},
		{64, 1},
		{64, 3},
		{64, 6},
		{64, 10},
		{128, 3},
		{256, 20},
	} {
		all, err := TableSchemes(c.bits, c.distance)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bits, distance %d:", c.bits, c.distance)
		tables, bits := 0, -1
		for _, s := range all {
			shortest := shortest(s)
			if want := shortestPrefix(c.bits, c.distance, s.Blocks()); shortest != want {
				t.Errorf("%d bits, distance %d: blocks %v have prefixes of %d bits, thought to be %d", c.bits,
					c.distance, s.Blocks(), shortest, want)
			}
			t.Logf("  blocks %v: %d tables, %d bits", s.Blocks(), s.Tables(), shortest)
			if s.Tables() <= tables || shortest <= bits || s.Tables() > mostRankedTables {
				t.Errorf("%d bits, distance %d: blocks %v make %d tables with prefixes of %d bits, after %d with %d",
					c.bits, c.distance, s.Blocks(), s.Tables(), shortest, tables, bits)
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
