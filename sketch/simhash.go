package sketch

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// Tie says which bit a SimHash fingerprint has if features of equal weight have it set and not set.
type Tie int

const (
	// TieAlternate gives bit number i the value i modulo 2: the fingerprint is without bias. It is the rule of hash4j.
	TieAlternate Tie = iota
	// TieZero gives 0, as Manku, Jain and Das Sarma (Detecting near-duplicates
	// for web crawling, 2007) and seomoz/simhash-cpp do.
	TieZero
	// TieOne gives 1, as mfonda/simhash does.
	TieOne
)

// alternateBits has the odd bits set.
const alternateBits = 0xaaaaaaaaaaaaaaaa

// MostSimHashBits is the length of the longest SimHash fingerprint.
const MostSimHashBits = 1024

// IsSimHashLength reports whether fingerprints may have that many bits: 32, or a multiple of 64 up to
// [MostSimHashBits].
func IsSimHashLength(bits int) bool {
	return bits == 32 || bits >= 64 && bits <= MostSimHashBits && bits%64 == 0
}

// SimHashWords returns the number of words of 64 bits that hold a fingerprint of that many bits.
func SimHashWords(bits int) int { return (bits + 63) / 64 }

// SimHashOptions say how a [SimHash] computes fingerprints. Fingerprints of different options cannot be compared.
type SimHashOptions struct {
	// Bits is the length of a fingerprint: 32, or a multiple of 64 up to [MostSimHashBits]. Bits do not depend on each
	// other, so a fingerprint of 32 bits is the lower half of one of 64.
	Bits int

	// Tie decides if neither value of a bit has the majority.
	Tie Tie

	// Raw takes the hash of a feature itself as its 64 bits. Bits must not be more, and the hashes must be good in
	// all bits. Those of [Document.Set] are not, since they have only 48. Without Raw, the bits are
	// successive outputs of SplitMix64, seeded with the hash, which need not be that good.
	Raw bool

	// FastSimHash puts the bits into the order of FastSimHash (Ertl, Speeding up SimHash by 10x using a bit
	// hack, 2023) before ties are decided. With TieAlternate and the same hashes, fingerprints equal the ones of
	// hash4j's FastSimHash. Without it, they equal the ones of its SimHash.
	FastSimHash bool
}

// SimHash computes SimHash fingerprints (Charikar, Similarity estimation techniques from rounding algorithms,
// 2002) of weighted features. A bit is set if it is set in the hashes of features with more than half of the
// total weight. Take two sets of features as vectors of weights. Their fingerprints differ in about the share
// of bits that the angle between the vectors is of 180 degrees; see [Cosine].
//
// Features are added one by one or, faster, as a set. Fingerprint returns the fingerprint of the features so
// far, and Reset begins the next one. The order of the features does not matter. A SimHash allocates nothing.
// Only one goroutine may use it at a time.
type SimHash struct {
	options    SimHashOptions
	majorities []majority // one for every 64 bits

	ones    uint64 // features of weight 1 counted
	weights uint64 // absolute weights of the other counted features, in units of weightUnit

	// pending holds hashes of weight 1 that were added one by one and are not counted yet.
	pending [pendingHashes]uint64
	count   int

	// weighted holds features of other weights that are not counted yet.
	weighted [weightedBlock]weightedFeature
	others   int
}

const pendingHashes = 64

type weightedFeature struct {
	hash, weight uint64
	flip         uint64 // all ones if the weight counts against the bits, else 0
}

const (
	// weightUnit is a weight of 1 in units of the smallest.
	weightUnit = 1 << 24

	// mostWeight is the largest sum of weights in units of the smallest.
	mostWeight = 1 << 63
)

// NewSimHash returns a SimHash, or an error that says what is wrong with o.
func NewSimHash(o SimHashOptions) (*SimHash, error) {
	switch {
	case !IsSimHashLength(o.Bits):
		return nil, fmt.Errorf("SimHash of %d bits: take 32, or a multiple of 64 up to %d", o.Bits, MostSimHashBits)
	case o.Raw && o.Bits > 64:
		return nil, fmt.Errorf("SimHash of %d bits from raw hashes: they have 64", o.Bits)
	case o.Tie < TieAlternate || o.Tie > TieOne:
		return nil, fmt.Errorf("SimHash with unknown rule %d for ties", o.Tie)
	}
	s := &SimHash{options: o, majorities: make([]majority, SimHashWords(o.Bits))}
	s.Reset()
	return s, nil
}

