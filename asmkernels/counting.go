package asmkernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// CountTable counts in how many documents each shingle occurs. It knows shingles by 24 bits of their hashes, and counts
// coarsely: shingles that share a cell are counted together.
//
// A shingle has one word of the table and touches no other, since each word that is not in the processor's cache costs
// more than all else. In the word it has one of 24 cells of two bits. The lower 24 bits of the word say in which cells
// a document has a shingle, the next 24 in which several have one. The cells share a counter, the 16 bits above them,
// which stays at its largest number.
//
// A table has at least one word and fewer than 2^32.
type CountTable []uint64

const (
	// CountedSize is the size of a packed shingle in bytes: the 24 bits of its hash, the lowest first.
	CountedSize = 3
	// CellsPerWord is the number of cells that a word of a [CountTable] has.
	CellsPerWord = 24
	// MaxFrequency is the largest frequency of a shingle.
	MaxFrequency = 127

	countedBits = 8 * CountedSize
	countedMask = 1<<countedBits - 1
	counterAt   = 2 * CellsPerWord // the lowest bit of a word's counter
)

// Add counts the packed shingles of a document, or of a part of it.
func (t CountTable) Add(packed []byte) { addCounts(t, packed) }

// AppendFrequencies appends the frequency of each of the packed shingles to frequencies: 0 if no second document has
// the shingle, else the larger the more documents seem to have it, and at most [MaxFrequency]. Any number of goroutines
// may ask while nobody counts.
func (t CountTable) AppendFrequencies(frequencies, packed []byte) []byte {
	before, n := len(frequencies), len(packed)/CountedSize
	frequencies = slices.Grow(frequencies, n)[:before+n]
	frequenciesOf(frequencies[before:], t, packed)
	return frequencies
}

func placeOf(packed []byte, words int) (word, cell uint64) {
	_ = packed[CountedSize-1]
	hash := uint64(packed[0]) | uint64(packed[1])<<8 | uint64(packed[2])<<16
	at := hash * uint64(words)
	return at >> countedBits, at & countedMask * CellsPerWord >> countedBits
}

func addCountsGo(table []uint64, packed []byte) {
	for ; len(packed) >= CountedSize; packed = packed[CountedSize:] {
		at, cell := placeOf(packed, len(table))
		word, one := table[at], uint64(1)<<cell
		if word>>counterAt < math.MaxUint16 {
			word += 1 << counterAt
		}
		table[at] = word | one | word&one<<CellsPerWord
	}
}

// frequenciesOfGo sets every frequencies[i] to the frequency of packed shingle i.
func frequenciesOfGo(frequencies []byte, table []uint64, packed []byte) {
	for i := range frequencies {
		at, cell := placeOf(packed[CountedSize*i:], len(table))
		word := table[at]
		isSeveral := byte(word >> (cell + CellsPerWord) & 1)
		frequencies[i] = frequencyOf(uint32(word>>counterAt)) & -isSeveral
	}
}

// frequencyOf returns the frequency that stands for a number of documents. There are four an octave.
func frequencyOf(n uint32) byte {
	octave := bits.Len32(n|4) - 3
	return byte(4*octave) + byte(n>>octave)
}

// AppendCounted appends the shingles of a set to packed.
func AppendCounted(packed []byte, set []uint64) []byte {
	for _, hash := range set {
		packed = binary.LittleEndian.AppendUint32(packed, uint32(hash))
		packed = packed[:len(packed)-1]
	}
	return packed
}
