package lshbands

import (
	"iter"

	"mirrorbeam/asmkernels"
)

// Counter counts in how many documents each shingle of a range of hashes occurs. It knows shingles by the lower 24 bits
// of their hashes, and counts coarsely: shingles that share a cell are counted together.
//
// Its table is an [asmkernels.CountTable].
type Counter struct {
	table asmkernels.CountTable
}

const (
	// shinglesPerWord is a compromise. More words prove more unique shingles to be unique. But a larger table leaves
	// the processor's cache.
	shinglesPerWord = 8
	// leastWords cost next to nothing.
	leastWords = 1 << 13
)

// Cells returns the number of cells of the counters of a corpus whose documents have that many shingles in all. The more
// there are, the fewer shingles of one document seem to be in several.
func Cells(shingles float64) float64 {
	ranges := float64(Ranges(int64(shingles)))
	return ranges * asmkernels.CellsPerWord * max(shingles/ranges/shinglesPerWord, leastWords)
}

// NewCounter returns a counter for a number of shingles: the sum over all documents of how many each has.
func NewCounter(shingles int) *Counter {
	c := new(Counter)
	c.Reset(shingles)
	return c
}

// Reset makes the counter one that has counted nothing, for that number of shingles. It keeps its memory.
func (c *Counter) Reset(shingles int) {
	words := max(shingles/shinglesPerWord, leastWords)
	if words > cap(c.table) {
		c.table = make(asmkernels.CountTable, words)
		return
	}
	c.table = c.table[:words]
	clear(c.table)
}

// Add counts a document, or a part of it. Packed are its shingles as [asmkernels.AppendCounted] packs them.
func (c *Counter) Add(packed []byte) { c.table.Add(packed) }

// AppendFrequencies appends the frequency of each packed shingle of a document to frequencies: 0 if no second document
// has the shingle, else the larger the more documents seem to have it, and at most 127. Any number of goroutines may
// ask while nobody counts.
func (c *Counter) AppendFrequencies(frequencies, packed []byte) []byte {
	return c.table.AppendFrequencies(frequencies, packed)
}

// allFrequencies is the number of frequencies.
const allFrequencies = asmkernels.MaxFrequency + 1

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
	packed := make([]byte, 0, 512) // on the stack
	for in, of := range c.byRange(set) {
		packed = asmkernels.AppendCounted(packed[:0], of)
		c.ranges[in].Add(packed)
	}
}

// AppendFrequencies appends the frequency of each shingle of a set, as [Counter.AppendFrequencies] does.
func (c *Counters) AppendFrequencies(frequencies []byte, set []uint64) []byte {
	packed := make([]byte, 0, 512) // on the stack
	for in, of := range c.byRange(set) {
		packed = asmkernels.AppendCounted(packed[:0], of)
		frequencies = c.ranges[in].AppendFrequencies(frequencies, packed)
	}
	return frequencies
}

// byRange yields the parts of a set that lie in one range each, with the range.
func (c *Counters) byRange(set []uint64) iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		for len(set) > 0 {
			in, n := RangeOf(set[0], len(c.ranges)), 1
			for n < len(set) && RangeOf(set[n], len(c.ranges)) == in {
				n++
			}
			if !yield(in, set[:n]) {
				return
			}
			set = set[n:]
		}
	}
}
