package lshbands

import (
	"math/bits"
)

// Neighbours holds fingerprints, and tells whether another one is near one of them. It does not change. Any number of goroutines may
// ask it.
type Neighbours struct {
	tables       *Permuted
	fingerprints []uint64
	shift        int // of a mixed prefix: what is left is the number of a bucket
	buckets      []buckets
}

// buckets holds the fingerprints of a table by their prefixes.
type buckets struct {
	starts []uint32 // of each bucket in rows, and the end of the last
	rows   []uint32
}

// NewNeighbours returns the neighbours among fingerprints, one behind the other, each of as many words as the tables take. It keeps
// the fingerprints.
func NewNeighbours(tables *Permuted, fingerprints []uint64) *Neighbours {
	n := &Neighbours{tables: tables, fingerprints: fingerprints, buckets: make([]buckets, tables.Tables())}
	rows := len(fingerprints) / tables.words
	width := bits.Len(uint(rows)) + 1
	n.shift = 64 - width
	for table := range n.buckets {
		b := buckets{starts: make([]uint32, 1<<width+1), rows: make([]uint32, rows)}
		for row := range rows {
			b.starts[n.bucket(table, n.row(row))+1]++
		}
		for i := 1; i < len(b.starts); i++ {
			b.starts[i] += b.starts[i-1]
		}
		next := append([]uint32(nil), b.starts...)
		for row := range rows {
			at := &next[n.bucket(table, n.row(row))]
			b.rows[*at] = uint32(row)
			*at++
		}
		n.buckets[table] = b
	}
	return n
}

// row returns a fingerprint by its number.
func (n *Neighbours) row(row int) []uint64 {
	return n.fingerprints[row*n.tables.words:][:n.tables.words]
}

// bucket returns the number of the bucket of a fingerprint in a table.
func (n *Neighbours) bucket(table int, fingerprint []uint64) uint64 {
	return mix(n.tables.Prefix(table, fingerprint)) >> n.shift
}

// Has reports whether one of the fingerprints is within the distance of the tables of the given one.
func (n *Neighbours) Has(fingerprint []uint64) bool {
	for table := range n.buckets {
		b := &n.buckets[table]
		at := n.bucket(table, fingerprint)
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
