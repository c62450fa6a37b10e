package asmkernels

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// naiveCounters adds words to counters bit by bit.
func naiveCounters(c *BitCounters, words []uint64) {
	var tallies [64]uint64
	for i := range tallies {
		for p, plane := range c {
			tallies[i] |= plane >> i & 1 << p
		}
		for _, word := range words {
			tallies[i] += word >> i & 1
		}
	}
	clear(c[:])
	for i, tally := range tallies {
		for p := range c {
			c[p] |= tally >> p & 1 << i
		}
	}
}

// mixed returns the outputs of SplitMix for states plus offset.
func mixed(states []uint64, offset uint64) (words []uint64) {
	for _, state := range states {
		words = append(words, SplitMix(state+offset))
	}
	return words
}

// checkCounters compares both ways of counting with the definition, from the
// given counters on.
func checkCounters(t *testing.T, before BitCounters, words []uint64, offset uint64) {
	t.Helper()
	got, want := before, before
	got.Add(words)
	naiveCounters(&want, words)
	if got != want {
		t.Fatalf("counters of %d words: %x, want %x", len(words), got, want)
	}
	got, want = before, before
	got.AddMixed(words, offset)
	naiveCounters(&want, mixed(words, offset))
	if got != want {
		t.Fatalf("counters of %d mixed words: %x, want %x", len(words), got, want)
	}
}

// randomCounters returns counters in which some are about to overflow into the
// upper planes.
func randomCounters(random *rand.Rand) (c BitCounters) {
	for p := range c {
		c[p] = random.Uint64() | random.Uint64() | random.Uint64()
	}
	return c
}

func randomWords(random *rand.Rand, size int) []uint64 {
	words := make([]uint64, size)
	for i := range words {
		words[i] = random.Uint64()
	}
	return words
}

func TestBitCounters(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(81, 82))
		for size := range 300 {
			checkCounters(t, BitCounters{}, randomWords(random, size), random.Uint64())
			checkCounters(t, randomCounters(random), randomWords(random, size), random.Uint64())
		}
		for _, size := range []int{1019, 1020, 1021, 2039, 2040, 2041, 5000} {
			checkCounters(t, randomCounters(random), randomWords(random, size), random.Uint64())
			// All bits set make every counter as large as it gets.
			words := make([]uint64, size)
			for i := range words {
				words[i] = ^uint64(0)
			}
			checkCounters(t, BitCounters{}, words, 1)
		}
	})
}

// TestSplitMix compares with the first outputs for the seed 1234567 of the
// generator's public C program.
func TestSplitMix(t *testing.T) {
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		state += SplitMixStep
		if got := SplitMix(state); got != want {
			t.Errorf("SplitMix = %d, want %d", got, want)
		}
	}
}

func TestBitCountersAllocate(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		words := make([]uint64, 3000)
		if n := testing.AllocsPerRun(10, func() {
			var c BitCounters
			c.Add(words)
			c.AddMixed(words, 1)
		}); n != 0 {
			t.Errorf("counting allocates %v times", n)
		}
	})
}

func FuzzBitCounters(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint64(1), uint8(1))
	f.Add(make([]byte, 8*70), uint64(1)<<63, uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, offset uint64, times uint8) {
		var words []uint64
		for range times {
			for i := 0; i+8 <= len(data) && len(words) < 5000; i += 8 {
				words = append(words, binary.LittleEndian.Uint64(data[i:]))
			}
		}
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			checkCounters(t, randomCounters(rand.New(rand.NewPCG(offset, 1))), words, offset)
			SelectTier(before)
		}
	})
}

func BenchmarkBitCounters(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(83, 84))
		for _, size := range []int{20, 200, 2000} {
			words := randomWords(random, size)
			var c BitCounters
			for name, work := range map[string]func(){
				"raw":   func() { c.Add(words) },
				"mixed": func() { c.AddMixed(words, 1) },
			} {
				b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
					for b.Loop() {
						c = BitCounters{}
						work()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/word")
				})
			}
		}
	})
}
