package sketch

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRunHash compares the hashes of runs with polynomials that are worked out with numbers of any size.
func TestRunHash(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	prime := big.NewInt(modulus)
	value := func(p *polynomial, first uint64, words []uint64) uint64 {
		sum := new(big.Int).SetUint64(first)
		for _, word := range words {
			sum.Mul(sum, new(big.Int).SetUint64(p.point))
			sum.Mod(sum.Add(sum, new(big.Int).SetUint64(word)), prime)
		}
		return sum.Uint64()
	}
	for length := 1; length < 9; length++ {
		h := NewRunHash(random.Uint64(), length)
		words := make([]uint64, 40)
		for i := range words {
			words[i] = random.Uint64() >> (16 + 40*(i%2))
		}
		at := int64(0)
		err := h.Each(words, func(first int64, run Run) error {
			own := words[first:][:length]
			if want := runOf(value(&h.hash, 0, own), value(&h.check, 0, own)); first != at || run != want {
				t.Fatalf("run %d of %d words: %+v, want %+v of %d", first, length, run, want, at)
			}
			if want := runOf(value(&h.hash, 1, own), value(&h.check, 1, own)); h.Of(own) != want {
				t.Fatalf("one run of %d words: %+v, want %+v", length, h.Of(own), want)
			}
			at++
			return nil
		})
		if err != nil || at != int64(len(words)-length+1) || h.hash.point == h.check.point {
			t.Fatalf("%d runs, %v; points %d and %d", at, err, h.hash.point, h.check.point)
		}
	}
}
