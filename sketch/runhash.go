package sketch

import (
	"math/bits"

	"mirrorbeam/asmkernels"
)

// RunHash hashes runs of words: the hashes of the words are the coefficients of a polynomial, and its value at a secret point, modulo a
// prime number, is the hash of the run. Two different runs of n words have the same hash for n of 2^61 points at most. So whoever does
// not know the seed makes two runs alike with no more than that probability, if their words have different hashes.
type RunHash struct {
	point, last uint64 // last is the point to the power of the length
	length      int
}

const (
	// modulus is the prime number.
	modulus = 1<<61 - 1
	// runPurpose makes the point another one than all else that the seed is the key of.
	runPurpose = 0x7061737361676573
)

// NewRunHash returns the hash of a seed. The length is that of the runs that [RunHash.Each] visits, in words, at least 1.
func NewRunHash(seed uint64, length int) RunHash {
	h := RunHash{point: asmkernels.SplitMix(seed^runPurpose)%(modulus-2) + 2, last: 1, length: length}
	for range length {
		h.last = timesModulo(h.last, h.point)
	}
	return h
}

// timesModulo multiplies two numbers below the modulus.
func timesModulo(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return reduced(low&modulus + (high<<3 | low>>61))
}

// reduced returns a number below twice the modulus, modulo that.
func reduced(a uint64) uint64 {
	if a >= modulus {
		return a - modulus
	}
	return a
}

// Of returns the hash of one run, however many words it has, given their hashes of 48 bits. It is another one than [RunHash.Each] gives
// the same words.
func (h *RunHash) Of(words []uint64) uint64 {
	sum := uint64(1) // so other numbers of words are other polynomials
	for _, word := range words {
		sum = reduced(timesModulo(sum, h.point) + word)
	}
	return asmkernels.SplitMix(sum)
}

// Each visits all runs of the length among words, by their first words, given the hashes of these of 48 bits. It ends with the first error.
func (h *RunHash) Each(words []uint64, visit func(first int64, hash uint64) error) error {
	sum := uint64(0)
	for i, word := range words {
		sum = reduced(timesModulo(sum, h.point) + word)
		if i >= h.length {
			sum = reduced(sum + modulus - timesModulo(words[i-h.length], h.last))
		}
		if first := i + 1 - h.length; first >= 0 {
			if err := visit(int64(first), asmkernels.SplitMix(sum)); err != nil {
				return err
			}
		}
	}
	return nil
}