// Reset forgets all features.
func (s *SimHash) Reset() {
	// Most counters were not reached by any count.
	reached := min(bits.Len64(s.ones), asmkernels.BitPlanes)
	for i := range s.majorities {
		clear(s.majorities[i].counters[:reached])
		if s.weights > 0 {
			clear(s.majorities[i].tallies[:])
		}
	}
	s.ones, s.weights, s.count, s.others = 0, 0, 0, 0
}

// Add adds a feature with the given 64-bit hash and weight. A negative weight counts against the bits of the
// hash. Weights are rounded to multiples of 2^-24, so integers are exact. NaN counts as 0. The sum of
// absolute weights is limited to 2^39. If a feature exceeds it, only the weight that still fits is counted.
func (s *SimHash) Add(hash uint64, weight float64) {
	if weight == 1 {
		s.pending[s.count] = hash
		if s.count++; s.count == pendingHashes {
			s.flush()
		}
		return
	}
	s.flush()
	room := s.room()
	scaled := math.RoundToEven(math.Abs(weight) * weightUnit)
	size := uint64(0)
	switch {
	case scaled >= float64(room):
		size = room
	case scaled > 0: // false for NaN
		size = uint64(scaled)
	}
	s.weights += size
	feature := weightedFeature{hash: hash, weight: size}
	if weight < 0 {
		feature.flip = ^feature.flip
	}
	s.weighted[s.others] = feature
	if s.others++; s.others == weightedBlock {
		s.flushWeighted()
	}
}

func (s *SimHash) room() uint64 { return mostWeight - s.weights - s.ones*weightUnit }

// flushWeighted counts the pending features of weights other than 1.
func (s *SimHash) flushWeighted() {
	if s.others == 0 {
		return
	}
	clear(s.weighted[s.others:])
	s.others = 0
	var weights, words [weightedBlock]uint64
	for i := range s.weighted {
		weights[i] = s.weighted[i].weight
	}
	sums := newSubsetSums(&weights)
	for i := range s.majorities {
		for j := range s.weighted {
			words[j] = s.word(s.weighted[j].hash, i) ^ s.weighted[j].flip
		}
		s.majorities[i].addWeighted(&words, &sums)
	}
}

// AddSet adds features of weight 1 with the given hashes.
func (s *SimHash) AddSet(hashes []uint64) {
	s.flush()
	s.addOnes(hashes)
}

func (s *SimHash) flush() {
	if s.count > 0 {
		s.addOnes(s.pending[:s.count])
		s.count = 0
	}
}

// addOnes counts as many features of weight 1 as still fit.
func (s *SimHash) addOnes(hashes []uint64) {
	hashes = hashes[:min(uint64(len(hashes)), s.room()/weightUnit)]
	s.ones += uint64(len(hashes))
	for i := range s.majorities {
		if s.options.Raw {
			s.majorities[i].counters.Add(hashes)
		} else {
			s.majorities[i].counters.AddMixed(hashes, outputState(i))
		}
	}
}

// word returns the bits 64*i to 64*i+63 of the feature with the given hash: output number i of SplitMix64 or,
// for raw hashes, the hash itself.
func (s *SimHash) word(hash uint64, i int) uint64 {
	if s.options.Raw {
		return hash
	}
	return asmkernels.SplitMix(hash + outputState(i))
}

// outputState returns the state of SplitMix64 for output number i, if the seed is 0.
func outputState(i int) uint64 { return uint64(i+1) * asmkernels.SplitMixStep }

// Fingerprint returns the fingerprint of the features since the last Reset: bit number i is bit i%64 of element i/64.
// Without features every bit is a tie. It overwrites dst and uses its memory if it is large enough.
func (s *SimHash) Fingerprint(dst []uint64) []uint64 {
	s.flush()
	s.flushWeighted()
	dst = slices.Grow(dst[:0], len(s.majorities))[:len(s.majorities)]
	for i := range s.majorities {
		more, half := s.majorities[i].compare(s.ones)
		if s.weights > 0 {
			more, half = s.majorities[i].compareWeighted(s.ones, weightUnit, s.weights)
		}
		if s.options.FastSimHash {
			more, half = transpose(more), transpose(half)
		}
		switch s.options.Tie {
		case TieAlternate:
			more |= half & alternateBits
		case TieOne:
			more |= half
		}
		dst[i] = more
	}
	if s.options.Bits < 64 {
		dst[0] &= 1<<s.options.Bits - 1
	}
	return dst
}

