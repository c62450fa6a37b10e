package asmkernels

import (
	"fmt"
	"github.com/zeebo/xxh3"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func BenchmarkSetDigest(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	d := NewSetDigest(random.Uint64)
	for _, size := range []int{20, 100, 1000} {
		set := make([]uint64, size)
		for i := range set {
			set[i] = random.Uint64() >> 16
		}
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			for b.Loop() {
				d.Of(set)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
		})
		b.Run(fmt.Sprintf("xsize=%d", size), func(b *testing.B) {
			for b.Loop() {
				xxh3.HashSeed(unsafe.Slice((*byte)(unsafe.Pointer(&set[0])), 8*size), 3)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
		})
	}
}
