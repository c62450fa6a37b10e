package sketch

import "math/bits"

const (
	// majorityBlock is the number of words of weight 1 that are added at once,
	// 1<<4.
	majorityBlock = 16

	// fractionPlanes is the number of binary places of a weight: one is
	// 1<<fractionPlanes.
	fractionPlanes = 24

	// majorityPlanes is the number of bits of a count.
	majorityPlanes = 64

	// mostWeight is the largest sum of weights.
	mostWeight = 1 << (majorityPlanes - 1)
)

// majority finds, for each of 64 bit positions, whether the bit is set in the
// greater part of words by weight. Its counters are sliced: plane p holds bit p
// of all 64 of them, so that logical operations count 64 bits at once. The
// counts are exact; the order of the words does not matter.
type majority struct {
	planes [majorityPlanes]uint64
}

// add counts word with a weight above 0: a full adder a plane, in all positions
// at once, and then the carry, until there is none.
func (m *majority) add(word, weight uint64) {
	carry := uint64(0)
	p := bits.TrailingZeros64(weight)
	for rest := weight >> p; rest != 0 && p < majorityPlanes; rest >>= 1 {
		// The bit of the weight, in the positions where word is set. The carry
		// comes last, for it is what the next plane waits for.
		m.planes[p], carry = carrySave(m.planes[p], word&-(rest&1), carry)
		p++
	}
	for ; carry != 0 && p < majorityPlanes; p++ {
		m.planes[p], carry = m.planes[p]^carry, m.planes[p]&carry
	}
}

// addBlock counts words with weight 1, by a tree of carry-save adders (Harley
// and Seal, in Warren, Hacker's Delight, 2nd edition, 5-1).
func (m *majority) addBlock(words *[majorityBlock]uint64) {
	ones, twos := m.planes[fractionPlanes], m.planes[fractionPlanes+1]
	fours, eights := m.planes[fractionPlanes+2], m.planes[fractionPlanes+3]
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

	m.planes[fractionPlanes], m.planes[fractionPlanes+1] = ones, twos
	m.planes[fractionPlanes+2], m.planes[fractionPlanes+3] = fours, eights
	for p := fractionPlanes + 4; sixteens != 0 && p < majorityPlanes; p++ {
		m.planes[p], sixteens = m.planes[p]^sixteens, m.planes[p]&sixteens
	}
}

// carrySave adds three bits in each position.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	either := a ^ b
	return either ^ c, a&b | either&c
}

// compare returns the positions whose count is more than half of the sum of all
// weights, and those where it is exactly half. No weight has bits below the
// plane lowest.
func (m *majority) compare(sum uint64, lowest int) (more, half uint64) {
	half = ^uint64(0)
	for p := bits.Len64(sum) - 1; p >= lowest; p-- {
		// The bit of half the sum, in all positions.
		limit := -(sum >> 1 >> p & 1)
		more |= half & m.planes[p] &^ limit
		half &^= m.planes[p] ^ limit
	}
	if sum&(1<<(lowest+1)-1) != 0 {
		// Half the sum has a bit that no count has.
		half = 0
	}
	return more, half
}
