package sketch

import "math/bits"

const (
	// majorityBlock is the number of words of weight 1 that are added at once,
	// 1<<4.
	majorityBlock = 16

	// majorityPlanes is the number of bits of a count of words.
	majorityPlanes = 40

	// weightedBlock is the number of words with weights that are added at once.
	weightedBlock = 8
)

// majority finds, for each of 64 bit positions, whether the bit is set in the
// greater part of words by weight. It counts exactly, and the order of the words
// does not matter.
type majority struct {
	// planes count words of weight 1. The counters are sliced: plane p holds bit
	// p of all 64 of them, so that logical operations count 64 bits at once.
	planes [majorityPlanes]uint64

	// tallies hold the sums of the weights of other words.
	tallies [64]uint64
}

// addBlock counts words with weight 1, by a tree of carry-save adders (Harley
// and Seal, in Warren, Hacker's Delight, 2nd edition, 5-1).
func (m *majority) addBlock(words *[majorityBlock]uint64) {
	ones, twos := m.planes[0], m.planes[1]
	fours, eights := m.planes[2], m.planes[3]
	var twosA, twosB, foursA, foursB, eightsA, eightsB, sixteens uint64

	ones, twosA = carrySave(ones, words[0], words[1])
	ones, twosB = carrySave(ones, words[2], words[3])
	twos, foursA = carrySave(twos, twosA, twosB)
	ones, twosA = carrySave(ones, words[4], words[5])
	ones, twosB = carrySave(ones, words[6], words[7])
	twos, foursB = carrySave(twos, twosA, twosB)
	fours, eightsA = carrySave(fours, foursA, foursB)
	ones, twosA = carrySave(ones, words[8], words[9])
	ones, twosB = carrySave(ones, words[10], words[11])
	twos, foursA = carrySave(twos, twosA, twosB)
	ones, twosA = carrySave(ones, words[12], words[13])
	ones, twosB = carrySave(ones, words[14], words[15])
	twos, foursB = carrySave(twos, twosA, twosB)
	fours, eightsB = carrySave(fours, foursA, foursB)
	eights, sixteens = carrySave(eights, eightsA, eightsB)

	m.planes[0], m.planes[1] = ones, twos
	m.planes[2], m.planes[3] = fours, eights
	for p := 4; sixteens != 0 && p < majorityPlanes; p++ {
		m.planes[p], sixteens = m.planes[p]^sixteens, m.planes[p]&sixteens
	}
}

// carrySave adds three bits in each position.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	either := a ^ b
	return either ^ c, a&b | either&c
}

// subsetSums holds the sums of all subsets of weightedBlock weights: of the lower
// four and of the upper four, by the bits of those in the subset.
type subsetSums struct {
	lower, upper [1 << (weightedBlock / 2)]uint64
}

// newSubsetSums returns the sums of the subsets of weights.
func newSubsetSums(weights *[weightedBlock]uint64) (sums subsetSums) {
	for i := range weightedBlock / 2 {
		for rest := range 1 << i {
			sums.lower[1<<i|rest] = sums.lower[rest] + weights[i]
			sums.upper[1<<i|rest] = sums.upper[rest] + weights[i+weightedBlock/2]
		}
	}
	return sums
}

// addWeighted counts words with the weights that sums is of: for each position,
// the words that have the bit set are a subset. It overwrites words.
func (m *majority) addWeighted(words *[weightedBlock]uint64, sums *subsetSums) {
	transposeBytes(words)
	for i, word := range words {
		// Byte i of each word, turned so that a byte is for a position.
		subsets := transpose(word)
		tallies := (*[8]uint64)(m.tallies[8*i:])
		for j := range tallies {
			tallies[j] += sums.lower[subsets&0xf] + sums.upper[subsets>>4&0xf]
			subsets >>= 8
		}
	}
}

// transposeBytes takes words for a matrix of 8 by 8 bytes and transposes it.
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

// compare returns the positions that are set in more than half of count words of
// weight 1, and those that are in exactly half of them.
func (m *majority) compare(count uint64) (more, half uint64) {
	half = ^uint64(0)
	for p := bits.Len64(count) - 1; p >= 0; p-- {
		// The bit of half the count, in all positions.
		limit := -(count >> 1 >> p & 1)
		more |= half & m.planes[p] &^ limit
		half &^= m.planes[p] ^ limit
	}
	if count%2 != 0 {
		half = 0
	}
	return more, half
}

// compareWeighted is compare for count words that weigh unit each and others that
// weigh sum together.
func (m *majority) compareWeighted(count, unit, sum uint64) (more, half uint64) {
	total := count*unit + sum
	for i, tally := range m.tallies {
		for p := range bits.Len64(count) {
			tally += (m.planes[p] >> i & 1) * unit << p
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
