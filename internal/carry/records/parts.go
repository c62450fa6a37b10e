package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// WritePart writes the nodes of a part of a graph.
func WritePart(run *runfile.Writer, kind runfile.Kind, shard int, part graphs.Part) error {
	for i, ref := range part.Refs {
		if err := WriteNode(run, kind, shard, Node{Ref: ref, Weight: part.Weights[i], Parent: part.Parents[i]}); err != nil {
			return err
		}
	}
	return nil
}

// Node is the record of a node of a part of a graph. Parent is another node of the part to which it is joined, or the
// node itself.
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
	part = graphs.Part{Refs: part.Refs[:0], Weights: part.Weights[:0], Parents: part.Parents[:0]}
	for ; len(nodes) > 0; nodes = nodes[NodeSize:] {
		part.Refs = append(part.Refs, GetRef(nodes))
		part.Weights = append(part.Weights, binary.LittleEndian.Uint32(nodes[8:]))
		part.Parents = append(part.Parents, graphs.Node(binary.LittleEndian.Uint32(nodes[12:])))
	}
	return part
}

// GetNode reads the number of the node with which a record about a node begins.
func GetNode(b []byte) graphs.Node { return graphs.Node(binary.LittleEndian.Uint32(b)) }

// OrderByNode orders records of that size by the nodes with which they begin. There must be one for each node of a part.
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