// transpose treats x as a matrix of 8 by 8 bits and transposes it: bit 8*i+j goes to 8*j+i (Warren, Hacker's
// Delight, 2nd edition, 7-3).
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}

// Hamming returns the number of bits in which the equally long fingerprints a and b differ.
func Hamming(a, b []uint64) int {
	distance := 0
	for i, word := range a {
		distance += bits.OnesCount64(word ^ b[i])
	}
	return distance
}

// Cosine estimates the cosine of the angle between two weighted sets, from -1 to 1. It uses the Hamming distance of
// their fingerprints of the given number of bits: cos(pi*distance/bits). Disjoint sets are at a right angle, with half
// of the bits different. Let p be the angle's share of 180 degrees. The share of differing bits estimates p without
// bias and with the variance p(1-p)/bits, if there are enough features that none outweighs all others.
func Cosine(distance, bits int) float64 {
	return math.Cos(math.Pi * float64(distance) / float64(bits))
}

// weightedBlock is the number of words with weights that are added at once.
const weightedBlock = 8

// majority finds, for each of 64 bit positions, whether the bit is set in the greater part of words by
// weight. It counts exactly. The order of the words does not matter.
type majority struct {
	// counters count words of weight 1.
	counters asmkernels.BitCounters

	// tallies hold the sums of the weights of all other words.
	tallies [64]uint64
}

// subsetSums holds the sums of all subsets of weightedBlock weights: subsets of the lower four and of the
// upper four. A subset is an index with a bit for each of its weights.
type subsetSums struct {
	lower, upper [1 << (weightedBlock / 2)]uint64
}

func newSubsetSums(weights *[weightedBlock]uint64) (sums subsetSums) {
	for i := range weightedBlock / 2 {
		for rest := range 1 << i {
			sums.lower[1<<i|rest] = sums.lower[rest] + weights[i]
			sums.upper[1<<i|rest] = sums.upper[rest] + weights[i+weightedBlock/2]
		}
	}
	return sums
}

// addWeighted counts words whose weights gave sums. For each position, the words that have the bit set are a
// subset. It overwrites words.
func (m *majority) addWeighted(words *[weightedBlock]uint64, sums *subsetSums) {
	transposeBytes(words)
	for i, word := range words {
		// Byte i of each word, turned so that each byte belongs to one position.
		subsets := transpose(word)
		tallies := (*[8]uint64)(m.tallies[8*i:])
		for j := range tallies {
			tallies[j] += sums.lower[subsets&0xf] + sums.upper[subsets>>4&0xf]
			subsets >>= 8
		}
	}
}

// transposeBytes treats words as a matrix of 8 by 8 bytes and transposes it.
func transposeBytes(words *[8]uint64) {
	for i := range 4 {
		t := (words[i]>>32 ^ words[i+4]) & 0x00000000ffffffff
		words[i], words[i+4] = words[i]^t<<32, words[i+4]^t
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		t := (words[i&7]>>16 ^ words[(i+2)&7]) & 0x0000ffff0000ffff
		words[i&7], words[(i+2)&7] = words[i&7]^t<<16, words[(i+2)&7]^t
	}
	for i := 0; i < 8; i += 2 {
		t := (words[i]>>8 ^ words[i+1]) & 0x00ff00ff00ff00ff
		words[i], words[i+1] = words[i]^t<<8, words[i+1]^t
	}
}

// compare returns the positions that are set in more than half, and in exactly half, of count words of weight 1.
func (m *majority) compare(count uint64) (more, half uint64) {
	half = ^uint64(0)
	for p := bits.Len64(count) - 1; p >= 0; p-- {
		// The bit of half the count, in all positions.
		limit := -(count >> 1 >> p & 1)
		more |= half & m.counters[p] &^ limit
		half &^= m.counters[p] ^ limit
	}
	if count%2 != 0 {
		half = 0
	}
	return more, half
}

// compareWeighted does the work of compare for count words of weight unit each, and others with the total weight sum.
func (m *majority) compareWeighted(count, unit, sum uint64) (more, half uint64) {
	total := count*unit + sum
	for i, tally := range m.tallies {
		for p := range bits.Len64(count) {
			tally += (m.counters[p] >> i & 1) * unit << p
		}
		switch {
		case tally > total/2:
			more |= 1 << i
		case tally == total/2 && total%2 == 0:
			half |= 1 << i
		}
	}
	return more, half
}
