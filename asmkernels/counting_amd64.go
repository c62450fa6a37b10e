//go:build amd64 && !purego

package asmkernels

// leastCounted is the number of bytes that the kernels read at once. They leave what is less than that.
const leastCounted = 32

func addCounts(table []uint64, packed []byte) {
	if tier >= AVX2 && len(packed) >= leastCounted {
		if tier >= AVX512 {
			addCountsAVX512(table, packed)
		} else {
			addCountsAVX2(table, packed)
		}
		packed = packed[CountedSize*countedAtOnce(packed):]
	}
	addCountsGo(table, packed)
}

func frequenciesOf(frequencies []byte, table []uint64, packed []byte) {
	if tier >= AVX2 && len(packed) >= leastCounted {
		if tier >= AVX512 {
			frequenciesOfAVX512(frequencies, table, packed)
		} else {
			frequenciesOfAVX2(frequencies, table, packed)
		}
		n := countedAtOnce(packed)
		frequencies, packed = frequencies[n:], packed[CountedSize*n:]
	}
	frequenciesOfGo(frequencies, table, packed)
}

// countedAtOnce returns how many shingles the kernels take, eight a turn.
func countedAtOnce(packed []byte) int {
	const turn = 8
	return turn * ((len(packed)-leastCounted)/(turn*CountedSize) + 1)
}
