package records

import (
	"encoding/binary"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
)

// Occurrence is a node of a part of a graph, where many tasks join the parts.
type Occurrence struct {
	// First is the first document of its tree that the writer knows.
	First docref.Ref
	// Ref and Weight are the document.
	Ref    docref.Ref
	Weight uint32
	graphs.Origin
}

const OccurrenceSize = 2*RefSize + 12

// WriteOccurrence writes an occurrence, as a record of a kind.
func WriteOccurrence(run *runfile.Writer, kind runfile.Kind, shard int, o Occurrence) error {
	b, err := run.Record(kind, shard, OccurrenceSize)
	if err == nil {
		PutRef(b, o.First)
		PutRef(b[RefSize:], o.Ref)
		binary.LittleEndian.PutUint32(b[2*RefSize:], o.Weight)
		binary.LittleEndian.PutUint32(b[2*RefSize+4:], o.Part)
		binary.LittleEndian.PutUint32(b[2*RefSize+8:], uint32(o.Node))
	}
	return err
}

// GetOccurrence reads an occurrence.
func GetOccurrence(b []byte) Occurrence {
	return Occurrence{
		First:  GetRef(b),
		Ref:    GetRef(b[RefSize:]),
		Weight: binary.LittleEndian.Uint32(b[2*RefSize:]),
		Origin: graphs.Origin{
			Part: binary.LittleEndian.Uint32(b[2*RefSize+4:]),
			Node: graphs.Node(binary.LittleEndian.Uint32(b[2*RefSize+8:])),
		},
	}
}

// RangePosition is where a node of the similarity graph is among the documents of clusters that begin in a range.
type RangePosition struct {
	// At is the range instead of an output shard, and the number of the document there.
	At Position
	// First is the number of the first document of the cluster.
	First Number
}

// RangePositionSize is the size of the record of a [RangePosition] with its node, in bytes.
const RangePositionSize = NodePositionSize + 4

// PutRangePosition packs the position of a node.
func PutRangePosition(b []byte, node graphs.Node, p RangePosition) {
	PutNodePosition(b, node, p.At)
	binary.LittleEndian.PutUint32(b[NodePositionSize:], uint32(p.First))
}

// GetRangePosition reads the position of a node.
func GetRangePosition(b []byte) RangePosition {
	return RangePosition{At: GetNodePosition(b), First: Number(binary.LittleEndian.Uint32(b[NodePositionSize:]))}
}
