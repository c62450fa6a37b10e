package lshbands

import (
	"math/bits"

	"mirrorbeam.dev/asmkernels"
)

// Neighbours tells whether a fingerprint is near one of some others. Any number of goroutines may ask it.
type Neighbours struct {
	tables       *Permuted
	fingerprints []uint64
	// A mixed prefix that is shifted to the right by these bits is the number of a word of marks, or of a bucket.
	wordShift, bucketShift int
	buckets                []buckets
}

// buckets holds the fingerprints of a table by their prefixes.
type buckets struct {
	marks  []uint64 // of all fingerprints
	starts []uint32 // of each bucket in rows, and the end of the last
	rows   []uint32
}

// markBits is the number of bits of a table for each fingerprint. A fingerprint marks three bits of one word. So of
// fingerprints that are not near, a hundredth finds its bits marked.
const markBits = 16

// NewNeighbours returns the neighbours among fingerprints, one behind the other, each of as many words as the tables
// take. It keeps the fingerprints. The tables say how long these are, and how far neighbours may be away. Where other
// tables find the same with less work, it takes these.
func NewNeighbours(tables *Permuted, fingerprints []uint64) *Neighbours {
	rows := len(fingerprints) / tables.words
	tables = tables.forRows(rows)
	n := &Neighbours{tables: tables, fingerprints: fingerprints, buckets: make([]buckets, tables.Tables())}
	width := max(bits.Len(uint(rows))-1, 1)
	words := max(bits.Len(uint(rows/(64/markBits))), 1)
	n.wordShift, n.bucketShift = 64-words, 64-width
	for table := range n.buckets {
		b := buckets{marks: make([]uint64, 1<<words), starts: make([]uint32, 1<<width+1), rows: make([]uint32, rows)}
		for row := range rows {
			mixed := n.mixed(table, n.row(row))
			b.marks[mixed>>n.wordShift] |= n.marks(mixed)
			b.starts[mixed>>n.bucketShift+1]++
		}
		for i := 1; i < len(b.starts); i++ {
			b.starts[i] += b.starts[i-1]
		}
		next := append([]uint32(nil), b.starts...)
		for row := range rows {
			at := &next[n.mixed(table, n.row(row))>>n.bucketShift]
			b.rows[*at] = uint32(row)
			*at++
		}
		n.buckets[table] = b
	}
	return n
}

// mostNeighbourTables bounds the memory of neighbours: a table takes some 10 bytes for each fingerprint.
const mostNeighbourTables = 32

// forRows returns the tables of the same fingerprints and distance that take the least work for that many rows.
func (p *Permuted) forRows(rows int) *Permuted {
	const comparison = 8 // of a fingerprint, which takes as long as a look at the marks of this number of tables
	work := func(p *Permuted) float64 {
		sum := 0.
		for table := range p.Tables() {
			sum += 1 + comparison*p.ExpectedCandidates(table, float64(rows))
		}
		return sum
	}
	schemes, err := TableSchemes(p.bits, p.distance)
	if err != nil {
		return p // there are no others
	}
	least := work(p)
	for _, other := range schemes {
		if w := work(other); w < least && other.Tables() <= mostNeighbourTables {
			p, least = other, w
		}
	}
	return p
}

func (n *Neighbours) row(row int) []uint64 {
	return n.fingerprints[row*n.tables.words:][:n.tables.words]
}

// mixed returns a hash of the prefix of a fingerprint in a table. Its leading bits are the best ones.
func (n *Neighbours) mixed(table int, fingerprint []uint64) uint64 {
	hash := uint64(0)
	for i, mask := range n.tables.mask(table) {
		hash = (hash ^ hash>>32 ^ fingerprint[i]&mask) * asmkernels.SplitMixStep
	}
	return hash
}

// marks returns the bits of a mixed prefix in its word.
func (n *Neighbours) marks(mixed uint64) uint64 {
	rest := mixed << (64 - n.wordShift) // the bits that do not tell the word
	return 1<<(rest>>58) | 1<<(rest>>52&63) | 1<<(rest>>46&63)
}

// Has reports whether one of the fingerprints is within the distance of the tables of the given one.
func (n *Neighbours) Has(fingerprint []uint64) bool {
	for table := range n.buckets {
		b := &n.buckets[table]
		mixed := n.mixed(table, fingerprint)
		if marks := n.marks(mixed); b.marks[mixed>>n.wordShift]&marks != marks {
			continue
		}
		at := mixed >> n.bucketShift
		for _, row := range b.rows[b.starts[at]:b.starts[at+1]] {
			distance := 0
			for i, word := range n.row(int(row)) {
				distance += bits.OnesCount64(word ^ fingerprint[i])
			}
			if distance <= n.tables.distance {
				return true
			}
		}
	}
	return false
}
