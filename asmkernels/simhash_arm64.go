//go:build arm64 && !purego

package asmkernels

const (
	// mostCountedNEON is the number of words that the kernels count in a call,
	// and fewCountedNEON that below which plain code has done sooner.
	mostCountedNEON = 510
	fewCountedNEON  = 32

	// lanePlanes is the number of bits of a lane's counters.
	lanePlanes = 8
)

func addBits(c *BitCounters, words []uint64) {
	for tier >= NEON && len(words) >= fewCountedNEON {
		part := words[:min(len(words), mostCountedNEON)]
		var planes [lanePlanes][2]uint64
		addBitsNEON(&planes, part)
		c.addLanes(&planes)
		words = words[len(part):]
	}
	addBitsGo(c, words)
}

func addMixedBits(c *BitCounters, states []uint64, offset uint64) {
	for tier >= NEON && len(states) >= fewCountedNEON {
		part := states[:min(len(states), mostCountedNEON)]
		var planes [lanePlanes][2]uint64
		addMixedBitsNEON(&planes, part, offset)
		c.addLanes(&planes)
		states = states[len(part):]
	}
	addMixedBitsGo(c, states, offset)
}

// addLanes adds the counters of two lanes.
func (c *BitCounters) addLanes(planes *[lanePlanes][2]uint64) {
	var carry, carries uint64 // the carries of adding the lanes, and of adding their sums
	for p, lanes := range planes {
		var sum uint64
		sum, carry = carrySave(lanes[0], lanes[1], carry)
		c[p], carries = carrySave(c[p], sum, carries)
	}
	for p := lanePlanes; carry|carries != 0 && p < BitPlanes; p++ {
		c[p], carries = carrySave(c[p], carry, carries)
		carry = 0
	}
}

// addBitsNEON sets the planes to the counts of up to 510 words, one for even and one for odd places.
//
//go:noescape
func addBitsNEON(planes *[lanePlanes][2]uint64, words []uint64)

// addMixedBitsNEON is addBitsNEON for the outputs of SplitMix for the given states plus offset.
//
//go:noescape
func addMixedBitsNEON(planes *[lanePlanes][2]uint64, states []uint64, offset uint64)

// hammingRowsNEON is the number of rows of one word that the kernel takes at once.
const hammingRowsNEON = 8

func hamming(distances []uint16, query, table []uint64) {
	switch {
	case tier < NEON || len(query) > hammingWords || len(distances) == 0:
		hammingGo(distances, query, table)
	case len(query) > 1:
		hammingNEON(distances, query, table)
	case len(query) == 1:
		rows := len(distances) &^ (hammingRowsNEON - 1)
		if rows > 0 {
			hammingWordNEON(distances[:rows], query[0], table)
		}
		hammingGo(distances[rows:], query, table[rows:])
	}
}

// hammingWordNEON is hammingGo for one word and a multiple of eight rows, but not for none.
//
//go:noescape
func hammingWordNEON(distances []uint16, query uint64, table []uint64)

// hammingNEON is hammingGo for two to 16 words and one row or more.
//
//go:noescape
func hammingNEON(distances []uint16, query, table []uint64)
