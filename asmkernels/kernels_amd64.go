//go:build amd64 && !purego

package asmkernels

import "unsafe"

// The instruction sets' vectors of 64-bit numbers. Fewer numbers are left to the
// plain code.
const (
	lanesAVX512 = 8
	lanesAVX2   = 4
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

func runScan(s *Scan, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	switch {
	case tier >= AVX512:
		return runScanAVX512((*[6]uint64)(unsafe.Pointer(s)), folded, starts, ends, window, limit)
	case tier >= AVX2:
		return runScanAVX2((*[6]uint64)(unsafe.Pointer(s)), folded, starts, ends, window, limit)
	default:
		return runScanGo(s, folded, starts, ends, window, limit)
	}
}

func hashTokens(hashes []uint64, folded []byte, starts, ends, long []uint16) {
	count := 0 // of tokens that are longer than a block
	switch {
	case tier >= AVX512 && len(hashes) >= lanesAVX512:
		count = hashTokensAVX512(hashes, folded, starts, ends, long)
	case tier >= AVX2 && len(hashes) >= lanesAVX2:
		count = hashTokensAVX2(hashes, folded, starts, ends, long)
	default:
		hashTokensGo(hashes, folded, starts, ends)
	}
	for _, i := range long[:count] {
		hashes[i] = HashToken(0, folded[starts[i]:ends[i]])
	}
}

func shinglesOfThree(elements, tokens []uint64) {
	switch {
	case tier >= AVX512 && len(elements) >= lanesAVX512:
		shinglesOfThreeAVX512(elements, tokens)
	case tier >= AVX2 && len(elements) >= lanesAVX2:
		shinglesOfThreeAVX2(elements, tokens)
	default:
		shinglesOfThreeGo(elements, tokens)
	}
}
