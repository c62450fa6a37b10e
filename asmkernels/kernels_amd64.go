//go:build amd64 && !purego

package asmkernels

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
