package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// HeapMember is a document of a heap.
type HeapMember struct {
	Ref docref.Ref
	// Second is the other document that stands for its class, 0 if there is none; see [Want].
	Second docref.Ref
	// Other is another document of the heap, or Ref.
	Other docref.Ref
	// Size is the number of distinct shingles.
	Size uint32
}

// HeapMemberSize is the size of a document of a heap.
const HeapMemberSize = 3*RefSize + 4

// WriteHeapMember writes a document of a heap in a part of the graph of heaps.
func WriteHeapMember(run *runfile.Writer, part int, m HeapMember) error {
	b, err := run.Record(HeapMembers, part, HeapMemberSize)
	if err == nil {
		PutHeapMember(b, m)
	}
	return err
}

// PutHeapMember packs a document of a heap.
func PutHeapMember(b []byte, m HeapMember) {
	PutRef(b, m.Ref)
	PutRef(b[RefSize:], m.Second)
	PutRef(b[2*RefSize:], m.Other)
	binary.LittleEndian.PutUint32(b[3*RefSize:], m.Size)
}

// GetHeapMember reads a document of a heap.
func GetHeapMember(b []byte) HeapMember {
	return HeapMember{
		Ref: GetRef(b), Second: GetRef(b[RefSize:]), Other: GetRef(b[2*RefSize:]),
		Size: binary.LittleEndian.Uint32(b[3*RefSize:]),
	}
}

// heapsSize is the size of the record that describes the heaps of a place: the number of their documents together.
const heapsSize = 4

// WriteHeaps writes the number of documents in the heaps of a place.
func WriteHeaps(run *runfile.Writer, place graphs.Place, documents uint32) error {
	b, err := run.Record(Heaps, int(place), heapsSize)
	if err == nil {
		binary.LittleEndian.PutUint32(b, documents)
	}
	return err
}

// HeapDocuments returns the number of documents in the heaps of a place, 0 without a heap.
func HeapDocuments(packed []byte) (documents int) {
	for ; len(packed) > 0; packed = packed[heapsSize:] {
		documents += int(binary.LittleEndian.Uint32(packed))
	}
	return documents
}

// StarMemberSize is the size of a document of a star: its ref, and the ref of the leader.
const StarMemberSize = 2 * RefSize

// WriteStarMember writes that a document is like a leader.
func WriteStarMember(run *runfile.Writer, place graphs.Place, document, leader docref.Ref) error {
	b, err := run.Record(Stars, int(place), StarMemberSize)
	if err == nil {
		PutRef(b, document)
		PutRef(b[RefSize:], leader)
	}
	return err
}

// GetStarMember reads a document of a star and its leader.
func GetStarMember(b []byte) (document, leader docref.Ref) { return GetRef(b), GetRef(b[RefSize:]) }
