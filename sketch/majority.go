package sketch

import (
	"math/bits"

	"mirrorbeam/asmkernels"
)

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

// compare returns the positions that are set in more than half of count words of weight 1, and those that are
// set in exactly half of them.
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

// compareWeighted does the work of compare for count words of weight unit each, and others with the total
// weight sum.
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
