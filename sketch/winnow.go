package sketch

import (
	"math/bits"
	"slices"

	"mirrorbeam/asmkernels"
)

// Winnow appends to selected, in ascending order, the places of the hashes that winnowing selects (Schleimer,
// Wilkerson, Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003). It selects the
// smallest of every window of adjacent hashes. If two lists share a window, they share a selected hash of it,
// wherever the window is in them. A list that is shorter than a window counts as one. A window below 1 counts
// as 1.
//
// If hashes are equal, the rightmost in the window is selected, unless one of them was selected in the window
// before (the article's robust winnowing). That leaves out the repeats of a monotonous text. Of evenly spread
// hashes without repeats, 2 in window + 1 are selected.
func Winnow(selected []uint32, hashes []uint64, window int) []uint32 {
	if len(hashes) == 0 {
		return selected
	}
	window = min(max(window, 1), len(hashes))
	least := -1 // the place selected in the window before
	for end := window; end <= len(hashes); end++ {
		begin := end - window
		switch last := end - 1; {
		case least < begin:
			least = begin
			for i := begin + 1; i < end; i++ {
				if hashes[i] <= hashes[least] {
					least = i
				}
			}
		case hashes[last] < hashes[least]:
			least = last
		default:
			continue
		}
		selected = append(selected, uint32(least))
	}
	return selected
}

// passageRotation is the number of bits by which neighbours in a passage are rotated against each other. It is odd, so that
// the first 64 all have a rotation of their own.
const passageRotation = 21

// Passages appends a hash for each run of the given number of adjacent shingles of s that follow each other
// in the text. Winnow these hashes if the shingles of the measure are so
// short that dissimilar texts share many.
func (s *Sequence) Passages(hashes []uint64, shingles int) []uint64 {
	hashes = slices.Grow(hashes, s.Len())
	for begin := 0; begin < s.Len(); {
		end := begin + 1
		for end < s.Len() && s.Tokens[end] == s.Tokens[end-1]+1 {
			end++
		}
		for ; begin+shingles <= end; begin++ {
			sum := uint64(0)
			for i, shingle := range s.Shingles[begin : begin+shingles] {
				sum += bits.RotateLeft64(shingle, passageRotation*i)
			}
			hashes = append(hashes, asmkernels.SplitMix(sum)>>(64-elementBits))
		}
		begin = end
	}
	return hashes
}
