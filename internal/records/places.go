package records

import (
	"cmp"
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

// PutPlace writes the place of a node and the star that it is in, 0 if it is in none.
func PutPlace(b []byte, p components.Place, star uint32) {
	binary.LittleEndian.PutUint32(b, p.First)
	binary.LittleEndian.PutUint16(b[4:], p.Blocks)
	binary.LittleEndian.PutUint16(b[6:], p.Block)
	binary.LittleEndian.PutUint32(b[8:], star)
}

func GetPlace(b []byte) components.Place {
	return components.Place{
		First:  binary.LittleEndian.Uint32(b),
		Blocks: binary.LittleEndian.Uint16(b[4:]),
		Block:  binary.LittleEndian.Uint16(b[6:]),
	}
}

func GetStar(b []byte) uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// Want says that a document is wanted at a place. Where it is of the reference and
// stands for an equal one of the input as well, Input is the first of these.
type Want struct {
	Ref   docref.Ref
	Place int
	Input docref.Ref
	// Heap is the number of the document's heap, if heaps are scored there.
	Heap uint32
}

// wantedSize is the size of a want's record.
const wantedSize = 2*RefSize + 8

func WriteWanted(run *runfile.Writer, split int, w Want) error {
	b, err := run.Record(Wanted, split, wantedSize)
	if err == nil {
		PutRef(b, w.Ref)
		PutRef(b[RefSize:], w.Input)
		binary.LittleEndian.PutUint32(b[2*RefSize:], uint32(w.Place))
		binary.LittleEndian.PutUint32(b[2*RefSize+4:], w.Heap)
	}
	return err
}

// DecodeWanted returns what is wanted of a split, ordered by document and place, each
// once.
func DecodeWanted(packed []byte) []Want {
	wanted := make([]Want, 0, len(packed)/wantedSize)
	for ; len(packed) > 0; packed = packed[wantedSize:] {
		wanted = append(wanted, Want{
			Ref: GetRef(packed), Input: GetRef(packed[RefSize:]), Place: int(binary.LittleEndian.Uint32(packed[2*RefSize:])),
			Heap: binary.LittleEndian.Uint32(packed[2*RefSize+4:]),
		})
	}
	slices.SortFunc(wanted, func(a, b Want) int {
		return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Place, b.Place))
	})
	return slices.Compact(wanted)
}

// SetHeader is the size of what stands before the hashes of a set that travels:
// ref, size, hashes stored, ref of the equal document of the input (see [Want]), length, heap.
const SetHeader = 32

// WriteSet sends the set of document i of the block to the place where it is wanted.
func WriteSet(run *runfile.Writer, wanted Want, block *sketchblock.Block, i int, set []byte) error {
	b, err := run.Record(PlaceSets, wanted.Place, SetHeader+len(set))
	if err == nil {
		PutRef(b, block.Ref(i))
		binary.LittleEndian.PutUint32(b[8:], uint32(block.Size(i)))
		binary.LittleEndian.PutUint32(b[12:], uint32(block.Stored(i)))
		PutRef(b[16:], wanted.Input)
		binary.LittleEndian.PutUint32(b[24:], uint32(block.Length(i)))
		binary.LittleEndian.PutUint32(b[28:], wanted.Heap)
		copy(b[SetHeader:], set)
	}
	return err
}
