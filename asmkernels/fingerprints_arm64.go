//go:build arm64 && !purego

package asmkernels

func markBitmaps(marks []uint8, query *bitmapQuery, blocks []uint64) {
	if tier < NEON || len(marks) == 0 {
		markBitmapsGo(marks, query, blocks)
		return
	}
	markBitmapsNEON(marks, (*[bitmapWords + 4]uint64)(query), blocks)
}

// markBitmapsNEON is markBitmapsGo for one block or more, and for fingerprints
// of fewer than 2^31 elements.
//
//go:noescape
func markBitmapsNEON(marks []uint8, query *[bitmapWords + 4]uint64, blocks []uint64)
