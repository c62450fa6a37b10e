package asmkernels

import "math"

// minHashLanes is the number of components computed together: as many as have room for their minima in the registers of
// amd64. The multipliers are read from memory at every step, since they would only push the minima out.
const minHashLanes = 7

// MinHash sets every signature[i] to the smallest of
//
//	multipliers[i] * max(1, x>>16)    (modulo 2^32)
//
// over the elements x of set, which are below 2^48: the product takes the upper 32 of their 48 bits, with 0 replaced by
// 1. The multipliers must be odd, so that each is a permutation of the 32-bit numbers. The signature of the empty set
// is math.MaxUint32 throughout.
//
// Len(multipliers) must be at least len(signature).
func MinHash(signature, multipliers []uint32, set []uint64) {
	minHash(signature, multipliers[:len(signature)], set)
}

// minHashGo is MinHash for as many multipliers as components.
func minHashGo(signature, multipliers []uint32, set []uint64) {
	for len(signature) >= minHashLanes {
		minHashBlock((*[minHashLanes]uint32)(signature), (*[minHashLanes]uint32)(multipliers), set)
		signature, multipliers = signature[minHashLanes:], multipliers[minHashLanes:]
	}
	if len(signature) > 0 {
		var minima, factors [minHashLanes]uint32
		copy(factors[:], multipliers)
		minHashBlock(&minima, &factors, set)
		copy(signature, minima[:])
	}
}

// minHashBlock is MinHash for exactly minHashLanes components.
func minHashBlock(signature, multipliers *[minHashLanes]uint32, set []uint64) {
	var (
		s0, s1, s2, s3 uint32 = math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32
		s4, s5, s6     uint32 = math.MaxUint32, math.MaxUint32, math.MaxUint32
	)
	for _, x := range set {
		v := max(uint32(x>>16), 1)
		s0 = min(s0, v*multipliers[0])
		s1 = min(s1, v*multipliers[1])
		s2 = min(s2, v*multipliers[2])
		s3 = min(s3, v*multipliers[3])
		s4 = min(s4, v*multipliers[4])
		s5 = min(s5, v*multipliers[5])
		s6 = min(s6, v*multipliers[6])
	}
	*signature = [minHashLanes]uint32{s0, s1, s2, s3, s4, s5, s6}
}
