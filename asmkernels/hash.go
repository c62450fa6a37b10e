package asmkernels

import (
	"encoding/binary"
	"math/bits"
)

// The constants of the hashes: odd numbers with well mixed bits, from the
// finalizers of SplitMix64 and MurmurHash3. They must never change, nor may
// anything else in this file that golden tests watch: stored sets would lose
// their meaning.
const (
	tokenFactor1  = 0x9e3779b97f4a7c15
	tokenFactor2  = 0xbf58476d1ce4e5b9
	tokenFactor3  = 0x94d049bb133111eb
	tokenAddend   = 0xc4ceb9fe1a85ec53
	shingleFactor = 0xff51afd7ed558ccd

	// shingleRotation is the number of bits by which the hashes of neighbours
	// in a shingle are rotated against each other. It is odd, so that the
	// first 64 tokens all have a rotation of their own.
	shingleRotation = 21
)

const (
	// TokenBlock is the number of bytes that the token hash takes in at once.
	TokenBlock = 16

	// ElementBits is the number of bits of a set element.
	ElementBits = 48
)

// mixToken hashes the TokenBlock bytes low and high after a prefix with the
// hash state prefix. If two of the three are given, it is a permutation of the
// third; so tokens of up to eight bytes never collide. It makes do with three
// 64-bit low products, which vector units have, unlike the 128-bit ones.
func mixToken(prefix, low, high uint64) uint64 {
	x := (prefix + low) * tokenFactor1
	x ^= x >> 32
	x = (x+high)*tokenFactor2 + tokenAddend
	x ^= x >> 32
	x *= tokenFactor3
	return x ^ x>>29
}

// HashBlocks folds the blocks of token that cannot be its last one into the
// hash state prefix, and returns the new state and the rest of token, at most
// TokenBlock bytes.
func HashBlocks(prefix uint64, token []byte) (uint64, []byte) {
	for len(token) > TokenBlock {
		prefix = mixToken(prefix, binary.LittleEndian.Uint64(token), binary.LittleEndian.Uint64(token[8:]))
		token = token[TokenBlock:]
	}
	return prefix, token
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

// mixLastBlock is mixToken for the first length bytes of block, padded with
// zeros. That keeps tokens of different lengths apart because no token contains
// a zero byte: U+0000 is neither letter nor digit nor mark.
func mixLastBlock(prefix uint64, block *[TokenBlock]byte, length int) uint64 {
	mask := &tokenMasks[length]
	return mixToken(prefix,
		binary.LittleEndian.Uint64(block[:])&mask.low,
		binary.LittleEndian.Uint64(block[8:])&mask.high)
}

// HashToken returns the hash of a token of any length after a prefix with the
// hash state prefix, the seed if there is none. It reads a whole block where the last
// one begins, so token must have the capacity.
func HashToken(prefix uint64, token []byte) uint64 {
	prefix, token = HashBlocks(prefix, token)
	return mixLastBlock(prefix, (*[TokenBlock]byte)(token[:TokenBlock]), len(token))
}

// HashTokens sets hashes[i] to the hash of folded[starts[i]:ends[i]] with a seed,
// for all of hashes, fewer than 2^16. TokenBlock bytes must be readable from the last block
// of every token.
//
// Long is scratch, with room for eight elements more than there are hashes.
func HashTokens(hashes []uint64, seed uint64, folded []byte, starts, ends, long []uint16) {
	starts, ends = starts[:len(hashes)], ends[:len(hashes)]
	hashTokens(hashes, seed, folded, starts, ends, long[:len(hashes)+8])
}

// hashTokensGo is HashTokens, without scratch.
func hashTokensGo(hashes []uint64, seed uint64, folded []byte, starts, ends []uint16) {
	for i, start := range starts {
		if length := ends[i] - start; length <= TokenBlock {
			hashes[i] = mixLastBlock(seed, (*[TokenBlock]byte)(folded[start:]), int(length))
		} else {
			hashes[i] = HashToken(seed, folded[start:ends[i]])
		}
	}
}

// Shingles sets elements[i] to the element of a set, 48 bits, that stands for
// the width tokens from token i. Tokens holds their hashes, and width-1 of them
// more than there are elements.
func Shingles(elements, tokens []uint64, width int) {
	tokens = tokens[:len(elements)+width-1]
	if width == 3 {
		shinglesOfThree(elements, tokens)
		return
	}
	for i := range elements {
		var sum uint64
		for j, token := range tokens[i : i+width] {
			sum += bits.RotateLeft64(token, shingleRotation*j)
		}
		elements[i] = finishShingle(sum)
	}
}

// shinglesOfThreeGo is Shingles for the usual width, without the inner loop.
func shinglesOfThreeGo(elements, tokens []uint64) {
	count := len(elements)
	first, second, third := tokens[:count], tokens[1:][:count], tokens[2:][:count]
	for i := range elements {
		elements[i] = finishShingle(first[i] +
			bits.RotateLeft64(second[i], shingleRotation) +
			bits.RotateLeft64(third[i], 2*shingleRotation))
	}
}

// finishShingle turns the sum of the rotated token hashes into an element.
func finishShingle(sum uint64) uint64 {
	sum ^= sum >> 32
	sum *= shingleFactor
	sum ^= sum >> 32
	return sum >> (64 - ElementBits)
}
