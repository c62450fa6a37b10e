//go:build !amd64 || purego

package asmkernels

// What only amd64 has kernels for.

func hashTokens(hashes []uint64, seed uint64, folded []byte, starts, ends, _ []uint16) {
	hashTokensGo(hashes, seed, folded, starts, ends)
}

func shinglesOfThree(elements, tokens []uint64) {
	shinglesOfThreeGo(elements, tokens)
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
