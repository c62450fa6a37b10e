//go:build amd64 && !purego

package asmkernels

import "unsafe"

// The instruction sets' vectors of 64-bit numbers. Fewer numbers are left to the plain code.
const (
	lanesAVX512 = 8
	lanesAVX2   = 4
	lanesSSE42  = 4 // also of 32-bit numbers
)

func minHash(signature, multipliers []uint32, set []uint64) {
	switch {
	case tier >= AVX512:
		minHashAVX512(signature, multipliers, set)
	case tier >= AVX2:
		minHashAVX2(signature, multipliers, set)
	default:
		minHashGo(signature, multipliers, set)
	}
}

func runScan(s *Scan, classes *Classes, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	switch {
	case tier >= AVX512:
		return runScanAVX512((*[6]uint64)(unsafe.Pointer(s)), (*byte)(unsafe.Pointer(classes)), folded, starts, ends,
			window, limit)
	case tier >= AVX2:
		return runScanAVX2((*[6]uint64)(unsafe.Pointer(s)), (*byte)(unsafe.Pointer(classes)), folded, starts, ends,
			window, limit)
	default:
		return runScanGo(s, folded, starts, ends, window, limit)
	}
}

func hashTokens(hashes []uint64, keys *shortKeys, folded []byte, starts, ends, long []uint16) (count int) {
	switch {
	case tier >= AVX512 && len(hashes) >= lanesAVX512:
		return hashTokensAVX512(hashes, (*[10]uint64)(unsafe.Pointer(keys)), folded, starts, ends, long)
	case tier >= AVX2 && len(hashes) >= lanesAVX2:
		return hashTokensAVX2(hashes, (*[10]uint64)(unsafe.Pointer(keys)), folded, starts, ends, long)
	default:
		return hashTokensGo(hashes, keys, folded, starts, ends, long)
	}
}

func shinglesOfThree(elements, tokens []uint64, keys *[4]uint64) {
	switch {
	case tier >= AVX512 && len(elements) >= lanesAVX512:
		shinglesOfThreeAVX512(elements, tokens, keys)
	case tier >= AVX2 && len(elements) >= lanesAVX2:
		shinglesOfThreeAVX2(elements, tokens, keys)
	default:
		shinglesOfThreeGo(elements, tokens, keys)
	}
}

const (
	// mostSmall are the numbers of elements that sortSmall takes.
	mostSmallAVX512 = 128
	mostSmallAVX2   = 32

	// mostParts are the numbers of elements above which partitioning takes so many passes that sortGo is faster.
	mostPartsAVX512 = 1 << 14
	mostPartsAVX2   = 1 << 8
)

func (s *SetSorter) sort(list []uint64) []uint64 {
	limit := 0
	switch {
	case tier >= AVX512:
		limit = mostPartsAVX512
	case tier >= AVX2:
		limit = mostPartsAVX2
	}
	if len(list) > limit {
		return list[:s.sortGo(list)]
	}
	out := s.room(len(list))
	return out[:sortParts(out, list, 0, len(list), 0, ElementBits)]
}

// sortParts writes the distinct elements of list[start:end] in ascending order to out, whose first size elements, at
// most start, are those before. It returns the new size. The elements have everything but their lower bits in common.
//
// As long as they have no room in registers, they are partitioned by their uppermost bit that may differ. Hashes are
// halved by that. The part of out that does not hold elements yet serves as scratch.
func sortParts(out, list []uint64, start, end, size, width int) int {
	mostSmall := mostSmallAVX2
	if tier >= AVX512 {
		mostSmall = mostSmallAVX512
	}
	for end-start > mostSmall {
		if width == 0 {
			out[size] = list[start]
			return size + 1
		}
		width--
		// What does not stay goes to the end of a part of out that no elements have reached yet.
		moved := out[start : end+overwritten]
		high := start + partition(list[start:end], moved, width)
		copy(list[high:end], moved[overwritten+high-start:])
		size = sortParts(out, list, start, high, size, width)
		start = high
	}
	if start == end {
		return size
	}
	if tier >= AVX512 {
		return size + sortSmallAVX512(out[size:], list[start:end])
	}
	return size + sortSmallAVX2(out[size:], list[start:end])
}

func partition(list, high []uint64, bit int) (low int) {
	if tier >= AVX512 {
		return partitionAVX512(list, high, uint64(bit))
	}
	return partitionAVX2(list, high, uint64(bit))
}

func intersect64(a, b []uint64, need int) int {
	switch {
	case min(len(a), len(b)) < need:
		return 0
	case tier < SSE42 ||
		tier < AVX2 && (min(len(a), len(b)) < lanesSSE42 || areUneven(len(a), len(b), gallopRatio)):
		return intersectGo(a, b, need)
	case tier < AVX2:
		return intersect64SSE42(a, b, need)
	case areUneven(len(a), len(b), gallopRatioBlocks):
		return intersectGalloping(a, b, need)
	case tier >= VP2Intersect:
		return intersect64VP2Intersect(a, b, need)
	case tier >= AVX512:
		return intersect64AVX512(a, b, need)
	default:
		return intersect64AVX2(a, b, need)
	}
}

func intersect32(a, b []uint32, need int) int {
	switch {
	case min(len(a), len(b)) < need:
		return 0
	case tier < SSE42 || tier < AVX2 && min(len(a), len(b)) < lanesSSE42:
		return intersectGo(a, b, need)
	case areUneven(len(a), len(b), gallopRatioBlocks):
		return intersectGalloping(a, b, need)
	case tier < AVX2:
		return intersect32SSE42(a, b, need)
	case tier >= VP2Intersect:
		return intersect32VP2Intersect(a, b, need)
	case tier >= AVX512:
		return intersect32AVX512(a, b, need)
	default:
		return intersect32AVX2(a, b, need)
	}
}

func markBitmaps(marks []uint8, query *bitmapQuery, blocks []uint64) {
	switch {
	case tier >= AVX512:
		markBitmapsAVX512(marks, (*[12]uint64)(query), blocks)
	case tier >= AVX2:
		markBitmapsAVX2(marks, (*[12]uint64)(query), blocks)
	case tier >= SSE42:
		markBitmapsSSE42(marks, (*[12]uint64)(query), blocks)
	default:
		markBitmapsGo(marks, query, blocks)
	}
}

func turbo(a, b []uint32, most int) (i, j, common int, aborted bool) {
	if tier >= SSE42 {
		return turboSSE42(a, b, most)
	}
	return turboGo(a, b, most)
}

func filter(out, list []uint64, limit uint64) (count int) {
	switch {
	case tier >= AVX512 && len(list) >= lanesAVX512:
		return filterAVX512(out, list, limit)
	case tier >= AVX2 && len(list) >= lanesAVX2:
		return filterAVX2(out, list, limit)
	default:
		return filterGo(out, list, limit)
	}
}

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
