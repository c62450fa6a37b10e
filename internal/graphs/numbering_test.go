package graphs

import (
	"math/rand/v2"
	"testing"
)

// TestSetNumbersLikeAMap draws keys that agree in their low or high bits, as
// refs and pairs do.
func TestSetNumbersLikeAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s Numbering[uint32]
	for _, shift := range []int{0, 20, 32, 44} {
		s.Reset()
		want := map[uint64]uint32{}
		for range 50_000 {
			key := uint64(random.IntN(20_000)) << shift
			number, found := s.Find(key)
			known, ok := want[key]
			if found != ok || found && number != known {
				t.Fatalf("Find(%d) = %d, %v, want %d, %v", key, number, found, known, ok)
			}
			number, isNew := s.Add(key)
			if isNew == ok || ok && number != known || !ok && int(number) != len(want) {
				t.Fatalf("Add(%d) = %d, %v, known: %d, %v", key, number, isNew, known, ok)
			}
			want[key] = number
			if s.Keys[number] != key {
				t.Fatalf("Keys[%d] = %d, want %d", number, s.Keys[number], key)
			}
		}
		if len(s.Keys) != len(want) {
			t.Errorf("%d keys, want %d", len(s.Keys), len(want))
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 1<<16)
	for i := range keys {
		keys[i] = uint64(random.IntN(1<<15)) * 970
	}
	var s Numbering[uint32]
	for b.Loop() {
		s.Reset()
		for _, key := range keys {
			s.Add(key)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
}
