package asmkernels

import "math/bits"

// hammingWords is the largest number of words that the kernels take.
const hammingWords = 16

// Hamming sets every distances[i] to the number of bits in which query and row
// i of table differ: the Hamming distance of two fingerprints as SimHash makes
// them (Charikar, Similarity estimation techniques from rounding algorithms,
// 2002). Query has at least one word and fewer than 1,024, each row as many, and
// table the rows one behind the other. Fingerprints of up to 1,024 bits are
// fastest.
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
