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

// PutLocation packs the location of a node.
func PutLocation(b []byte, node graphs.Node, l NodeLocation) {
	binary.LittleEndian.PutUint32(b, uint32(node))
	binary.LittleEndian.PutUint32(b[4:], uint32(l.First))
	binary.LittleEndian.PutUint16(b[8:], l.Blocks)
	binary.LittleEndian.PutUint16(b[10:], l.Block)
	binary.LittleEndian.PutUint32(b[12:], uint32(l.Star))
}

// GetLocation reads the location of a node.
func GetLocation(b []byte) NodeLocation {
	return NodeLocation{graphs.Location{
		First:  graphs.Place(binary.LittleEndian.Uint32(b[4:])),
		Blocks: binary.LittleEndian.Uint16(b[8:]),
		Block:  binary.LittleEndian.Uint16(b[10:]),
	}, StarNumber(binary.LittleEndian.Uint32(b[12:]))}
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
	// Priority, Scope and Side are as in its sketch block.
	Priority    preference.Priority
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
	end := header + sketchblock.HashSize*int(stored&^(setSided|setParted))
	size := binary.LittleEndian.Uint32(packed[8:])
	set, common := packed[header:end], []byte(nil)
	if stored&setParted != 0 {
		set, common = set[:sketchblock.HashSize*size], set[sketchblock.HashSize*size:]
	}
	return PlacedSet{
		Side:     side,
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

// WritePair writes a pair of documents, as a record of a kind.
func WritePair(run *runfile.Writer, kind runfile.Kind, shard int, a, b docref.Ref) error {
	record, err := run.Record(kind, shard, PairSize)
	if err == nil {
		PutRef(record, a)
		PutRef(record[RefSize:], b)
	}
	return err
}

// GetPair reads a pair of documents.
func GetPair(record []byte) (a, b docref.Ref) { return GetRef(record), GetRef(record[RefSize:]) }

// WritePart writes the nodes of a part of a graph.
func WritePart(run *runfile.Writer, kind runfile.Kind, shard int, part graphs.Part) error {
	for i, ref := range part.Refs {
		if err := WriteNode(
			run, kind, shard, Node{Ref: ref, Weight: part.Weights[i], Parent: part.Parents[i]},
		); err != nil {
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

// WriteNode writes a node.
func WriteNode(run *runfile.Writer, kind runfile.Kind, shard int, n Node) error {
	b, err := run.Record(kind, shard, NodeSize)
	if err == nil {
		PutRef(b, n.Ref)
		binary.LittleEndian.PutUint32(b[8:], n.Weight)
		binary.LittleEndian.PutUint32(b[12:], uint32(n.Parent))
	}
	return err
}

// DecodePart reads the output of WritePart into the memory of part.
func DecodePart(part graphs.Part, nodes []byte) graphs.Part {
	n := len(nodes) / NodeSize
	part = graphs.Part{
		Refs:    slices.Grow(part.Refs[:0], n),
		Weights: slices.Grow(part.Weights[:0], n),
		Parents: slices.Grow(part.Parents[:0], n),
	}
	for ; len(nodes) > 0; nodes = nodes[NodeSize:] {
		part.Refs = append(part.Refs, GetRef(nodes))
		part.Weights = append(part.Weights, binary.LittleEndian.Uint32(nodes[8:]))
		part.Parents = append(part.Parents, graphs.Node(binary.LittleEndian.Uint32(nodes[12:])))
	}
	return part
}

// GetNode reads the number of the node with which a record about a node begins.
func GetNode(b []byte) graphs.Node { return graphs.Node(binary.LittleEndian.Uint32(b)) }

// OrderByNode orders records of that size by the node with which each begins. Each node of a part must have one.
func OrderByNode(packed []byte, size int) {
	swap := make([]byte, size)
	for at := 0; at < len(packed); at += size {
		record := packed[at : at+size]
		for home := int(GetNode(record)) * size; home != at; home = int(GetNode(record)) * size {
			other := packed[home : home+size]
			copy(swap, other)
			copy(other, record)
			copy(record, swap)
		}
	}
}
