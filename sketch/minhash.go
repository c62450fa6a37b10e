package sketch

import (
	"fmt"
	"hash/crc32"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// MinHash computes MinHash signatures (Broder, On the resemblance and containment of documents, 1997). Its
// functions are x -> a*x modulo 2^32 for odd a, on the upper 32 bits of hashes of 48 bits. These functions
// permute the 32-bit numbers. On sets of 5 to 100,000 hashes, the estimate was measured to have the variance
// of independent random permutations, J(1-J)/components for a similarity J.
//
// A MinHash may be used by any number of goroutines.
type MinHash struct {
	multipliers []uint32
}

// multiplierSeed is the state from which the multipliers are drawn.
const multiplierSeed = 0x6d696e68617368

// NewMinHash returns a MinHash for signatures of the given number of components. The first components are the same for
// every number. The multipliers are the upper halves of successive outputs of SplitMix64 (Steele, Lea, Flood, Fast
// splittable pseudorandom number generators, 2014), made odd. The error says that the number is negative.
func NewMinHash(components int) (*MinHash, error) {
	if components < 0 {
		return nil, fmt.Errorf("signatures of %d components: must be 0 or more", components)
	}
	m := &MinHash{multipliers: make([]uint32, components)}
	state := uint64(multiplierSeed)
	for i := range m.multipliers {
		state += asmkernels.SplitMixStep
		m.multipliers[i] = uint32(asmkernels.SplitMix(state)>>32) | 1
	}
	return m, nil
}

// Signature returns the signature of a set of any numbers, such as hashes of 64 bits or ids from a counter: it mixes
// them first, so it needs no hashes. It overwrites dst and uses its memory if it is large enough. The share of equal
// components in the signatures of two sets estimates their Jaccard similarity. All components of the empty set are
// math.MaxUint32.
func (m *MinHash) Signature(dst []uint32, set []uint64) []uint32 {
	mixed := make([]uint64, 0, 512) // on the stack
	for _, element := range set {
		// SplitMix alone would leave 0 as it is.
		mixed = append(mixed, asmkernels.SplitMix(element+asmkernels.SplitMixStep)>>16)
	}
	return m.SignatureOfHashes(dst, mixed)
}

// SignatureOfHashes is Signature for a set whose elements are hashes of 48 bits, as in [Document.Set]. It takes their
// upper 32 bits as they are, so it returns another signature than Signature.
func (m *MinHash) SignatureOfHashes(dst []uint32, set []uint64) []uint32 {
	dst = slices.Grow(dst[:0], len(m.multipliers))[:len(m.multipliers)]
	asmkernels.MinHash(dst, m.multipliers, set)
	return dst
}

// Estimate says what the fingerprints of two sets A and B show about the sets. A share of nothing is 0.
type Estimate struct {
	// Jaccard estimates |A and B| / |A or B|.
	Jaccard float64

	// ContainmentA estimates |A and B| / |A|, the share of A that is in B, and ContainmentB |A and B| / |B|.
	ContainmentA, ContainmentB float64

	// Exact says that the fingerprints are the whole sets. Then the figures are exact.
	Exact bool
}

// EstimateFingerprints compares sets of random hashes by their fingerprints a and b. A fingerprint has the
// size smallest elements of a set, or all if there are fewer, in ascending order. [SingleHash] and [BottomK]
// make such fingerprints.
//
// It looks at the size smallest elements of the union (Broder, On the resemblance and containment of documents, 1997).
// They are a random sample of the union, and each is known to be in A, B or both. The shares of that sample estimate
// the Jaccard similarity J without bias and with a variance below J(1-J)/size. They estimate the containments without
// bias unless the sample has no element of the set. If the sizes of the sets are known, [Overlap] can say more often
// that a figure is exact. The score of the article takes the fingerprints as if they were the sets, which has a bias if
// these differ in size: see [asmkernels.JaccardClassical].
func EstimateFingerprints[T uint32 | uint64](a, b []T, size int) Estimate {
	exact := len(a) < size && len(b) < size
	if exact {
		size = len(a) + len(b)
	}
	common, onlyA, onlyB := countSmallest(a, b, size)
	return Estimate{
		Jaccard:      share(common, common+onlyA+onlyB),
		ContainmentA: share(common, common+onlyA),
		ContainmentB: share(common, common+onlyB),
		Exact:        exact,
	}
}

// Jaccard returns the exact Jaccard similarity of two sets in strictly ascending order, from 0 to 1: the number of
// elements in both, divided by the number of elements in either. It is 0 for two empty sets.
func Jaccard[E uint32 | uint64](a, b []E) float64 {
	common := asmkernels.Intersect(a, b, 0)
	return share(common, len(a)+len(b)-common)
}

// share returns the quotient. A share of nothing is 0.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// universalPrime is the smallest prime above all 32-bit numbers.
const universalPrime = 1<<32 + 15

// UniversalMinHash computes MinHash signatures in the way of textbooks and of the tutorial by Chris McCormick
// (MinHash tutorial with Python code, 2015). It uses the universal hash functions x -> (a*x + b) mod p on
// 32-bit numbers, for random a and b and the smallest prime p above 1<<32. It is a reference, against which
// other schemes are checked: [MinHash] is faster and as good.
//
// A UniversalMinHash may be used by any number of goroutines.
type UniversalMinHash struct {
	factors, addends []uint64 // below 1<<32, factors not 0
}

// NewUniversalMinHash returns a UniversalMinHash for signatures of the given number of components. The seed draws the
// functions. The first components are the same for every number. The error says that the number is negative.
func NewUniversalMinHash(components int, seed uint64) (*UniversalMinHash, error) {
	if components < 0 {
		return nil, fmt.Errorf("signatures of %d components: must be 0 or more", components)
	}
	m := &UniversalMinHash{}
	for len(m.factors) < components {
		seed += asmkernels.SplitMixStep
		random := asmkernels.SplitMix(seed)
		// Two functions with one factor would be too much alike.
		if factor := random >> 32; factor != 0 && !slices.Contains(m.factors, factor) {
			m.factors = append(m.factors, factor)
			m.addends = append(m.addends, random&(1<<32-1))
		}
	}
	return m, nil
}

// Signature returns the signature of a set of shingles: for each function, its smallest value on the set, below 1<<32 +
// 15. It overwrites dst and uses its memory if it is large enough. The share of equal components in two signatures, see
// [SignatureAgreement], estimates the Jaccard similarity of the sets. All components of the empty set are 1<<32 + 15.
func (m *UniversalMinHash) Signature(dst []uint64, shingles []uint32) []uint64 {
	dst = dst[:0]
	for i, factor := range m.factors {
		smallest := uint64(universalPrime)
		for _, shingle := range shingles {
			// The sum has 64 bits at the most.
			smallest = min(smallest, (factor*uint64(shingle)+m.addends[i])%universalPrime)
		}
		dst = append(dst, smallest)
	}
	return dst
}

// SignatureAgreement returns the share of equal components in two MinHash signatures of the same length, from
// 0 to 1. It estimates the Jaccard similarity J of the sets. For elements that are hashes, it does so without
// bias, with a variance of J(1-J) divided by the number of components. For signatures without components it is 0.
//
// The functions of [UniversalMinHash] are linear, so of small numbers that lie close together, such as ids from a
// counter, the least and the greatest come first too often. Then the estimate is biased: for two ranges of consecutive
// numbers with a similarity of 2/3 it was 0.59 in the mean, and with 1/3 it was 0.28, whatever the number of
// components. [MinHash.Signature] mixes such ids first.
func SignatureAgreement[T uint32 | uint64](a, b []T) float64 {
	equal := 0
	for i, component := range a {
		if component == b[i] {
			equal++
		}
	}
	return share(equal, len(a))
}

// AppendCRC32Shingles appends the distinct shingles of text to dst in ascending order. They are the shingles
// of the tutorial: CRC32 checksums (IEEE) of every width adjacent words, joined by single spaces. Words are
// separated by white space. A width below 1 counts as 1. A text with fewer words has no shingles.
func AppendCRC32Shingles(dst []uint32, text []byte, width int) []uint32 {
	width = max(width, 1)
	words := SplitWords(nil, text)
	known := len(dst)
	for i := range max(len(words)-width+1, 0) {
		sum := uint32(0)
		for j, word := range words[i : i+width] {
			if j > 0 {
				sum = crc32.Update(sum, crc32.IEEETable, []byte(" "))
			}
			sum = crc32.Update(sum, crc32.IEEETable, word)
		}
		dst = append(dst, sum)
	}
	added := dst[known:]
	slices.Sort(added)
	return dst[:known+len(slices.Compact(added))]
}
