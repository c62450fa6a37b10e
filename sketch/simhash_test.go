package sketch

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func newSimHash(t testing.TB, o SimHashOptions) *SimHash {
	t.Helper()
	s, err := NewSimHash(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// feature is a weighted feature.
type feature struct {
	hash   uint64
	weight float64
}

// naiveSimHash is the definition, bit by bit, with weights in units of 2^-24.
func naiveSimHash(o SimHashOptions, features []feature) []uint64 {
	tallies := make([]int64, o.Bits)
	for _, f := range features {
		weight := int64(math.RoundToEven(f.weight * (1 << 24)))
		state := f.hash
		for i := 0; i < o.Bits; i += 64 {
			state += 0x9e3779b97f4a7c15
			x := (state ^ state>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			x ^= x >> 31
			if o.Raw {
				x = f.hash
			}
			for bit := range 64 {
				to := i + bit
				if o.FastSimHash {
					to = i + bit%8*8 + bit/8
				}
				if x>>bit&1 != 0 {
					tallies[to] += weight
				} else {
					tallies[to] -= weight
				}
			}
		}
	}
	fingerprint := make([]uint64, o.Bits/64)
	for i, tally := range tallies {
		tie := tally == 0 && (o.Tie == TieOne || o.Tie == TieAlternate && i%2 == 1)
		if tally > 0 || tie {
			fingerprint[i/64] |= 1 << (i % 64)
		}
	}
	return fingerprint
}

// simHashOptions are the options that are compared with the definition.
func simHashOptions() []SimHashOptions {
	var all []SimHashOptions
	for _, tie := range []Tie{TieAlternate, TieZero, TieOne} {
		all = append(all, SimHashOptions{Bits: 64, Tie: tie, Raw: true})
		for _, bits := range []int{64, 192, 1024} {
			all = append(all, SimHashOptions{Bits: bits, Tie: tie}, SimHashOptions{
				Bits:        bits,
				Tie:         tie,
				FastSimHash: true,
			})
		}
	}
	return all
}

func TestSimHash(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 52))
	weights := []func() float64{
		func() float64 { return 1 },
		func() float64 { return float64(random.IntN(4)) },
		func() float64 { return float64(random.IntN(9) - 4) },
		func() float64 { return random.ExpFloat64() },
		func() float64 { return random.NormFloat64() / 1e6 },
		func() float64 { return math.Ldexp(1, -random.IntN(26)) },
		func() float64 { return float64(random.IntN(1 << 20)) },
	}
	for _, o := range simHashOptions() {
		s := newSimHash(t, o)
		for _, size := range []int{0, 1, 2, 3, 15, 16, 17, 40, 300} {
			for kind, weight := range weights {
				features := make([]feature, size)
				s.Reset()
				for i := range features {
					// Few different hashes, for ties.
					features[i] = feature{random.Uint64N(50) * 0x0123456789abcdef, weight()}
					s.Add(features[i].hash, features[i].weight)
				}
				want := naiveSimHash(o, features)
				if got := s.Fingerprint(nil); !slices.Equal(got, want) {
					t.Fatalf("%+v of %d features, weights %d: %x, want %x", o, size, kind, got, want)
				}
				s.Reset()
				random.Shuffle(size, func(i, j int) { features[i], features[j] = features[j], features[i] })
				for _, f := range features {
					s.Add(f.hash, f.weight)
				}
				if got := s.Fingerprint(nil); !slices.Equal(got, want) {
					t.Fatalf("%+v of %d features, weights %d: the order matters", o, size, kind)
				}
			}
		}
	}
}

func TestSimHashSet(t *testing.T) {
	random := rand.New(rand.NewPCG(53, 54))
	o := SimHashOptions{Bits: 128}
	bulk, single := newSimHash(t, o), newSimHash(t, o)
	for range 50 {
		hash := random.Uint64()
		bulk.Add(hash, 1)
		single.Add(hash, 1)
		set := make([]uint64, random.IntN(100))
		for i := range set {
			set[i] = random.Uint64()
			single.Add(set[i], 1)
		}
		bulk.AddSet(set)
		// Fingerprints in between do not disturb.
		if a, b := bulk.Fingerprint(nil), single.Fingerprint(nil); !slices.Equal(a, b) {
			t.Fatalf("as a set %x, one by one %x", a, b)
		}
	}
}

// TestSimHashLimits checks what becomes of weights that cannot be counted.
func TestSimHashLimits(t *testing.T) {
	fingerprint := func(features ...feature) uint64 {
		s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: TieZero})
		for _, f := range features {
			s.Add(f.hash, f.weight)
		}
		return s.Fingerprint(nil)[0]
	}
	for _, c := range []struct {
		name     string
		features []feature
		want     uint64
	}{
		{"not a number", []feature{{1, math.NaN()}, {2, 1}}, 2},
		{"infinite", []feature{{1, math.Inf(1)}, {2, 5}}, 1},
		{"minus infinity", []feature{{1, math.Inf(-1)}, {2, 5}}, ^uint64(1)},
		{"too large", []feature{{2, 5}, {1, 1e30}, {4, 1}, {2, 1}}, 1},
		{"as much as there is room for", []feature{{1, 1 << 38}, {2, 1 << 60}}, 0},
		{"no room for a set", []feature{{1, 1 << 39}, {2, 1}}, 1},
		{"too small", []feature{{1, 1e-12}, {2, math.Ldexp(1, -24)}}, 2},
	} {
		if got := fingerprint(c.features...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestSimHashErrors(t *testing.T) {
	for _, o := range []SimHashOptions{
		{}, {Bits: -64}, {Bits: 63}, {Bits: 100}, {Bits: 1088}, {Bits: 128, Raw: true}, {Bits: 64, Tie: 3}, {
			Bits: 64,
			Tie:  -1,
		},
	} {
		if s, err := NewSimHash(o); err == nil || s != nil || !strings.Contains(err.Error(), "SimHash") {
			t.Errorf("NewSimHash(%+v) = %v, %v", o, s, err)
		}
	}
}

// wordHashes are the hashes of words by komihash 5.0, as hash4j 0.13 prints
// them.
var wordHashes = map[string]uint64{
	"small": 0x8c31c79e340485a9, "similar": 0x368ddc7375b2c4dd,
	"set": 0xaaf01e56824e28dd, "of": 0x3f1484cd4b1e2337, "some": 0xdd5e9362ede49554, "words": 0x0072f0da6a7806a1,
	"disjoint": 0x257e63030e3ed4c0, "collection": 0xcc3c543c311fd525, "containing": 0x91d7b40f0692120e,
	"a": 0xc7c659e137851c84, "few": 0xd714f88774342510, "strings": 0x7bf372f5b5f9591d,
}

// TestSimHashGolden compares with fingerprints that hash4j 0.13 prints, byte for
// byte, and the shares of equal bits that its article states.
func TestSimHashGolden(t *testing.T) {
	sets := []string{
		"small set of some words", "similar set of some words",
		"disjoint collection containing a few strings",
	}
	fingerprints := func(o SimHashOptions) (all [][]uint64) {
		s := newSimHash(t, o)
		for _, set := range sets {
			s.Reset()
			for word := range strings.FieldsSeq(set) {
				s.Add(wordHashes[word], 1)
			}
			all = append(all, s.Fingerprint(nil))
		}
		return all
	}
	for _, c := range []struct {
		options SimHashOptions
		want    []string
	}{
		{SimHashOptions{Bits: 128, FastSimHash: true}, []string{
			"989a2c0209aefdceedbad147f1d10aca", "d09a2c0209a6ddcfadbb93c271c30eca", "eb1cf6bf868daa3728eb688e58b6a8fe",
		}},
		{SimHashOptions{Bits: 128}, []string{
			"50aae4f74364c0e33dca09c33613bdb7", "d0aae4d64324c1e337ee41c31613b8af", "abd9be6aaecdaf78a2aaa88fb0e3beaa",
		}},
	} {
		for i, got := range fingerprints(c.options) {
			if got := hexBytes(got); got != c.want[i] {
				t.Errorf("%+v of %s: %s, want %s", c.options, sets[i], got, c.want[i])
			}
		}
	}

	const bits = 1024
	long := fingerprints(SimHashOptions{Bits: bits, FastSimHash: true})
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 1, 0.830078125}, {0, 2, 0.4931640625}, {1, 2, 0.5048828125}} {
		if got := 1 - float64(Hamming(long[c.a], long[c.b]))/bits; got != c.want {
			t.Errorf("sets %d and %d: %v of the bits are equal, want %v", c.a, c.b, got, c.want)
		}
	}

	// A thousand elements go through every way of counting.
	squares := make([]uint64, 1000)
	for i := range squares {
		squares[i] = uint64(i * i)
	}
	for _, c := range []struct {
		fast bool
		want string
	}{
		{true, "7aaf9ee0808ee4ae0898e02fd7e0e26fc47e2944dc03d950e460a89d0f0014a0"},
		{false, "82a7e6a705cb49fe98d8988b12ecf47664229b56da06db501810591c4887238d"},
	} {
		s := newSimHash(t, SimHashOptions{Bits: 256, FastSimHash: c.fast})
		s.AddSet(squares)
		if got := hexBytes(s.Fingerprint(nil)); got != c.want {
			t.Errorf("squares, FastSimHash %v: %s, want %s", c.fast, got, c.want)
		}
	}
}

