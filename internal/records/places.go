package records

import (
	"cmp"
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
	PlacedHead
	// Set holds the packed hashes, or the sequence, as [sketchblock] lays them out.
	Set []byte
	// Common holds the packed hashes that do not count for the similarity.
	Common []byte
}

// PlacedHead is what is known of a document in addition to its set.
type PlacedHead struct {
	Ref docref.Ref
	// Second and HotGroup are as in its [Want], and Priority, Ties, Scope and Side as in its sketch block.
	Second      docref.Ref
	Priority    preference.Priority
	Ties        preference.Ties
	Scope, Side uint64
	HotGroup    HotGroupNumber
	Size        uint32

	set, common uint32 // bytes, which follow
}

// WriteSet sends the set of document i of the block to the place where it is wanted. Hashes that do not count for the
// similarity may follow those that the block holds.
func WriteSet(run *runfile.Writer, wanted Want, block *sketchblock.Block, i int, set []byte) error {
	stored := sketchblock.HashSize * block.Stored(i)
	head := PlacedHead{
		Ref:      block.Ref(i),
		Second:   wanted.Second,
		Priority: block.Priority(i),
		Ties:     block.Ties(i),
		Scope:    block.Scope(i),
		Side:     block.Side(i),
		HotGroup: wanted.HotGroup,
		Size:     uint32(block.Size(i)),
		set:      uint32(stored),
		common:   uint32(len(set) - stored),
	}
	size := Size[PlacedHead]()
	b, err := run.Record(PlaceSets, int(wanted.Place), size+len(set))
	if err == nil {
		Put(b, head)
		copy(b[size:], set)
	}
	return err
}

// NextSet reads the first of the placed sets and returns the bytes of the others. The set aliases the bytes.
func NextSet(packed []byte) (PlacedSet, []byte) {
	head := Get[PlacedHead](packed)
	set := packed[Size[PlacedHead]():]
	end := head.set + head.common
	return PlacedSet{head, set[:head.set:head.set], set[head.set:end:end]}, set[end:]
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
