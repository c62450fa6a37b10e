//go:build !amd64 || purego

package asmkernels

// What only amd64 has kernels for.

func hashTokens(hashes []uint64, keys *shortKeys, folded []byte, starts, ends, long []uint16) (count int) {
	return hashTokensGo(hashes, keys, folded, starts, ends, long)
}

func shinglesOfThree(elements, tokens []uint64, keys *[4]uint64) {
	shinglesOfThreeGo(elements, tokens, keys)
}

func filter(out, list []uint64, limit uint64) (count int) { return filterGo(out, list, limit) }

func (s *SetSorter) sort(list []uint64) []uint64 {
	return list[:s.sortGo(list)]
}

func turbo(a, b []uint32, most int) (i, j, common int, aborted bool) {
	return turboGo(a, b, most)
}

func addCounts(table []uint64, packed []byte) { addCountsGo(table, packed) }

func frequenciesOf(frequencies []byte, table []uint64, packed []byte) {
	frequenciesOfGo(frequencies, table, packed)
}
