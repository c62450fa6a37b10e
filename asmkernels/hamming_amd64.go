//go:build amd64 && !purego

package asmkernels

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
