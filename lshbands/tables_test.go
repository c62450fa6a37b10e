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

// shortest returns the length of the shortest prefix.
func shortest(p *Permuted) int {
	bits := math.MaxInt
	for table := range p.Tables() {
		bits = min(bits, p.PrefixBits(table))
	}
	return bits
}
