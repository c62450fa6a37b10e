package sketch

import (
	"slices"

	"mirrorbeam/asmkernels"
)

const (
	// tokenBlock is the number of bytes that the token hash takes in at once.
	tokenBlock = asmkernels.TokenBlock

	// elementBits is the number of bits of a set element.
	elementBits = asmkernels.ElementBits
)

// hashToken hashes a token of any length after a prefix. It reads a whole block where the last one begins, so
// token must have that capacity.
func hashToken(prefix uint64, token []byte) uint64 {
	return asmkernels.HashToken(prefix, token)
}

// appendHashes appends the hashes of the chunk's finished tokens.
func (t *tokenizer) appendHashes(hashes []uint64) []uint64 {
	count, known := t.scan.Ends, len(hashes)
	if count == 0 {
		return hashes
	}
	hashes = slices.Grow(hashes, count)[:known+count]
	chunk := hashes[known:]
	asmkernels.HashTokens(chunk, t.seed, t.folded[:], t.starts[:], t.ends[:], t.long[:])
	if t.prefix != t.seed {
		chunk[0] = hashToken(t.prefix, t.folded[t.starts[0]:t.ends[0]])
	}
	return hashes
}

// shingleElement hashes the token hashes of a shingle to an element of a set, which has 48 bits.
func shingleElement(tokens []uint64) uint64 {
	var element [1]uint64
	asmkernels.Shingles(element[:], tokens, len(tokens))
	return element[0]
}

// appendShingles appends the element of every run of width adjacent token hashes.
func appendShingles(elements, tokens []uint64, width int) []uint64 {
	count := len(tokens) - width + 1
	if count <= 0 {
		return elements
	}
	known := len(elements)
	elements = slices.Grow(elements, count)[:known+count]
	asmkernels.Shingles(elements[known:], tokens, width)
	return elements
}
