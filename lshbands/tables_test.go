package lshbands

import (
	"math"
	"testing"
)

func TestPlanTables(t *testing.T) {
	for _, c := range []struct{ bits, distance, tables, prefix int }{
		{64, 0, 1, 64},
		{64, 3, 4, 16},
		{64, 6, 28, 16},
		{128, 3, 4, 32},
		{256, 12, 13, 19},
	} {
		p, err := PlanTables(c.bits, c.distance)
		if err != nil || p.Tables() != c.tables || shortest(p) != c.prefix {
			t.Errorf("%d bits within %d: %d tables of %d bits, %v; want %d of %d", c.bits, c.distance, p.Tables(),
				shortest(p), err, c.tables, c.prefix)
		}
	}
	if p, err := PlanTables(64, 3, 4, 4); err != nil || p.Tables() != 16 || shortest(p) != 28 {
		t.Errorf("blocks of two levels: %v, %v", p, err)
	}
	if _, err := PlanTables(64, 3, 3); err == nil {
		t.Error("three blocks for a distance of 3")
	}
	if _, err := PlanTables(64, 64); err == nil {
		t.Error("tables for a distance of all bits")
	}
}

func TestPlanTablesFor(t *testing.T) {
	for documents, tables := range map[float64]int{1: 4, UsualDocuments: 4, 1e8: 10, 1e9: 10} {
		p, err := PlanTablesFor(64, 3, documents)
		if err != nil || p.Tables() != tables {
			t.Errorf("%g documents: %d tables, %v, want %d", documents, p.Tables(), err, tables)
		}
		for _, blocks := range [][]int{{4}, {5}, {4, 4}, {6}} {
			other, err := NewPermuted(64, 3, blocks...)
			if err != nil || other.CPUSeconds(documents) < p.CPUSeconds(documents) {
				t.Errorf("%g documents: blocks %v are cheaper (%v)", documents, blocks, err)
			}
		}
	}
}

// shortest returns the length of the shortest prefix.
func shortest(p *Permuted) int {
	bits := math.MaxInt
	for table := range p.Tables() {
		bits = min(bits, p.PrefixBits(table))
	}
	return bits
}
