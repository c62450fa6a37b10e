//go:build !amd64 || purego

package asmkernels

func hamming(distances []uint16, query, table []uint64) {
	hammingGo(distances, query, table)
}
