package lshbands

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// hammingModel is what a HammingIndex is: fingerprints in the order of arrival.
type hammingModel struct {
	ids  []uint64
	rows map[uint64][]uint64
}

func (m *hammingModel) remove(id uint64) bool {
	_, found := m.rows[id]
	delete(m.rows, id)
	m.ids = slices.DeleteFunc(m.ids, func(other uint64) bool { return other == id })
	return found
}

func (m *hammingModel) search(fingerprint []uint64, within int) (found []Near[uint64]) {
	for id, row := range m.rows {
		distance := 0
		for i := range row {
			distance += bits.OnesCount64(row[i] ^ fingerprint[i])
		}
		if distance <= within {
			found = append(found, Near[uint64]{id, distance})
		}
	}
	slices.SortFunc(found, func(a, b Near[uint64]) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// TestHammingIndex: whatever is added and deleted, searches find what a list of all fingerprints does.
func TestHammingIndex(t *testing.T) {
	for _, o := range []HammingOptions{
		{Bits: 64, Distance: 3},
		{Bits: 32, Distance: 2, Window: 50},
		{Bits: 128, Distance: 6, Window: 1},
		{Bits: 256, Distance: 4, Blocks: []int{5}},
		{Bits: 1024, Distance: 8, Window: 90},
		{Bits: 64, Distance: 0},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			x, err := NewHammingIndex[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(uint64(o.Bits), uint64(o.Distance)))
			words := (o.Bits + 63) / 64
			centres := make([][]uint64, 4)
			for i := range centres {
				for range words {
					centres[i] = append(centres[i], random.Uint64()>>max(64-o.Bits, 0))
				}
			}
			near := func() []uint64 {
				row := slices.Clone(centres[random.IntN(len(centres))])
				for range random.IntN(o.Distance + 2) {
					bit := random.IntN(o.Bits)
					row[bit/64] ^= 1 << (bit % 64)
				}
				return row
			}
			m := hammingModel{rows: map[uint64][]uint64{}}
			for step := range 1000 {
				id := random.Uint64N(200)
				switch step % 10 {
				case 0, 1:
					if got, want := x.Remove(id), m.remove(id); got != want {
						t.Fatalf("step %d: deleted: %v, want %v", step, got, want)
					}
				default:
					row := near()
					if err := x.Add(id, row); err != nil {
						t.Fatal(err)
					}
					m.remove(id)
					if o.Window > 0 && len(m.ids) == o.Window {
						m.remove(m.ids[0])
					}
					m.ids, m.rows[id] = append(m.ids, id), row
				}
				query := near()
				got, err := x.Query(nil, query)
				if want := m.search(query, o.Distance); err != nil || !slices.Equal(got, want) ||
					x.Len() != len(m.ids) {
					t.Fatalf("step %d: %v, want %v (%v); %d fingerprints, want %d", step, got, want, err, x.Len(),
						len(m.ids))
				}
			}
		})
	}
}

// TestHammingIndexReaders: searches run while fingerprints come and go. The race detector looks on.
func TestHammingIndexReaders(t *testing.T) {
	x, err := NewHammingIndex[uint64](HammingOptions{Bits: 64, Distance: 3, Window: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Add(1<<40, []uint64{7}); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 300 {
				if found, err := x.Query(nil, []uint64{7}); err != nil || len(found) == 0 || found[0].Distance != 0 {
					t.Errorf("%v, %v", found, err)
				}
			}
		})
	}
	for i := range uint64(90) {
		if err := x.Add(i, []uint64{i * 0x9e3779b97f4a7c15}); err != nil {
			t.Error(err)
		}
		x.Remove(i / 2)
	}
	readers.Wait()
}

// TestHammingIndexFaults: impossible options and fingerprints of another length are errors.
func TestHammingIndexFaults(t *testing.T) {
	for _, o := range []HammingOptions{{}, {Bits: 48, Distance: 1}, {Bits: 64, Distance: -1}, {
		Bits:     64,
		Distance: 3,
		Window:   -1,
	}, {Bits: 64, Distance: 3, Blocks: []int{2}}} {
		if _, err := NewHammingIndex[uint64](o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	x, err := NewHammingIndex[uint64](HammingOptions{Bits: 32, Distance: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]uint64{nil, {1, 2}, {1 << 32}} {
		_, err := x.Query(nil, row)
		if err == nil || x.Add(1, row) == nil {
			t.Errorf("%x is taken", row)
		}
	}
	if err := x.Add(1, []uint64{5}); err != nil {
		t.Fatal(err)
	}
}

// TestHammingIndexTables: a million fingerprints have more tables than a thousand, but no more than make a difference.
func TestHammingIndexTables(t *testing.T) {
	for _, c := range []struct{ bits, distance, window, tables int }{
		{64, 3, 1000, 4}, {64, 3, 0, 10}, {64, 3, 1e9, 20}, {64, 6, 0, 28}, {128, 3, 1e6, 4}, {32, 3, 1000, 4},
	} {
		x, err := NewHammingIndex[int](HammingOptions{Bits: c.bits, Distance: c.distance, Window: c.window})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.tables.Tables(); got != c.tables {
			t.Errorf("%+v: %d tables", c, got)
		}
	}
}

// BenchmarkHammingIndex compares tables: those that the index chooses, and fewer and more.
func BenchmarkHammingIndex(b *testing.B) {
	for _, blocks := range [][]int{nil, {4}, {6}} {
		x, err := NewHammingIndex[uint64](HammingOptions{Bits: 64, Distance: 3, Blocks: blocks})
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range uint64(1_000_000) {
			if err := x.Add(i, []uint64{random.Uint64()}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%v/Query", blocks), func(b *testing.B) {
			var found []Near[uint64]
			for b.Loop() {
				found, _ = x.Query(found[:0], []uint64{random.Uint64()})
			}
		})
		b.Run(fmt.Sprintf("%v/Replace", blocks), func(b *testing.B) {
			for i := uint64(0); b.Loop(); i++ {
				_ = x.Add(i%1_000_000, []uint64{random.Uint64()})
			}
		})
	}
}
