//go:build (!amd64 && !arm64) || purego

package asmkernels

// What amd64 and arm64 have kernels for.

func minHash(signature, multipliers []uint32, set []uint64) {
	minHashGo(signature, multipliers, set)
}

func addBits(c *BitCounters, words []uint64) { addBitsGo(c, words) }

func addMixedBits(c *BitCounters, states []uint64, offset uint64) { addMixedBitsGo(c, states, offset) }

func hamming(distances []uint16, query, table []uint64) { hammingGo(distances, query, table) }

func markBitmaps(marks []uint8, query *bitmapQuery, blocks []uint64) {
	markBitmapsGo(marks, query, blocks)
}

func intersect64(a, b []uint64, need int) int { return intersectGo(a, b, need) }

func intersect32(a, b []uint32, need int) int { return intersectGo(a, b, need) }

func runScan(s *Scan, _ *Classes, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	return runScanGo(s, folded, starts, ends, window, limit)
}
