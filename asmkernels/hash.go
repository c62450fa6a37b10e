package asmkernels

import (
	"encoding/binary"
	"math/bits"
)

const (
	// TokenBlock is the number of bytes that the token hash takes in at once.
	TokenBlock = 16

	// ElementBits is the number of bits of a set element.
	ElementBits = 48
)

// The factors of two fixed permutations that make hashes look random even where tokens do not: odd numbers with well
// mixed bits, from the finalizers of SplitMix64 and MurmurHash3. Nobody's safety rests on them.
const (
	tokenFactor   = 0x9e3779b97f4a7c15
	elementFactor = 0xd7ed558ccd51afd7 >> (64 - ElementBits)
)

// Hash hashes tokens and shingles under secret keys. For uniform keys two different sequences of tokens become one
// element with a probability below 2^-46; docs/internals/decisions/0017-hash-proof.md proves it.
//
// A token is four words of 32 bits, and four more if it has a prefix. Each half of its hash is
//
//	(k0 + x1)(k1 + x0) + (k2 + x3)(k3 + x2) + ... + c  modulo 2^64
//
// without the lower 32 bits: Multilinear-HM of Lemire and Kaser, pair-multiply-shift of Thorup. An element is
//
//	a0*t0 + a1*t1 + ... + c  modulo 2^64
//
// without the lower 16 bits, after a permutation. What golden tests watch must never change: stored sets would lose
// their meaning.
type Hash struct {
	short   shortKeys
	long    [2][5]uint64 // for each half four keys of a prefix, and an addend that replaces the one of shortKeys
	points  [2]point     // where the polynomials of prefixes are taken
	shingle []uint64     // the addend, then a factor for each place
	run     []uint64     // the same for code points of a run
}

// shortKeys has four keys and the addend for each half of the hash of a token without a prefix.
type shortKeys [2][5]uint64

// A Prefix is what the hash has made of the beginning of a token. It is zero if there is none.
type Prefix struct {
	blocks    int    // 2 for more than one
	low, high uint64 // the bytes of the one block; of more blocks the values of a polynomial at two points
}

// NewHash returns a Hash with keys that random draws, for shingles and runs of at most these widths. Random returns
// uniform numbers. The keys of narrower shingles are among the keys of wider ones.
func NewHash(random func() uint64, shingle, run int) *Hash {
	h := &Hash{shingle: make([]uint64, 1+shingle), run: make([]uint64, 1+run)}
	for half := range h.short {
		for i := range h.short[half] {
			h.short[half][i] = random()
		}
		k := &h.long[half]
		for i := range 4 {
			k[i] = random()
		}
		// So a token without a prefix is one whose prefix is zero.
		k[4] = h.short[half][4] - k[0]*k[1] - k[2]*k[3]
	}
	for i := range h.points {
		h.points[i] = newPoint(random)
	}
	for i := range h.shingle {
		h.shingle[i] = random()
	}
	for i := range h.run {
		h.run[i] = random()
	}
	return h
}

const prime = 1<<61 - 1

// reduce returns a number below 2^124 modulo prime.
func reduce(high, low uint64) uint64 {
	x := low&prime + (high<<3 | low>>61)
	x = x&prime + x>>61
	return x - prime&-((x+1)>>61)
}

type point struct{ x, square, cube uint64 }

func newPoint(random func() uint64) point {
	x := uint64(prime)
	for x == prime {
		x = random() & prime
	}
	square := reduce(bits.Mul64(x, x))
	return point{x, square, reduce(bits.Mul64(square, x))}
}

// next returns the value of the polynomial that goes on with the bytes low and high, which are three coefficients. As
// no token contains a zero byte, the first of them is not zero. So polynomials of different tokens differ.
func (p *point) next(value, low, high uint64) uint64 {
	const width, mask = 43, 1<<43 - 1
	sum, sumLow := bits.Mul64(value, p.cube)
	for _, term := range [2][2]uint64{{p.square, low & mask}, {p.x, (low>>width | high<<(64-width)) & mask}} {
		productHigh, productLow := bits.Mul64(term[0], term[1])
		var carry uint64
		sumLow, carry = bits.Add64(sumLow, productLow, 0)
		sum += productHigh + carry
	}
	sumLow, carry := bits.Add64(sumLow, high>>(2*width-64), 0)
	return reduce(sum+carry, sumLow)
}

// Blocks takes blocks away from the beginning of a token until the rest has at most TokenBlock bytes. It returns the
// prefix that these make together with an earlier prefix, and the rest.
func (h *Hash) Blocks(prefix Prefix, token []byte) (Prefix, []byte) {
	for len(token) > TokenBlock {
		low, high := binary.LittleEndian.Uint64(token), binary.LittleEndian.Uint64(token[8:])
		prefix = h.longer(prefix, low, high)
		token = token[TokenBlock:]
	}
	return prefix, token
}

func (h *Hash) longer(prefix Prefix, low, high uint64) Prefix {
	switch prefix.blocks {
	case 0:
		return Prefix{1, low, high}
	case 1:
		prefix = Prefix{2, h.points[0].next(0, prefix.low, prefix.high), h.points[1].next(0, prefix.low, prefix.high)}
	}
	return Prefix{2, h.points[0].next(prefix.low, low, high), h.points[1].next(prefix.high, low, high)}
}

