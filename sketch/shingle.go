package sketch

import (
	"encoding/binary"
	"math/bits"
	"slices"
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

	// tokenBlock is the number of bytes that the token hash takes in at once.
	tokenBlock = 16
)

// mixToken hashes the tokenBlock bytes low and high after a prefix with the
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

// foldBlocks folds the blocks of token that cannot be its last one into the
// hash state prefix, and returns the new state and the rest of token, at most
// tokenBlock bytes.
func foldBlocks(prefix uint64, token []byte) (uint64, []byte) {
	for len(token) > tokenBlock {
		prefix = mixToken(prefix, binary.LittleEndian.Uint64(token), binary.LittleEndian.Uint64(token[8:]))
		token = token[tokenBlock:]
	}
	return prefix, token
}

// tokenMasks[n] selects the first n bytes of a block.
var tokenMasks = func() (masks [tokenBlock + 1]struct{ low, high uint64 }) {
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
func mixLastBlock(prefix uint64, block *[tokenBlock]byte, length int) uint64 {
	mask := &tokenMasks[length]
	return mixToken(prefix,
		binary.LittleEndian.Uint64(block[:])&mask.low,
		binary.LittleEndian.Uint64(block[8:])&mask.high)
}

// hashToken hashes a token of any length after a prefix. It reads a whole block
// where the last one begins, so token must have the capacity.
func hashToken(prefix uint64, token []byte) uint64 {
	prefix, token = foldBlocks(prefix, token)
	return mixLastBlock(prefix, (*[tokenBlock]byte)(token[:tokenBlock]), len(token))
}

// appendHashes appends the hashes of the chunk's finished tokens.
func (t *tokenizer) appendHashes(hashes []uint64) []uint64 {
	count, known := t.endCount, len(hashes)
	if count == 0 {
		return hashes
	}
	hashes = slices.Grow(hashes, count)[:known+count]
	starts, ends, chunk := t.starts[:count], t.ends[:count], hashes[known:]
	for i, start := range starts {
		if length := ends[i] - start; length <= tokenBlock {
			chunk[i] = mixLastBlock(0, (*[tokenBlock]byte)(t.folded[start:]), int(length))
		} else {
			chunk[i] = hashToken(0, t.folded[start:ends[i]])
		}
	}
	if t.prefix != 0 {
		chunk[0] = hashToken(t.prefix, t.folded[starts[0]:ends[0]])
	}
	return hashes
}

// shingleElement hashes the hashes of the tokens of a shingle to an element of
// a set, 48 bits.
func shingleElement(tokens []uint64) uint64 {
	var sum uint64
	for i, token := range tokens {
		sum += bits.RotateLeft64(token, shingleRotation*i)
	}
	return finishShingle(sum)
}

// finishShingle turns the sum of the rotated token hashes into an element.
func finishShingle(sum uint64) uint64 {
	sum ^= sum >> 32
	sum *= shingleFactor
	sum ^= sum >> 32
	return sum >> (64 - elementBits)
}

// appendShingles appends the elements for every width adjacent token hashes.
func appendShingles(elements, tokens []uint64, width int) []uint64 {
	count := len(tokens) - width + 1
	if count <= 0 {
		return elements
	}
	known := len(elements)
	elements = slices.Grow(elements, count)[:known+count]
	chunk := elements[known:]
	if width == 3 {
		// The usual width, without the inner loop.
		first, second, third := tokens[:count], tokens[1:][:count], tokens[2:][:count]
		for i := range chunk {
			chunk[i] = finishShingle(first[i] +
				bits.RotateLeft64(second[i], shingleRotation) +
				bits.RotateLeft64(third[i], 2*shingleRotation))
		}
		return elements
	}
	for i := range chunk {
		chunk[i] = shingleElement(tokens[i : i+width])
	}
	return elements
}
