package asmkernels

import "math/bits"

// SplitMixStep is what the state of SplitMix64 grows by for an output.
const SplitMixStep = 0x9e3779b97f4a7c15

// SplitMix returns the output of SplitMix64 for a state (Steele, Lea, Flood, Fast
// splittable pseudorandom number generators, 2014). It is a permutation.
func SplitMix(state uint64) uint64 {
	state = (state ^ state>>30) * 0xbf58476d1ce4e5b9
	state = (state ^ state>>27) * 0x94d049bb133111eb
	return state ^ state>>31
}

// BitPlanes is the number of bits of a counter of BitCounters.
const BitPlanes = 40

// BitCounters count, for each of 64 bit positions, the words that have the bit set, modulo 2^BitPlanes. The counters
// are sliced: element p holds bit p of all 64 of them, so that logical operations count 64 bits at once.
type BitCounters [BitPlanes]uint64

// Add counts words.
func (c *BitCounters) Add(words []uint64) { addBits(c, words) }

// AddMixed counts the outputs of SplitMix for the given states plus offset.
func (c *BitCounters) AddMixed(states []uint64, offset uint64) { addMixedBits(c, states, offset) }

// bitBlock is the number of words that the plain code adds at once, 1<<4.
const bitBlock = 16

func addBitsGo(c *BitCounters, words []uint64) {
	for ; len(words) >= bitBlock; words = words[bitBlock:] {
		c.addBlock((*[bitBlock]uint64)(words))
	}
	if len(words) > 0 {
		var block [bitBlock]uint64
		copy(block[:], words)
		c.addBlock(&block)
	}
}

func addMixedBitsGo(c *BitCounters, states []uint64, offset uint64) {
	var block [bitBlock]uint64
	for ; len(states) >= bitBlock; states = states[bitBlock:] {
		for i, state := range states[:bitBlock] {
			block[i] = SplitMix(state + offset)
		}
		c.addBlock(&block)
	}
	if len(states) > 0 {
		clear(block[:])
		for i, state := range states {
			block[i] = SplitMix(state + offset)
		}
		c.addBlock(&block)
	}
}

// addBlock counts words by a tree of carry-save adders (Harley and Seal, in
// Warren, Hacker's Delight, 2nd edition, 5-1).
func (c *BitCounters) addBlock(words *[bitBlock]uint64) {
	ones, twos, fours, eights := c[0], c[1], c[2], c[3]
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

	c[0], c[1], c[2], c[3] = ones, twos, fours, eights
	for p := 4; sixteens != 0 && p < BitPlanes; p++ {
		c[p], sixteens = c[p]^sixteens, c[p]&sixteens
	}
}

// carrySave adds three bits in each position.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	either := a ^ b
	return either ^ c, a&b | either&c
}

const hammingWords = 16 // the most that the kernels take

// Hamming sets every distances[i] to the number of bits in which query and row i of table differ: the Hamming distance
// of two fingerprints as SimHash makes them (Charikar, Similarity estimation techniques from rounding algorithms,
// 2002). Query has at least one word and fewer than 1,024, each row as many, and table the rows one behind the other.
// Fingerprints of up to 1,024 bits are fastest.
//
// Len(table) must be at least len(distances) * len(query).
func Hamming(distances []uint16, query, table []uint64) {
	hamming(distances, query, table[:len(distances)*len(query)])
}

func hammingGo(distances []uint16, query, table []uint64) {
	if len(query) == 1 {
		for i, row := range table[:len(distances)] {
			distances[i] = uint16(bits.OnesCount64(row ^ query[0]))
		}
		return
	}
	for i := range distances {
		distance := 0
		for k, word := range table[:len(query)] {
			distance += bits.OnesCount64(word ^ query[k])
		}
		distances[i] = uint16(distance)
		table = table[len(query):]
	}
}
