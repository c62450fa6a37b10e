//go:build amd64 && !purego

package asmkernels

import "slices"

// mostCounted are the numbers of words that the kernels count in a call.
const (
	mostCountedAVX512 = 2040
	mostCountedAVX2   = 1020
)

func addBits(c *BitCounters, words []uint64) {
	if tier == PlainGo {
		addBitsGo(c, words)
		return
	}
	for part := range slices.Chunk(words, mostCounted()) {
		if tier >= AVX512 {
			addBitsAVX512((*[BitPlanes]uint64)(c), part)
		} else {
			addBitsAVX2((*[BitPlanes]uint64)(c), part)
		}
	}
}

func addMixedBits(c *BitCounters, states []uint64, offset uint64) {
	if tier == PlainGo {
		addMixedBitsGo(c, states, offset)
		return
	}
	for part := range slices.Chunk(states, mostCounted()) {
		if tier >= AVX512 {
			addMixedBitsAVX512((*[BitPlanes]uint64)(c), part, offset)
		} else {
			addMixedBitsAVX2((*[BitPlanes]uint64)(c), part, offset)
		}
	}
}

// mostCounted returns the number of words that the tier's kernels count in a call.
func mostCounted() int {
	if tier >= AVX512 {
		return mostCountedAVX512
	}
	return mostCountedAVX2
}

func hamming(distances []uint16, query, table []uint64) {
	switch {
	case len(query) == 0 || len(query) > hammingWords:
		hammingGo(distances, query, table)
	case tier >= AVX512 && len(distances) >= lanesAVX512:
		hammingAVX512(distances, query, table)
	case tier >= AVX2 && len(distances) >= lanesAVX2:
		hammingAVX2(distances, query, table)
	case tier >= SSE42 && len(query) > 1 && len(distances) > 0:
		hammingSSE42(distances, query, table)
	default:
		hammingGo(distances, query, table)
	}
}
