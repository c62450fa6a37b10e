//go:build arm64 && !purego

package asmkernels

// runScan is Scan.Run, and takes only blocks of ASCII, as runScanGo does.
func runScan(s *Scan, _ *Classes, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	if tier < NEON {
		return runScanGo(s, folded, starts, ends, window, limit)
	}
	at := 0
	for ; at < limit; at += BlockSize {
		letters, all := foldNEON((*[BlockSize]byte)(folded[s.Written:]), (*[BlockSize]byte)(window[at:]))
		if all&highBits != 0 {
			s.Letters = letters
			break
		}
		s.Advance(starts, ends, letters, 0, BlockSize)
	}
	return at
}

// foldNEON sets bit 5 of all bytes, and returns which are ASCII letters or
// digits, and the words of eight bytes joined by or.
//
//go:noescape
func foldNEON(folded, source *[BlockSize]byte) (letters, all uint64)
