package records

import (
	"encoding/binary"

	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/runfile"
)

// Edge is a verified edge between two nodes of a part.
type Edge struct {
	A, B uint32
	// Shared and Total count shingles; their quotient is the similarity. For an estimate they count the smallest hashes
	// of the union instead, and Total has a mark.
	Shared, Total uint32
}

const (
	estimateMark = 1 << 31
	// hammingMark says that the edge counts bits: those that agree, and all.
	hammingMark = 1 << 30
	// HeapMark says that the edge joins a document of a heap to a leader.
	HeapMark = 1 << 29

	marks = estimateMark | hammingMark | HeapMark
)

// HammingEdge returns an edge of fingerprints of the given number of bits that differ in distance of them.
func HammingEdge(distance, bits int) Edge {
	return Edge{Shared: uint32(bits - distance), Total: uint32(bits) | hammingMark}
}

// NewEdge returns an edge of that similarity. Its nodes are still to be set.
func NewEdge(shared, union int, estimate bool) Edge {
	e := Edge{Shared: uint32(shared), Total: uint32(union)}
	if estimate {
		e.Total |= estimateMark
	}
	return e
}

// Union returns the number of shingles that are in either document.
func (e Edge) Union() uint32 { return e.Total &^ marks }

// Estimate reports whether the similarity is an estimate.
func (e Edge) Estimate() bool { return e.Total&estimateMark != 0 }

// Hamming returns the Hamming distance of the nodes' fingerprints, if the edge rests on it.
func (e Edge) Hamming() (distance uint32, is bool) {
	return e.Union() - e.Shared, e.Total&hammingMark != 0
}

// Similarity returns the Jaccard similarity of the nodes, or the share of their bits that agree.
func (e Edge) Similarity() float64 { return float64(e.Shared) / float64(e.Union()) }

// Identical reports whether the edge joins documents that are identical under the measure.
func (e Edge) Identical() bool { return e.Shared == e.Total&^(hammingMark|HeapMark) }

// Heap reports whether the edge joins a document of a heap to a leader.
func (e Edge) Heap() bool { return e.Total&HeapMark != 0 }

// PutEdge packs an edge.
func PutEdge(b []byte, e Edge) {
	binary.LittleEndian.PutUint32(b, e.A)
	binary.LittleEndian.PutUint32(b[4:], e.B)
	binary.LittleEndian.PutUint32(b[8:], e.Shared)
	binary.LittleEndian.PutUint32(b[12:], e.Total)
}

// GetEdge reads an edge.
func GetEdge(b []byte) Edge {
	return Edge{
		A: binary.LittleEndian.Uint32(b), B: binary.LittleEndian.Uint32(b[4:]),
		Shared: binary.LittleEndian.Uint32(b[8:]), Total: binary.LittleEndian.Uint32(b[12:]),
	}
}

// ReadEdges returns the edges of an output shard, sorted by A, then B, each once. A pair of documents may have been
// scored in several groups, and in a heap.
func ReadEdges(reader *runfile.Reader, pieces []runfile.Piece) ([]Edge, error) {
	total := 0
	for _, piece := range pieces {
		if piece.Kind == ShardEdges {
			total += int(piece.Length)
		}
	}
	edges := make([]Edge, 0, total/EdgeSize)
	var buffer []byte
	for _, piece := range pieces {
		if piece.Kind != ShardEdges {
			continue
		}
		var err error
		if buffer, err = reader.Read(buffer[:0], piece); err != nil {
			return nil, err
		}
		for b := buffer; len(b) > 0; b = b[EdgeSize:] {
			edges = append(edges, GetEdge(b))
		}
	}
	edges = radix.Sort(edges, make([]Edge, len(edges)), func(e *Edge) uint64 { return uint64(e.A)<<32 | uint64(e.B) })
	return compactEdges(edges), nil
}

// compactEdges drops repeats of sorted edges. Repeats differ only in the mark of a heap, which stays if one has it.
func compactEdges(edges []Edge) []Edge {
	n := 0
	for _, e := range edges {
		if n > 0 && edges[n-1].A == e.A && edges[n-1].B == e.B {
			edges[n-1].Total |= e.Total & HeapMark
			continue
		}
		edges[n] = e
		n++
	}
	return edges[:n]
}
