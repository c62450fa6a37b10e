//go:build arm64 && !purego

package asmkernels

// hammingRowsNEON is the number of rows of one word that the kernel takes at once.
const hammingRowsNEON = 8

func hamming(distances []uint16, query, table []uint64) {
	switch {
	case tier < NEON || len(query) > hammingWords || len(distances) == 0:
		hammingGo(distances, query, table)
	case len(query) > 1:
		hammingNEON(distances, query, table)
	case len(query) == 1:
		rows := len(distances) &^ (hammingRowsNEON - 1)
		if rows > 0 {
			hammingWordNEON(distances[:rows], query[0], table)
		}
		hammingGo(distances[rows:], query, table[rows:])
	}
}

// hammingWordNEON is hammingGo for one word and a multiple of eight rows, but
// not for none.
//
//go:noescape
func hammingWordNEON(distances []uint16, query uint64, table []uint64)

// hammingNEON is hammingGo for two to 16 words and one row or more.
//
//go:noescape
func hammingNEON(distances []uint16, query, table []uint64)
