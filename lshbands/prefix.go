package lshbands

import (
	"math"
	"math/bits"
)

// Exact keys: the prefix filter of set-similarity joins (Chaudhuri, Ganti and
// Kaushik, A primitive operator for similarity joins in data cleaning, 2006;
// Bayardo, Ma and Srikant, Scaling up all pairs similarity search, 2007).
//
// A set whose Jaccard similarity to a set of n shingles reaches the threshold contains at least threshold*n
// of its shingles. Put the shingles of all documents into one order. Then the two sets share a shingle among
// the first n - threshold*n + 1 of each, where n is the size of the respective set. So no pair is missed,
// whatever the order. The order decides only how many pairs meet in vain. The best order has rare shingles
// first.

// Counter counts in how many documents of a corpus each shingle occurs. It knows shingles by their hashes of
// 48 bits. It counts coarsely: hashes that share a cell are counted together. It also defines an order of
// shingles, in which shingles of few documents come first. Any number of goroutines may use that order while
// nobody counts.
//
// A Counter is a table of lines as long as those of a processor's cache. A shingle has one line and touches
// no other. There it has a cell of two bits, which says whether no document, one or several have a shingle of
// the cell. It also has one of eight counters.
type Counter struct {
	lines   []line
	fetched uint16 // see fetch
}

type line struct {
	counts [8]uint16 // a count stays at the largest number
	cells  [6]uint64
}

const (
	lineSize     = 64
	cellsPerWord = 32
	cellsPerLine = 6 * cellsPerWord
	// shinglesPerLine is a compromise. More lines take more memory, and more look-ups that miss the
	// processor's cache. But they prove more unique shingles to be unique.
	shinglesPerLine = 256
	leastLines      = 1 << 10
	// mostLines take 64 MiB. They are made for texts of up to some 3 GB. In larger corpora documents send
	// more keys.
	mostLines = 1 << 20
)

// NewCounter returns a counter for a corpus whose documents have the given number of shingles in all.
// Counters that are to be added up must be made for the same number.
func NewCounter(shingles int64) *Counter {
	lines := int64(leastLines)
	for lines*shinglesPerLine < shingles && lines < mostLines {
		lines *= 2
	}
	return &Counter{lines: make([]line, lines)}
}

// place returns where a hash is in its line: the word of its cell, the lower bit of the cell, and its
// counter. The lower bits of the hash choose the line.
func place(hash uint64) (word, bit, counter uint64) {
	cell := (hash >> 32) * cellsPerLine >> 16
	return cell / cellsPerWord, cell % cellsPerWord * 2, hash >> 29 & 7
}

// fetch brings the lines of hashes into the cache. Loads do not wait for each other, but they wait for
// earlier stores whose addresses are not known yet. The result only keeps the compiler from dropping the
// loads.
func fetch(lines []line, set []uint64) uint16 {
	last := uint64(len(lines) - 1)
	fetched := uint16(0)
	for _, hash := range set {
		fetched |= lines[hash&last].counts[0]
	}
	return fetched
}

// Add counts a document. Set has its shingles: distinct hashes of 48 bits.
func (c *Counter) Add(set []uint64) {
	lines := c.lines
	last := uint64(len(lines) - 1)
	for len(set) > 0 {
		next := set[:min(lookAhead, len(set))]
		c.fetched |= fetch(lines, next)
		for _, hash := range next {
			line := &lines[hash&last]
			word, bit, counter := place(hash)
			// No document becomes one, one becomes several, several stay several.
			cells := line.cells[word]
			line.cells[word] = cells + (1-cells>>bit&2>>1)<<bit
			n := line.counts[counter]
			line.counts[counter] = n + uint16((uint32(n)-math.MaxUint16)>>31)
		}
		set = set[len(next):]
	}
}

// class returns the class of a count. There are four classes an octave. The largest is 127.
func class(n uint32) byte {
	if n < 4 {
		return byte(n)
	}
	octave := bits.Len32(n) - 3
	return byte(4*octave) + byte(n>>octave)
}

// PrefixKey is a shingle by which partners of a document are found.
type PrefixKey struct {
	Hash uint64
	// Position is how many shingles of the document come before it in the order.
	Position uint32
}

// lookAhead is how many shingles are looked up before the number of keys is checked again.
const lookAhead = 32

// PrefixKeys finds the keys of documents. It is not for concurrent use.
type PrefixKeys struct {
	order     *Counter
	threshold float64

	shared  []uint64 // shingles that other documents may have
	classes []byte   // classes of the shared shingles
	keys    []PrefixKey
	fetched uint16 // see fetch
}

// NewPrefixKeys returns a finder of keys for a Jaccard similarity threshold above 0 and up to 1.
func NewPrefixKeys(order *Counter, threshold float64) *PrefixKeys {
	return &PrefixKeys{order: order, threshold: threshold}
}

// PrefixLength returns the length of the prefix of a document with n shingles. In any common order of
// shingles, the prefixes of two similar documents share a shingle.
func PrefixLength(threshold float64, n int) int {
	// Take a little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(n) * (1 - 1e-9)))
	return min(n-least+1, n)
}

// Of returns the keys of a document in their order. They are those shingles of its prefix that another
// document may have. Set has the hashes of the document in ascending order. A document without keys has no
// partner, not even an identical one. The keys are valid until the next call.
func (p *PrefixKeys) Of(set []uint64) []PrefixKey {
	length := PrefixLength(p.threshold, len(set))
	lines := p.order.lines
	last := uint64(len(lines) - 1)
	// Shingles that no other document has come first in the order, and need no search.
	if cap(p.shared) <= len(set) {
		p.shared = make([]uint64, 2*len(set)+1)
		p.classes = make([]byte, 2*len(set)+1)
	}
	shared := p.shared[:cap(p.shared)]
	classes := p.classes[:len(shared)]
	n, done := 0, 0
	for done < len(set) {
		next := min(done+lookAhead, len(set))
		p.fetched |= fetch(lines, set[done:next])
		for _, hash := range set[done:next] {
			word, bit, counter := place(hash)
			line := &lines[hash&last]
			shared[n] = hash
			classes[n] = class(uint32(line.counts[counter]))
			n += int(line.cells[word] >> (bit + 1) & 1)
		}
		if done = next; done-n >= length {
			return nil
		}
	}
	p.shared = shared[:n]
	p.classes = classes[:n]
	unique := len(set) - n
	return p.rarest(length-unique, uint32(unique))
}

// rarest returns the n rarest of the shared shingles. The first of them has the given position.
func (p *PrefixKeys) rarest(n int, position uint32) []PrefixKey {
	var ends [128]uint32
	for _, class := range p.classes {
		ends[class%128]++
	}
	sum := uint32(0)
	for class, count := range ends {
		ends[class] = sum
		sum += count
	}
	p.keys = append(p.keys[:0], make([]PrefixKey, n)...)
	// Stable: within a class in the order of hashes.
	for i, hash := range p.shared {
		class := p.classes[i] % 128
		if at := ends[class]; at < uint32(n) {
			p.keys[at] = PrefixKey{Hash: hash, Position: position + at}
			ends[class]++
		}
	}
	return p.keys
}
