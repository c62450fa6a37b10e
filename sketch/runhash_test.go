package sketch

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"mirrorbeam/asmkernels"
)

// TestRunHash compares the hashes of windows with polynomials that are worked out with numbers of any size.
func TestRunHash(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	prime := big.NewInt(modulus)
	for length := 1; length < 9; length++ {
		h := NewRunHash(random.Uint64(), length)
		words := make([]uint64, 40)
		for i := range words {
			words[i] = random.Uint64() >> (16 + 40*(i%2))
		}
		at := int64(0)
		err := h.Each(words, func(from int64, hash uint64) error {
			if from != at {
				t.Fatalf("window %d, want %d", from, at)
			}
			at++
			sum := new(big.Int)
			for _, word := range words[from:][:length] {
				sum.Mul(sum, new(big.Int).SetUint64(h.point))
				sum.Mod(sum.Add(sum, new(big.Int).SetUint64(word)), prime)
			}
			if want := asmkernels.SplitMix(sum.Uint64()); hash != want {
				t.Fatalf("window %d of %d words: %x, want %x", from, length, hash, want)
			}
			return nil
		})
		if err != nil || at != int64(len(words)-length+1) {
			t.Fatalf("%d windows, %v", at, err)
		}
	}
}
