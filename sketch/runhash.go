package sketch

import (
	"math/bits"

	"mirrorbeam.dev/asmkernels"
)

// Run is a run of words, known by its hash of 93 bits. Bits of Hash are evenly spread.
type Run struct {
	Hash  uint64 // 61 bits, mixed
	Check uint32
}

// RunHash hashes runs of words: the hashes of the words are the coefficients of a polynomial, whose values at two
// secret points, modulo a prime number, make the hash of the run. Two different runs of n words have the same value at
// n of 2^61 points at most. So whoever does not know the seed cannot make two runs alike, if their words have different
// hashes.
type RunHash struct{ hash, check polynomial }

// polynomial is the value of runs at a point.
type polynomial struct {
	point, last uint64 // last is the point to the power of the length
	length      int
}

const (
	modulus = 1<<61 - 1
	// runPurpose makes the points others than all else that the seed is the key of.
	runPurpose = 0x7061737361676573
)

// NewRunHash returns the hash of a seed. The runs that [RunHash.Each] visits have the length in words, at least 1.
func NewRunHash(seed uint64, length int) RunHash {
	first := asmkernels.SplitMix(seed ^ runPurpose)
	return RunHash{
		newPolynomial(first, length),
		newPolynomial(asmkernels.SplitMix(first+asmkernels.SplitMixStep), length),
	}
}

func newPolynomial(random uint64, length int) polynomial {
	p := polynomial{point: random%(modulus-2) + 2, last: 1, length: length}
	for range length {
		p.last = timesModulo(p.last, p.point)
	}
	return p
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

// with returns the value of a run with one more word behind it.
func (p *polynomial) with(value, word uint64) uint64 {
	return reduced(timesModulo(value, p.point) + word)
}

// without returns the value of a run of one word more than the length, without its first word.
func (p *polynomial) without(value, word uint64) uint64 {
	return reduced(value + modulus - timesModulo(word, p.last))
}

func runOf(hash, check uint64) Run {
	return Run{asmkernels.SplitMix(hash), uint32(asmkernels.SplitMix(check))}
}

// Of returns one run, however many words it has, given their hashes of 48 bits. It is another one than [RunHash.Each]
// gives the same words.
func (h *RunHash) Of(words []uint64) Run {
	hash, check := uint64(1), uint64(1) // so other numbers of words are other polynomials
	for _, word := range words {
		hash, check = h.hash.with(hash, word), h.check.with(check, word)
	}
	return runOf(hash, check)
}

// Each visits all runs of the length among words, by their first words, given the hashes of these of 48 bits. It ends
// with the first error.
func (h *RunHash) Each(words []uint64, visit func(first int64, run Run) error) error {
	hash, check, length := uint64(0), uint64(0), h.hash.length
	for i, word := range words {
		hash, check = h.hash.with(hash, word), h.check.with(check, word)
		if i >= length {
			hash, check = h.hash.without(hash, words[i-length]), h.check.without(check, words[i-length])
		}
		if first := i + 1 - length; first >= 0 {
			if err := visit(int64(first), runOf(hash, check)); err != nil {
				return err
			}
		}
	}
	return nil
}