// TestSimHashGoldenOfHashes has a fingerprint that seomoz/simhash-cpp computes,
// with ties in 24 bits, and what other rules make of these.
func TestSimHashGoldenOfHashes(t *testing.T) {
	hashes := []uint64{0x20bc887156989362, 0xdbe72a6026ef57ca, 0x095aeb736ecdb0b8, 0x3042327ae1283808}
	const zero, one = 0x00422a7066881008, 0x39feaa7366edb3ea
	for tie, want := range map[Tie]uint64{TieZero: zero, TieOne: one, TieAlternate: zero | (zero^one)&alternateBits} {
		s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: tie})
		s.AddSet(hashes)
		if got := s.Fingerprint(nil)[0]; got != want {
			t.Errorf("rule %d for ties: %016x, want %016x", tie, got, want)
		}
	}
}

// hexBytes is the fingerprint as hash4j has it: bit i is bit i%8 of byte i/8.
func hexBytes(fingerprint []uint64) string {
	var bytes []byte
	for _, word := range fingerprint {
		bytes = binary.LittleEndian.AppendUint64(bytes, word)
	}
	return hex.EncodeToString(bytes)
}

func TestSimHashAllocations(t *testing.T) {
	s := newSimHash(t, SimHashOptions{Bits: 256})
	set := make([]uint64, 100)
	fingerprint := s.Fingerprint(nil)
	if n := testing.AllocsPerRun(10, func() {
		s.Reset()
		s.AddSet(set)
		s.Add(7, 0.5)
		fingerprint = s.Fingerprint(fingerprint)
	}); n != 0 {
		t.Errorf("a fingerprint allocates %v times", n)
	}
}

