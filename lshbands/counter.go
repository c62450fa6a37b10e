package lshbands

import (
	"math"
	"math/bits"
)

// Counter counts in how many documents each shingle of a range of hashes occurs. It knows shingles by the lower 24 bits
// of their hashes, and counts coarsely: shingles that share a cell are counted together.
//
// A Counter is a table of lines as long as those of a processor's cache. A shingle has one line and touches no other.
// There it has a cell of two bits, which says whether no document, one or several have a shingle of the cell. It also has
// one of eight counters.
type Counter struct {
	lines []line
}

type line struct {
	counts [8]uint16 // a count stays at the largest number
	cells  [6]uint64
}

// CountedBits is the number of lower bits of a hash by which a [Counter] knows a shingle.
const CountedBits = 24

const (
	cellsPerWord = 32
	cellsPerLine = 6 * cellsPerWord
	// shinglesPerLine is a compromise. More lines prove more unique shingles to be unique. But a larger table leaves
	// the processor's cache.
	shinglesPerLine = 64
	// leastLines cost next to nothing.
	leastLines = 1 << 10
)

// Cells returns the number of cells of the counters of a corpus whose documents have that many shingles in all. The more
// there are, the fewer shingles of one document seem to be in several.
func Cells(shingles float64) float64 {
	ranges := float64(Ranges(int64(shingles)))
	return ranges * cellsPerLine * max(shingles/ranges/shinglesPerLine, leastLines)
}

// NewCounter returns a counter for a number of shingles: the sum over all documents of how many each has.
func NewCounter(shingles int) *Counter {
	c := new(Counter)
	c.Reset(shingles)
	return c
}

// Reset makes the counter one that has counted nothing, for that number of shingles. It keeps its memory.
func (c *Counter) Reset(shingles int) {
	lines := max(shingles/shinglesPerLine, leastLines)
	if lines > cap(c.lines) {
		c.lines = make([]line, lines)
		return
	}
	c.lines = c.lines[:lines]
	clear(c.lines)
}

// place returns where a hash is: its line, there the word of its cell and the lower bit of the cell, and its counter.
func place(hash, lines uint64) (line, word, bit, counter uint64) {
	at := hash & (1<<CountedBits - 1) * lines
	cell := at & (1<<CountedBits - 1) * cellsPerLine >> CountedBits
	return at >> CountedBits, cell / cellsPerWord, cell % cellsPerWord * 2, cell % 8
}

// Add counts a document, or a part of it. Set has the hashes of its shingles.
func (c *Counter) Add(set []uint64) {
	lines := uint64(len(c.lines))
	for _, hash := range set {
		at, word, bit, counter := place(hash, lines)
		line := &c.lines[at]
		// No document becomes one, one becomes several, several stay several.
		cells := line.cells[word]
		line.cells[word] = cells + (1-cells>>bit&2>>1)<<bit
		n := line.counts[counter]
		line.counts[counter] = n + uint16((uint32(n)-math.MaxUint16)>>31)
	}
}

// AppendFrequencies appends the frequency of each shingle of a set to frequencies: 0 if no second document has the
// shingle, else the larger the more documents seem to have it, and at most 127. Any number of goroutines may ask while
// nobody counts.
func (c *Counter) AppendFrequencies(frequencies []byte, set []uint64) []byte {
	lines := uint64(len(c.lines))
	for _, hash := range set {
		at, word, bit, counter := place(hash, lines)
		line := &c.lines[at]
		isSeveral := byte(line.cells[word] >> (bit + 1) & 1)
		frequencies = append(frequencies, frequencyOf(uint32(line.counts[counter]))&-isSeveral)
	}
	return frequencies
}

// allFrequencies is the number of frequencies.
const allFrequencies = 128

// frequencyOf returns the frequency that stands for a number of documents. There are four an octave.
func frequencyOf(n uint32) byte {
	octave := bits.Len32(n|4) - 3
	return byte(4*octave) + byte(n>>octave)
}

const (
	// shinglesPerRange is about the number of shingles in a range. Their counter fits into a core's cache, and few of
	// them have the lower bits of their hashes in common.
	shinglesPerRange = 1 << 19
	// mostRanges bounds the number of things that are kept for each range. Beyond it ranges grow with the corpus.
	mostRanges = 1 << 16
)

// Ranges returns into how many ranges of equal width the hashes are cut, to be counted by as many counters: for a corpus
// whose documents have that many shingles in all.
func Ranges(shingles int64) int { return int(min(shingles/shinglesPerRange+1, mostRanges)) }

// RangeOf returns the range, of that many, in which a hash of 48 bits lies.
func RangeOf(hash uint64, ranges int) int { return int(hash * uint64(ranges) >> 48) }

// Counters are the counters of all ranges.
type Counters struct {
	ranges []Counter
}

// NewCounters returns counters for a number of shingles, summed over all documents.
func NewCounters(shingles int) *Counters {
	c := &Counters{make([]Counter, Ranges(int64(shingles)))}
	for i := range c.ranges {
		c.ranges[i].Reset(shingles / len(c.ranges))
	}
	return c
}

// Add counts a document. Set has the hashes of its shingles.
func (c *Counters) Add(set []uint64) {
	for i, hash := range set {
		c.ranges[RangeOf(hash, len(c.ranges))].Add(set[i : i+1])
	}
}

// AppendFrequencies appends the frequency of each shingle of a set, as [Counter.AppendFrequencies] does.
func (c *Counters) AppendFrequencies(frequencies []byte, set []uint64) []byte {
	for i, hash := range set {
		frequencies = c.ranges[RangeOf(hash, len(c.ranges))].AppendFrequencies(frequencies, set[i:i+1])
	}
	return frequencies
}
