package lshbands

import (
	"math"
	"math/bits"
)

// Exact keys: the prefix filter of set-similarity joins (Chaudhuri, Ganti and
// Kaushik, A primitive operator for similarity joins in data cleaning, 2006;
// Bayardo, Ma and Srikant, Scaling up all pairs similarity search, 2007).
//
// A set with a Jaccard similarity of at least the threshold to one of n shingles
// has at least a share of threshold of them. So if the shingles of all documents
// stand in one order, whatever it is, the two have one in common among the first
// n - threshold*n + 1 of each: no pair is missed. The order decides only how many
// pairs meet in vain, and rare shingles first are best.

// Counter counts in how many documents of a corpus shingles occur, by their
// hashes of 48 bits: coarsely, for hashes that share a cell are counted together.
// It is an order of shingles too, those first that few documents have; any number
// of goroutines may use it as one while nobody counts.
//
// It is a table of lines as long as those of a processor's cache. A shingle has one
// line, and looks nowhere else: a cell of two bits there, that says whether no, one
// or several documents have a shingle of the cell, and one of eight counters.
type Counter struct {
	lines   []line
	fetched uint16 // see fetch
}

type line struct {
	counts [8]uint16 // that stay at the largest number
	cells  [6]uint64
}

const (
	lineSize     = 64
	cellsPerWord = 32
	cellsPerLine = 6 * cellsPerWord
	// shinglesPerLine weighs the memory, and the time of looks beyond a
	// processor's cache, against the share of unique shingles that are proved so.
	shinglesPerLine = 256
	leastLines      = 1 << 10
	// mostLines take 64 MiB. Beyond the texts of some 3 GB that they are made for
	// documents send more keys.
	mostLines = 1 << 20
)

// NewCounter returns a counter for a corpus whose documents have so many shingles
// in sum. Counters that are to be added up must be made for the same number.
func NewCounter(shingles int64) *Counter {
	lines := int64(leastLines)
	for lines*shinglesPerLine < shingles && lines < mostLines {
		lines *= 2
	}
	return &Counter{lines: make([]line, lines)}
}

// place returns where a hash stands in its line: the word of its cell, the lower
// bit of it, and its counter. The line is given by the lower bits of the hash.
func place(hash uint64) (word, bit, counter uint64) {
	cell := (hash >> 32) * cellsPerLine >> 16
	return cell / cellsPerWord, cell % cellsPerWord * 2, hash >> 29 & 7
}

// fetch brings the lines of hashes into the cache: loads do not wait for each other,
// but for stores before whose places are not known yet. What it returns is only
// there so that the loads are not left out.
func fetch(lines []line, set []uint64) uint16 {
	last := uint64(len(lines) - 1)
	fetched := uint16(0)
	for _, hash := range set {
		fetched |= lines[hash&last].counts[0]
	}
	return fetched
}

// Add counts a document by the set of its shingles: distinct hashes of 48 bits.
func (c *Counter) Add(set []uint64) {
	lines := c.lines
	last := uint64(len(lines) - 1)
	for len(set) > 0 {
		next := set[:min(lookAhead, len(set))]
		c.fetched |= fetch(lines, next)
		for _, hash := range next {
			line := &lines[hash&last]
			word, bit, counter := place(hash)
			// None becomes one, one becomes several, several stay.
			cells := line.cells[word]
			line.cells[word] = cells + (1-cells>>bit&2>>1)<<bit
			n := line.counts[counter]
			line.counts[counter] = n + uint16((uint32(n)-math.MaxUint16)>>31)
		}
		set = set[len(next):]
	}
}

// class returns the class of a count: four an octave, up to 127.
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

// lookAhead is how many shingles are looked up before the count of those found so
// far is looked at.
const lookAhead = 32

// PrefixKeys finds the keys of documents, with memory of its own; not for
// concurrent use.
type PrefixKeys struct {
	order     *Counter
	threshold float64

	shared  []uint64 // shingles that other documents may have
	classes []byte   // theirs
	keys    []PrefixKey
	fetched uint16 // see fetch
}

// NewPrefixKeys returns a finder of keys for the Jaccard similarity threshold,
// from above 0 to 1.
func NewPrefixKeys(order *Counter, threshold float64) *PrefixKeys {
	return &PrefixKeys{order: order, threshold: threshold}
}

// PrefixLength returns how many of the n shingles of a document, the first ones
// in any order, hold one in common with every document that is similar to it.
func PrefixLength(threshold float64, n int) int {
	// A little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(n) * (1 - 1e-9)))
	return min(n-least+1, n)
}

// Of returns the keys of a document in their order: of a prefix of its set, which
// is given as ascending hashes, those shingles that another document may have. A
// document without keys has no partner, not even an identical one. The keys are
// valid until the next call.
func (p *PrefixKeys) Of(set []uint64) []PrefixKey {
	length := PrefixLength(p.threshold, len(set))
	lines := p.order.lines
	last := uint64(len(lines) - 1)
	// Those that no other document has come first in the order and need not be
	// looked for.
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

// rarest returns the n rarest of the shared shingles, the first of which has that
// position.
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
