package asmkernels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

// An Estimator says what two fingerprints tell of the sets that they come from:
// which quotient of two counts is their similarity.
type Estimator int

const (
	// UnionSample takes the smallest elements of the union of both sets, as many as a fingerprint has at most: the
	// share of those that are in both sets has no bias (Broder, On the resemblance and containment of documents, 1997).
	// If both fingerprints are shorter, they are the sets, and it takes all.
	UnionSample Estimator = iota

	// AsSets is the article's (Gudkov, MinHash, 2019): the Jaccard similarity of
	// the fingerprints, as if they were the sets.
	AsSets
)

// Fingerprints are the bottom-k fingerprints of documents, numbered from 0 in the order of [Fingerprints.Add], to
// compare one with many or all with each other. Next to each of them is a bitmap of its elements, which proves most
// pairs of different documents to be below a threshold at a glance.
//
// Elements are the article's 32-bit hashes or the 48-bit ones of a job.
//
// Search and Pairs may be called by many goroutines at a time.
type Fingerprints[E uint32 | uint64] struct {
	size      int
	estimator Estimator
	elements  []E      // of all fingerprints
	ends      []int    // where the elements of each end
	blocks    []uint64 // their bitmaps, see bitmap
}

// NewFingerprints returns an empty table of fingerprints of at most size elements, at least 1.
func NewFingerprints[E uint32 | uint64](size int, estimator Estimator) *Fingerprints[E] {
	return &Fingerprints[E]{size: size, estimator: estimator}
}

// Len returns the number of fingerprints.
func (f *Fingerprints[E]) Len() int { return len(f.ends) }

// Add adds a fingerprint: the smallest hashes of a set, or all if it has fewer,
// in strictly ascending order. Hashes beyond the size of the table are left out.
func (f *Fingerprints[E]) Add(fingerprint []E) {
	fingerprint = fingerprint[:min(len(fingerprint), f.size)]
	lane := len(f.ends) % blockLanes
	if lane == 0 {
		f.blocks = append(f.blocks, make([]uint64, blockWords)...)
	}
	f.elements = append(f.elements, fingerprint...)
	f.ends = append(f.ends, len(f.elements))
	block := f.blocks[len(f.blocks)-blockWords:]
	for row, word := range newBitmap(fingerprint) {
		block[row*blockLanes+lane] = word
	}
}

func (f *Fingerprints[E]) at(i int) []E {
	start := 0
	if i > 0 {
		start = f.ends[i-1]
	}
	return f.elements[start:f.ends[i]]
}

// Search calls visit for every fingerprint, i by number, whose similarity to query is threshold or more. Query is a
// fingerprint as [Fingerprints.Add] takes it. The similarity is common / union: the share of the elements of the union
// that both contain. The rule is as in [Required]; two empty fingerprints have no similarity.
func (f *Fingerprints[E]) Search(query []E, threshold float64, visit func(i, common, union int)) {
	query = query[:min(len(query), f.size)]
	s, bitmap := f.search(threshold), newBitmap(query)
	for start := 0; start < f.Len(); start += tile {
		s.tile(start, f.Len(), query, &bitmap, visit)
	}
}

// Pairs calls visit for every pair of fingerprints i < j whose similarity is threshold or more, as in
// [Fingerprints.Search]. Pairs of one j come in ascending order of i only within a part of the table: it goes through
// the triangle of all pairs by columns that the cache has room for.
func (f *Fingerprints[E]) Pairs(threshold float64, visit func(i, j, common, union int)) {
	s := f.search(threshold)
	for start := 0; start < f.Len(); start += tile {
		for j := start + 1; j < f.Len(); j++ {
			bitmap := f.bitmap(j)
			s.tile(start, j, f.at(j), &bitmap, func(i, common, union int) { visit(i, j, common, union) })
		}
	}
}

// A search is for fingerprints that reach a threshold.
type search[E uint32 | uint64] struct {
	*Fingerprints[E]
	threshold float64
	sample    int    // elements of a sample that must be common
	slope     uint64 // see bitmapQuery
}

func (f *Fingerprints[E]) search(threshold float64) search[E] {
	return search[E]{f, threshold, requiredOf(f.size, threshold), bitmapSlope(threshold)}
}

// tile visits the similar fingerprints from start, which begins a tile, to the end of the tile, but before end.
func (s *search[E]) tile(start, end int, query []E, bitmap *bitmap, visit func(i, common, union int)) {
	end = min(end, start+tile)
	var marks [tile / blockLanes]uint8
	blocks := s.blocks[start/blockLanes*blockWords : (end+blockLanes-1)/blockLanes*blockWords]
	bounds := s.bitmapQuery(bitmap)
	markBitmaps(marks[:len(blocks)/blockWords], &bounds, blocks)
	for word := 0; word < len(marks); word += 8 {
		marked := binary.LittleEndian.Uint64(marks[word:])
		for ; marked != 0; marked &= marked - 1 {
			i := start + word*8 + bits.TrailingZeros64(marked)
			if i >= end {
				return
			}
			if common, union, ok := s.compare(s.at(i), query); ok {
				visit(i, common, union)
			}
		}
	}
}