func TestHamming(t *testing.T) {
	for _, c := range []struct {
		a, b []uint64
		want int
	}{{nil, nil, 0}, {[]uint64{5}, []uint64{6}, 2}, {[]uint64{0, 1}, []uint64{math.MaxUint64, 1}, 64}} {
		if got := Hamming(c.a, c.b); got != c.want {
			t.Errorf("Hamming(%x, %x) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzSimHash(f *testing.F) {
	all := simHashOptions()
	for i := range all {
		f.Add([]byte(strings.Repeat("0123456789abcdef", i)), 1.5, uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, weight float64, number uint8) {
		if !(math.Abs(weight) < 1<<20) || len(data) > 1<<10 {
			return
		}
		o := all[int(number)%len(all)]
		s := newSimHash(t, o)
		var features []feature
		for i := 0; i+8 <= len(data); i += 4 {
			features = append(features, feature{binary.LittleEndian.Uint64(data[i:]), weight * float64(i%3)})
			s.Add(features[len(features)-1].hash, features[len(features)-1].weight)
		}
		if got, want := s.Fingerprint(nil), naiveSimHash(o, features); !slices.Equal(got, want) {
			t.Fatalf("%+v: %x, want %x", o, got, want)
		}
	})
}

// TestShortSimHash: a fingerprint of 32 bits is the lower half of one of 64, whatever the options.
func TestShortSimHash(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 64))
	for _, o := range []SimHashOptions{{}, {Tie: TieOne}, {Tie: TieZero, FastSimHash: true}, {Raw: true}} {
		o.Bits = 32
		short := newSimHash(t, o)
		o.Bits = 64
		long := newSimHash(t, o)
		for range 20 {
			short.Reset()
			long.Reset()
			for range random.IntN(9) { // none, too: all bits are ties
				hash, weight := random.Uint64(), float64(1+random.IntN(3))
				short.Add(hash, weight)
				long.Add(hash, weight)
			}
			if got, want := short.Fingerprint(nil),
				long.Fingerprint(nil)[0]&(1<<32-1); len(got) != 1 || got[0] != want {
				t.Errorf("%+v: %x, want %x", o, got, want)
			}
		}
	}
}
