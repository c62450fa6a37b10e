//go:build arm64 && !purego

package asmkernels

// The numbers of components that the kernels compute together.
const (
	minHashManyNEON = 32
	minHashFewNEON  = 8
)

// minHash is MinHash for as many multipliers as components. The last components are computed together with some before
// them once more, which costs less than one by one.
func minHash(signature, multipliers []uint32, set []uint64) {
	if tier < NEON || len(signature) < minHashFewNEON {
		minHashGo(signature, multipliers, set)
		return
	}
	at := 0
	for ; at+minHashManyNEON <= len(signature); at += minHashManyNEON {
		minHash32NEON((*[minHashManyNEON]uint32)(signature[at:]), (*[minHashManyNEON]uint32)(multipliers[at:]), set)
	}
	for ; at < len(signature); at += minHashFewNEON {
		last := min(at, len(signature)-minHashFewNEON)
		minHash8NEON((*[minHashFewNEON]uint32)(signature[last:]), (*[minHashFewNEON]uint32)(multipliers[last:]), set)
	}
}

// minHash32NEON is minHashGo for 32 components.
//
//go:noescape
func minHash32NEON(signature, multipliers *[minHashManyNEON]uint32, set []uint64)

// minHash8NEON is minHashGo for eight components.
//
//go:noescape
func minHash8NEON(signature, multipliers *[minHashFewNEON]uint32, set []uint64)