// compare returns the similarity of two fingerprints as a quotient, and whether it reaches the threshold.
func (s *search[E]) compare(a, b []E) (common, union int, ok bool) {
	sampled := s.estimator == UnionSample && max(len(a), len(b)) == s.size
	need := s.sample
	if !sampled {
		need = Required(s.threshold, len(a), len(b))
	}
	common = Intersect(a, b, need)
	union = len(a) + len(b) - common
	if sampled && common >= need {
		common -= commonAtEnd(a, b, union-s.size)
		union = s.size
	}
	return common, union, common >= need
}

// commonAtEnd returns how many of the largest elements of the union of a and b,
// count of them, are in both. Similar fingerprints have few beyond the sample.
func commonAtEnd[E uint32 | uint64](a, b []E, count int) int {
	common := 0
	for ; count > 0 && len(a) > 0 && len(b) > 0; count-- {
		x, y := a[len(a)-1], b[len(b)-1]
		if x >= y {
			a = a[:len(a)-1]
		}
		if y >= x {
			b = b[:len(b)-1]
		}
		if x == y {
			common++
		}
	}
	return common
}

// requiredOf returns the smallest n from 0 to size for which n/size reaches the
// threshold in float64 arithmetic, and size+1 if there is none.
func requiredOf(size int, threshold float64) int {
	return sort.Search(size+1, func(n int) bool { return float64(n)/float64(size) >= threshold })
}

const (
	// bitmapWords is the number of words of 64 bits in a bitmap. A bitmap of
	// 512 bits leaves hardly a pair of fingerprints of 128 random elements.
	bitmapWords = 8

	// blockLanes is the number of fingerprints in a block, as many as the largest vectors have lanes.
	blockLanes = 8

	blockWords = (bitmapWords + 2) * blockLanes

	// tile is the number of fingerprints whose bitmaps are compared with one
	// after the other, 20 KB: they stay in the first cache.
	tile = 256

	// bitmapFactor spreads the elements over the bits, as the smallest of all hashes have small upper bits.
	bitmapFactor = 0x9e3779b1
	bitmapShift  = 32 - 9

	slopeBits = 16
)

// A bitmap has the words of a set's bitmap, the number of elements that share their bit with one before, and the number
// of all elements. A block of fingerprints has a row for each of these with a lane for each fingerprint.
type bitmap [bitmapWords + 2]uint64

// The numbers behind the words of a bitmap.
const (
	inCollisions = bitmapWords
	inSize       = bitmapWords + 1
)

func newBitmap[E uint32 | uint64](fingerprint []E) (b bitmap) {
	for _, x := range fingerprint {
		bit := uint32(x) * bitmapFactor >> bitmapShift
		b[bit/64] |= 1 << (bit % 64)
	}
	ones := 0
	for _, word := range b[:bitmapWords] {
		ones += bits.OnesCount64(word)
	}
	b[inCollisions] = uint64(len(fingerprint) - ones)
	b[inSize] = uint64(len(fingerprint))
	return b
}

func (f *Fingerprints[E]) bitmap(i int) (b bitmap) {
	block := f.blocks[i/blockLanes*blockWords:][:blockWords]
	for row := range b {
		b[row] = block[row*blockLanes+i%blockLanes]
	}
	return b
}

// A bitmapQuery is a bitmap and which bounds to mark. It needs slope * n / 2^16 common elements of a set that makes for
// n elements with its own, but never more than most.
type bitmapQuery [bitmapWords + 4]uint64

// The numbers behind the bitmap.
const (
	inSlope = bitmapWords + 2
	inMost  = bitmapWords + 3
)

// bitmapQuery returns the query for a bitmap. It needs as much as compare does, or less.
func (s *search[E]) bitmapQuery(b *bitmap) (q bitmapQuery) {
	copy(q[:], b[:])
	q[inSlope], q[inMost] = s.slope, math.MaxInt32
	if s.estimator == UnionSample {
		q[inMost] = uint64(s.sample)
	}
	return q
}

// bitmapSlope returns the slope for a threshold t, t/(1+t) rounded down: so
// many of the elements of both sets must be common for a similarity of t.
func bitmapSlope(t float64) uint64 {
	switch {
	case t <= 0:
		return 0
	case t <= 1:
		return uint64(t / (1 + t) * (1 << slopeBits))
	default: // out of reach, or not a number
		return 1 << slopeBits
	}
}

// markBitmapsGo sets the bit of every fingerprint in the blocks, whose marks are one byte each, to whether it may have
// as many elements in common with the set of the query as that needs. Every common element has its bit in both bitmaps;
// with a bit of its own, or sharing it with others in both sets. So there are at most as many as the bitmaps have bits
// in common, and collisions in the set that has fewer.
func markBitmapsGo(marks []uint8, query *bitmapQuery, blocks []uint64) {
	for i := range marks {
		block := (*[blockWords]uint64)(blocks[i*blockWords:])
		var mark uint8
		for lane := range blockLanes {
			bound := min(query[inCollisions], block[inCollisions*blockLanes+lane])
			for row, word := range query[:bitmapWords] {
				bound += uint64(bits.OnesCount64(word & block[row*blockLanes+lane]))
			}
			need := (query[inSize] + block[inSize*blockLanes+lane]) * query[inSlope] >> slopeBits
			if bound >= min(need, query[inMost]) {
				mark |= 1 << lane
			}
		}
		marks[i] = mark
	}
}
