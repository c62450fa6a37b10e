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

// appendHashes appends the hashes of the chunk's finished tokens.
func (t *tokenizer) appendHashes(hashes []uint64) []uint64 {
	count, known := t.scan.Ends, len(hashes)
	if count == 0 {
		return hashes
	}
	hashes = slices.Grow(hashes, count)[:known+count]
	chunk := hashes[known:]
	t.hash.Tokens(chunk, t.folded[:], t.starts[:], t.ends[:], t.long[:])
	if t.prefix != (asmkernels.Prefix{}) {
		chunk[0] = t.hash.Token(t.prefix, t.folded[t.starts[0]:t.ends[0]])
	}
	return hashes
}

// appendShingles appends the element of every run of width adjacent token hashes. It has 48 bits.
func appendShingles(elements []uint64, hash *asmkernels.Hash, tokens []uint64, width int) []uint64 {
	count := len(tokens) - width + 1
	if count <= 0 {
		return elements
	}
	known := len(elements)
	elements = slices.Grow(elements, count)[:known+count]
	hash.Shingles(elements[known:], tokens, width)
	return elements
}
