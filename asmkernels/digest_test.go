package asmkernels

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveDigest is the definition of the digest of a set.
func naiveDigest(d *SetDigest, set []uint64) (digest [2]uint64) {
	for i, point := range d.points {
		value := big.NewInt(int64(len(set)))
		for first := 0; first < len(set); first += digestBlock {
			block := slices.Clone(set[first:min(first+digestBlock, len(set))])
			sum := new(big.Int)
			for at := 0; at < len(block); at += 2 {
				factors := [2]uint64{d.keys[at] + block[at], d.keys[at+1]}
				if at+1 < len(block) {
					factors[1] += block[at+1]
				}
				sum.Add(sum, new(big.Int).Mul(new(big.Int).SetUint64(factors[0]), new(big.Int).SetUint64(factors[1])))
			}
			for shift := range 3 { // 128 bits: 43, 43 and 42
				part := new(big.Int).Rsh(sum, uint(43*shift))
				part.Mod(part, new(big.Int).Lsh(big.NewInt(1), uint(min(43, 128-43*shift))))
				value.Mul(value, new(big.Int).SetUint64(point.x))
				value.Mod(value.Add(value, part), big.NewInt(1<<61-1))
			}
		}
		digest[i] = SplitMix(value.Uint64())
	}
	return digest
}

// TestSetDigest compares with the definition. Sets that differ a little have different digests.
func TestSetDigest(t *testing.T) {
	random := drawn(t)
	for _, size := range []int{1, 2, 3, 7, 8, 9, 127, 128, 129, 130, 256, 1000} {
		d := NewSetDigest(random.Uint64)
		set := make([]uint64, size)
		for i := range set {
			set[i] = random.Uint64() >> (64 - ElementBits)
		}
		slices.Sort(set)
		want := d.Of(set)
		if naive := naiveDigest(d, set); naive != want {
			t.Errorf("digest of %d elements = %x, want %x", size, want, naive)
		}
		for i := range set {
			for bit := range ElementBits {
				set[i] ^= 1 << bit
				if got := d.Of(set); got[0] == want[0] || got[1] == want[1] {
					t.Errorf("bit %d of element %d of %d does not count", bit, i, size)
				}
				set[i] ^= 1 << bit
			}
		}
		for _, other := range [][]uint64{set[1:], append(slices.Clone(set), 0), append([]uint64{0}, set...)} {
			if got := d.Of(other); got[0] == want[0] || got[1] == want[1] {
				t.Errorf("%d elements have the digest of %d", len(other), size)
			}
		}
	}
}

func BenchmarkSetDigest(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	d := NewSetDigest(random.Uint64)
	for _, size := range []int{20, 100, 1000} {
		set := make([]uint64, size)
		for i := range set {
			set[i] = random.Uint64() >> (64 - ElementBits)
		}
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			for b.Loop() {
				d.Of(set)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
		})
	}
}
