package lshbands

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNeighbours: a fingerprint has a neighbour where a comparison with all says so.
func TestNeighbours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for _, c := range []struct{ bits, distance, rows int }{
		{64, 3, 0},
		{64, 3, 1},
		{64, 3, 900},
		{128, 6, 300},
		{64, 9, 200},
		{64, 0, 50},
		{64, 3, 40_000},
	} {
		tables, err := PlanTables(c.bits, c.distance)
		if err != nil {
			t.Fatal(err)
		}
		words := c.bits / 64
		all := make([]uint64, c.rows*words)
		for i := range all {
			all[i] = random.Uint64()
		}
		neighbours := NewNeighbours(tables, slices.Clone(all))
		near := 0
		for range 2000 {
			query := make([]uint64, words)
			for i := range query {
				query[i] = random.Uint64()
			}
			if c.rows > 0 && random.IntN(3) > 0 {
				row := random.IntN(c.rows)
				copy(query, all[row*words:])
				for range random.IntN(2*c.distance + 2) {
					query[random.IntN(words)] ^= 1 << random.IntN(64)
				}
			}
			want := false
			for row := range c.rows {
				distance := 0
				for i, word := range query {
					distance += bits.OnesCount64(word ^ all[row*words+i])
				}
				want = want || distance <= c.distance
			}
			if neighbours.Has(query) != want {
				t.Fatalf("%d fingerprints of %d bits: %x has a neighbour: %t, want %t", c.rows, c.bits, query, !want,
					want)
			}
			if want {
				near++
			}
		}
		if c.rows > 0 && near < 300 {
			t.Errorf("%d bits: only %d of 2000 have a neighbour", c.bits, near)
		}
	}
}
