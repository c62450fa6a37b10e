//go:build amd64 && !purego

package asmkernels

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
