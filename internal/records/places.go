package records

import (
	"cmp"
	"encoding/binary"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// HotGroupNumber is the number of a hot group in its place, from 0.
type HotGroupNumber uint32

// StarNumber is the number of a star of documents, from 1; 0: no star.
type StarNumber uint32

// NodeLocation is where a node of a part of the candidate graph is compared.
type NodeLocation struct {
	graphs.Location
	Star StarNumber
}

// Want says that a document is wanted at a place. A document of the reference may also stand for equal documents of the
// input, and a document of a side for equal documents of others; Second is then the first of these.
type Want struct {
	Ref    docref.Ref
	Place  graphs.Place
	Second docref.Ref
	// HotGroup is the document's hot group, if hot groups are scored there.
	HotGroup HotGroupNumber
}

// DecodeWanted returns the wants of a split, ordered by document and place, each once.
func DecodeWanted(packed []byte) []Want {
	wanted := slices.SortedFunc(All[Want](packed), func(a, b Want) int {
		return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Place, b.Place))
	})
	return slices.Compact(wanted)
}

// PlacedSet is the set of a document at the place where it is wanted.
type PlacedSet struct {
	Ref  docref.Ref
	Size uint32
	// Priority, Ties, Scope and Side are as in its sketch block.
	Priority    preference.Priority
	Ties        preference.Ties
	Scope, Side uint64
	// Second and Hot group are as in its [Want].
	Second   docref.Ref
	HotGroup HotGroupNumber
	// Set holds the packed hashes, or the sequence, as [sketchblock] lays them out.
	Set []byte
	// Common holds the packed hashes that do not count for the similarity.
	Common []byte
}

// SetHeader is the size of the head of a placed set, before the hashes: ref, size, number of hashes, ref of the equal
// document of the input, priority, scope, hot group.
const SetHeader = 44

// setSided, a bit of the number of hashes, says that the side of the document follows the header.
const setSided = 1 << 31

// setParted, another bit of it, says that hashes that do not count for the similarity follow the hashes of the set.
const setParted = 1 << 30

// setTied, a third bit of it, says that the ties of the document follow the header and the side.
const setTied = 1 << 29

// WriteSet sends the set of document i of the block to the place where it is wanted. Hashes that do not count for the
// similarity may follow those that the block holds.
func WriteSet(run *runfile.Writer, wanted Want, block *sketchblock.Block, i int, set []byte) error {
	side, header, stored := block.Side(i), SetHeader, uint32(len(set)/sketchblock.HashSize)
	if int(stored) > block.Stored(i) {
		stored |= setParted
	}
	if side != 0 {
		header += sideSize
		stored |= setSided
	}
	ties := block.Ties(i)
	if ties != (preference.Ties{}) {
		header += tiesSize
		stored |= setTied
	}
	b, err := run.Record(PlaceSets, int(wanted.Place), header+len(set))
	if err == nil {
		PutRef(b, block.Ref(i))
		binary.LittleEndian.PutUint32(b[8:], uint32(block.Size(i)))
		binary.LittleEndian.PutUint32(b[12:], stored)
		PutRef(b[16:], wanted.Second)
		binary.LittleEndian.PutUint64(b[24:], uint64(block.Priority(i)))
		binary.LittleEndian.PutUint64(b[32:], block.Scope(i))
		binary.LittleEndian.PutUint32(b[40:], uint32(wanted.HotGroup))
		if side != 0 {
			binary.LittleEndian.PutUint64(b[SetHeader:], side)
		}
		if stored&setTied != 0 {
			putTies(b[header-tiesSize:], ties)
		}
		copy(b[header:], set)
	}
	return err
}

// NextSet reads the first of the placed sets and returns the bytes of the others. The set aliases the bytes.
func NextSet(packed []byte) (PlacedSet, []byte) {
	stored, header, side := binary.LittleEndian.Uint32(packed[12:]), SetHeader, uint64(0)
	if stored&setSided != 0 {
		header, side = header+sideSize, binary.LittleEndian.Uint64(packed[SetHeader:])
	}
	var ties preference.Ties
	if stored&setTied != 0 {
		header, ties = header+tiesSize, getTies(packed[header:])
	}
	end := header + sketchblock.HashSize*int(stored&^(setSided|setParted|setTied))
	size := binary.LittleEndian.Uint32(packed[8:])
	set, common := packed[header:end], []byte(nil)
	if stored&setParted != 0 {
		set, common = set[:sketchblock.HashSize*size], set[sketchblock.HashSize*size:]
	}
	return PlacedSet{
		Side:     side,
		Ties:     ties,
		Ref:      GetRef(packed),
		Size:     size,
		Second:   GetRef(packed[16:]),
		Priority: preference.Priority(binary.LittleEndian.Uint64(packed[24:])),
		Scope:    binary.LittleEndian.Uint64(packed[32:]),
		HotGroup: HotGroupNumber(binary.LittleEndian.Uint32(packed[40:])),
		Set:      set,
		Common:   common,
	}, packed[end:]
}

const PairSize = 2 * RefSize

// Pair is a pair of documents.
type Pair struct{ A, B docref.Ref }

// WritePart writes the nodes of a part of a graph.
func WritePart(run *runfile.Writer, kind runfile.Kind, shard int, part graphs.Part) error {
	for i, ref := range part.Refs {
		node := Node{Ref: ref, Weight: part.Weights[i], Parent: part.Parents[i]}
		if err := WriteFixed(run, kind, shard, node); err != nil {
			return err
		}
	}
	return nil
}

// Node is the record of a node of a part of a graph. Parent is a node to which it is joined, or the node itself.
type Node struct {
	Ref    docref.Ref
	Weight uint32
	Parent graphs.Node
}

// DecodePart reads the output of WritePart into the memory of part.
func DecodePart(part graphs.Part, nodes []byte) graphs.Part {
	n := len(nodes) / NodeSize
	part = graphs.Part{
		Refs:    slices.Grow(part.Refs[:0], n),
		Weights: slices.Grow(part.Weights[:0], n),
		Parents: slices.Grow(part.Parents[:0], n),
	}
	for node := range Each[Node](nodes) {
		part.Refs = append(part.Refs, node.Ref)
		part.Weights = append(part.Weights, node.Weight)
		part.Parents = append(part.Parents, node.Parent)
	}
	return part
}

// OrderByNode orders records about nodes by these. Each node of a part must have one.
func OrderByNode[T any](packed []byte) {
	size := Size[OfNode[T]]()
	swap := make([]byte, size)
	for at := 0; at < len(packed); at += size {
		record := packed[at : at+size]
		for home := int(Get[graphs.Node](record)) * size; home != at; home = int(Get[graphs.Node](record)) * size {
			other := packed[home : home+size]
			copy(swap, other)
			copy(other, record)
			copy(record, swap)
		}
	}
}
