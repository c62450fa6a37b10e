package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// liveModel is what a Live index is: fingerprints in the order of arrival.
type liveModel struct {
	ids  []uint64
	rows map[uint64][]uint64
}

func (m *liveModel) remove(id uint64) bool {
	_, found := m.rows[id]
	delete(m.rows, id)
	m.ids = slices.DeleteFunc(m.ids, func(other uint64) bool { return other == id })
	return found
}

func (m *liveModel) search(fingerprint []uint64, within int) (found []Near) {
	for id, row := range m.rows {
		distance := 0
		for i := range row {
			distance += bits.OnesCount64(row[i] ^ fingerprint[i])
		}
		if distance <= within {
			found = append(found, Near{id, distance})
		}
	}
	slices.SortFunc(found, func(a, b Near) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// TestLive: whatever is added and deleted, searches find what a list of all fingerprints does, also after the index was
// saved and loaded.
func TestLive(t *testing.T) {
	for _, o := range []LiveOptions{
		{Bits: 64, Distance: 3},
		{Bits: 32, Distance: 2, Window: 50},
		{Bits: 128, Distance: 6, Window: 1},
		{Bits: 256, Distance: 4, Blocks: []int{5}},
		{Bits: 1024, Distance: 8, Window: 90},
		{Bits: 64, Distance: 0},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			x, err := NewLive(o)
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
			m := liveModel{rows: map[uint64][]uint64{}}
			for step := range 1000 {
				id := random.Uint64N(200)
				switch step % 10 {
				case 0, 1:
					if got, want := x.Delete(id), m.remove(id); got != want {
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
				if step%300 == 299 {
					var saved bytes.Buffer
					if err := x.Save(&saved); err != nil {
						t.Fatal(err)
					}
					if x, err = LoadLive(&saved); err != nil {
						t.Fatal(err)
					}
				}
				query := near()
				got, err := x.Search(nil, query)
				if want := m.search(query, o.Distance); err != nil || !slices.Equal(got, want) ||
					x.Len() != len(m.ids) {
					t.Fatalf("step %d: %v, want %v (%v); %d fingerprints, want %d", step, got, want, err, x.Len(),
						len(m.ids))
				}
			}
		})
	}
}

// TestLiveReaders: searches run while fingerprints come and go. The race detector looks on.
func TestLiveReaders(t *testing.T) {
	x, err := NewLive(LiveOptions{Bits: 64, Distance: 3, Window: 100})
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
				if found, err := x.Search(nil, []uint64{7}); err != nil || len(found) == 0 || found[0].Distance != 0 {
					t.Errorf("%v, %v", found, err)
				}
			}
		})
	}
	for i := range uint64(90) {
		if err := x.Add(i, []uint64{i * 0x9e3779b97f4a7c15}); err != nil {
			t.Error(err)
		}
		x.Delete(i / 2)
	}
	readers.Wait()
}

// TestLiveFaults: impossible options, fingerprints of another length and damaged files are errors.
func TestLiveFaults(t *testing.T) {
	for _, o := range []LiveOptions{{}, {Bits: 48, Distance: 1}, {Bits: 64, Distance: -1}, {
		Bits:     64,
		Distance: 3,
		Window:   -1,
	}, {Bits: 64, Distance: 3, Blocks: []int{2}}} {
		if _, err := NewLive(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	x, err := NewLive(LiveOptions{Bits: 32, Distance: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]uint64{nil, {1, 2}, {1 << 32}} {
		_, err := x.Search(nil, row)
		if err == nil || x.Add(1, row) == nil {
			t.Errorf("%x is taken", row)
		}
	}
	if err := x.Add(1, []uint64{5}); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := x.Save(&saved); err != nil {
		t.Fatal(err)
	}
	for i := range saved.Bytes() {
		if _, err := LoadLive(bytes.NewReader(saved.Bytes()[:i])); err == nil {
			t.Errorf("the first %d bytes are loaded", i)
		}
		damaged := bytes.Clone(saved.Bytes())
		damaged[i] ^= 1
		if _, err := LoadLive(bytes.NewReader(damaged)); err == nil {
			t.Errorf("byte %d may be another one", i)
		}
	}
}

// FuzzLoadLive: no file makes the program panic, or take memory that the file does not have.
func FuzzLoadLive(f *testing.F) {
	x, err := NewLive(LiveOptions{Bits: 64, Distance: 1, Window: 3})
	if err == nil {
		err = x.Add(1, []uint64{5})
	}
	var saved bytes.Buffer
	if err == nil {
		err = x.Save(&saved)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Fuzz(func(_ *testing.T, file []byte) { _, _ = LoadLive(bytes.NewReader(file)) })
}

func ExampleLive() {
	index, err := NewLive(LiveOptions{Bits: 64, Distance: 3, Window: 1_000_000})
	if err != nil {
		panic(err)
	}
	_ = index.Add(1, []uint64{0xff00})
	_ = index.Add(2, []uint64{0x1234})
	found, _ := index.Search(nil, []uint64{0xff01})
	fmt.Println(found)
	// Output: [{1 1}]
}

func BenchmarkLive(b *testing.B) {
	x, err := NewLive(LiveOptions{Bits: 64, Distance: 3})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(1_000_000) {
		if err := x.Add(i, []uint64{random.Uint64()}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("Search", func(b *testing.B) {
		var found []Near
		for b.Loop() {
			found, _ = x.Search(found[:0], []uint64{random.Uint64()})
		}
	})
	b.Run("Replace", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			_ = x.Add(i%1_000_000, []uint64{random.Uint64()})
		}
	})
}