// tokenMasks[n] selects the first n bytes of a block.
var tokenMasks = func() (masks [TokenBlock + 1]struct{ low, high uint64 }) {
	for n := range masks {
		// A shift by 64 or more leaves nothing.
		masks[n].low = ^(^uint64(0) << (8 * n))
		masks[n].high = ^(^uint64(0) << (8 * max(n-8, 0)))
	}
	return masks
}()

// load returns the first length bytes of block, padded with zeros. That keeps tokens of different lengths apart because
// no token contains a zero byte: U+0000 is neither letter nor digit nor mark.
func load(block *[TokenBlock]byte, length int) (low, high uint64) {
	mask := &tokenMasks[length]
	return binary.LittleEndian.Uint64(block[:]) & mask.low, binary.LittleEndian.Uint64(block[8:]) & mask.high
}

// pair is the sum of two products of Multilinear-HM. The factors k[1] + low and k[3] + high take in all of low and
// high, not only their lower halves. The proof does not need more, and that saves two operations.
func pair(k *[5]uint64, low, high uint64) uint64 {
	return (k[0]+low>>32)*(k[1]+low) + (k[2]+high>>32)*(k[3]+high)
}

// join makes the hash of a token of its halves.
func join(first, second uint64) uint64 {
	x := first&^(1<<32-1) | second>>32
	return (x ^ x>>32) * tokenFactor
}

// hash is the hash of the bytes low and high without a prefix.
func (k *shortKeys) hash(low, high uint64) uint64 {
	return join(pair(&k[0], low, high)+k[0][4], pair(&k[1], low, high)+k[1][4])
}

// Token returns the hash of a token of any length after a prefix. It reads a whole block where the last one begins, so
// token must have the capacity.
func (h *Hash) Token(prefix Prefix, token []byte) uint64 {
	prefix, token = h.Blocks(prefix, token)
	low, high := load((*[TokenBlock]byte)(token[:TokenBlock]), len(token))
	return join(
		pair(&h.short[0], low, high)+pair(&h.long[0], prefix.low, prefix.high)+h.long[0][4],
		pair(&h.short[1], low, high)+pair(&h.long[1], prefix.low, prefix.high)+h.long[1][4])
}

// Tokens sets hashes[i] to the hash of folded[starts[i]:ends[i]] without a prefix, for all of hashes, fewer than 2^16.
// TokenBlock bytes must be readable from the last block of every token.
//
// Long is scratch, with room for eight elements more than there are hashes.
func (h *Hash) Tokens(hashes []uint64, folded []byte, starts, ends, long []uint16) {
	starts, ends = starts[:len(hashes)], ends[:len(hashes)]
	count := hashTokens(hashes, &h.short, folded, starts, ends, long[:len(hashes)+8])
	for _, i := range long[:count] {
		hashes[i] = h.Token(Prefix{}, folded[starts[i]:ends[i]])
	}
}

// hashTokensGo hashes tokens of up to a block. It writes the numbers of longer ones to long, and returns their count.
func hashTokensGo(hashes []uint64, keys *shortKeys, folded []byte, starts, ends, long []uint16) (count int) {
	for i, start := range starts {
		length := ends[i] - start
		if length > TokenBlock {
			long[count] = uint16(i)
			count++
			continue
		}
		hashes[i] = keys.hash(load((*[TokenBlock]byte)(folded[start:]), int(length)))
	}
	return count
}

// Shingles sets elements[i] to the element of a set, 48 bits, that stands for the width tokens from token i. Tokens
// holds their hashes, and width-1 of them more than there are elements.
func (h *Hash) Shingles(elements, tokens []uint64, width int) {
	tokens = tokens[:len(elements)+width-1]
	if width == 3 {
		shinglesOfThree(elements, tokens, (*[4]uint64)(h.shingle))
		return
	}
	for i := range elements {
		elements[i] = element(sum(h.shingle, tokens[i:i+width]))
	}
}

// Run returns the hash of a token that consists of code points with these hashes.
func (h *Hash) Run(characters []uint64) uint64 { return sum(h.run, characters) }

// sum multiplies each hash by the key of its place.
func sum(keys, hashes []uint64) uint64 {
	x, keys := keys[0], keys[1:][:len(hashes)]
	for i, hash := range hashes {
		x += keys[i] * hash
	}
	return x
}

// shinglesOfThreeGo is Shingles for the usual width, without the inner loop.
func shinglesOfThreeGo(elements, tokens []uint64, keys *[4]uint64) {
	count := len(elements)
	first, second, third := tokens[:count], tokens[1:][:count], tokens[2:][:count]
	for i := range elements {
		elements[i] = element(keys[0] + keys[1]*first[i] + keys[2]*second[i] + keys[3]*third[i])
	}
}

// element turns a sum into an element: a permutation of its upper 48 bits.
func element(x uint64) uint64 {
	x >>= 64 - ElementBits
	x ^= x >> (ElementBits / 2)
	x = x * (elementFactor << (64 - ElementBits)) >> (64 - ElementBits)
	return x ^ x>>(ElementBits/2)
}
