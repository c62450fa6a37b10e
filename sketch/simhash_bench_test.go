package sketch

import (
	"math"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/asmkernels"
)

// weightedBitLoop is SimHashByBits with weights.
func weightedBitLoop(set []uint64, weight float64) uint64 {
	var tallies [64]float64
	signed := [2]float64{-weight, weight}
	for _, hash := range set {
		for i := range tallies {
			tallies[i] += signed[hash>>i&1]
		}
	}
	fingerprint := uint64(0)
	for i, tally := range tallies {
		if tally > 0 {
			fingerprint |= 1 << i
		}
	}
	return fingerprint
}

func BenchmarkSimHash(b *testing.B) {
	random := rand.New(rand.NewPCG(57, 58))
	for name, size := range map[string]int{"20": 20, "200": 200, "2000": 2000} {
		set := make([]uint64, size)
		for i := range set {
			set[i] = random.Uint64()
		}
		measure := func(name string, work func()) {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					work()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/feature")
			})
		}
		want := SimHashByBits(set)
		measure(name+"/bit-loop", func() { SimHashByBits(set) })
		measure(name+"/bit-loop-real-weight", func() { weightedBitLoop(set, math.Pi) })
		measure(name+"/byte-counters", func() { SimHashByBytes(set) })
		var fingerprint []uint64
		for _, c := range []struct {
			name    string
			options SimHashOptions
			weight  float64
		}{
			{"ours-raw", SimHashOptions{Bits: 64, Raw: true, Tie: TieZero}, 1},
			{"ours-64", SimHashOptions{Bits: 64}, 1},
			{"ours-256", SimHashOptions{Bits: 256}, 1},
			{"ours-1024", SimHashOptions{Bits: 1024}, 1},
			{"ours-64-integer-weight", SimHashOptions{Bits: 64}, 5},
			{"ours-64-real-weight", SimHashOptions{Bits: 64}, math.Pi},
		} {
			for _, tier := range asmkernels.Tiers() {
				before := asmkernels.SelectTier(tier)
				s := newSimHash(b, c.options)
				work := func() {
					s.Reset()
					if c.weight == 1 {
						s.AddSet(set)
					} else {
						for _, hash := range set {
							s.Add(hash, c.weight)
						}
					}
					fingerprint = s.Fingerprint(fingerprint)
				}
				if work(); c.options.Raw && fingerprint[0] != want {
					b.Fatalf("%s: %x, want %x", c.name, fingerprint[0], want)
				}
				measure(name+"/"+c.name+"/"+tier.String(), work)
				asmkernels.SelectTier(before)
			}
		}
	}
}
