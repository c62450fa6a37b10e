package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/lshbands"
)

type writer struct {
	header  Header
	write   func([]byte) error
	offset  int64         // in the file
	segment SegmentHeader // the segment under way
}

// documentOf is a document with its set. The set is first given by its place in the order in which sets came, later by
// its number.
type documentOf struct {
	ref        docref.Ref
	set        uint32
	start, end uint32 // of the id
}

func (w *writer) put(data []byte) error {
	w.offset += int64(len(data))
	return w.write(data)
}

func (w *writer) putColumn(data []byte) (Placement, error) {
	place := Placement{Offset: w.offset, Length: int64(len(data)), Sum: checksum.Of(data)}
	return place, w.put(data)
}

// putColumns writes the columns of a segment between the elements and the keys.
func (w *writer) putColumns(data *[columns][]byte) (err error) {
	for column := starts; column < keys; column++ {
		if w.segment.Columns[column], err = w.putColumn(data[column]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putTable(sorted iter.Seq[uint64]) (Placement, error) {
	table, err := lshbands.NewTable(sorted)
	if err != nil {
		return Placement{}, fmt.Errorf("index: %w", err)
	}
	var data bytes.Buffer
	if _, err := table.WriteTo(&data); err != nil {
		return Placement{}, fmt.Errorf("index: %w", err)
	}
	return w.putColumn(data.Bytes())
}

func (w *writer) putKeys(sorted iter.Seq[uint64]) (err error) {
	w.segment.Columns[keys], err = w.putTable(sorted)
	return err
}

// addDocuments fills in the columns of documents. Each document has one of the given number of sets. The documents of
// one set are in document order.
func addDocuments(data *[columns][]byte, sets int, documents []documentOf, text []byte) {
	documents = graphs.RadixSort(documents, make([]documentOf, len(documents)), func(d *documentOf) uint64 {
		return uint64(d.set)
	})
	next := 0
	for set := range uint32(sets) {
		for next < len(documents) && documents[next].set == set {
			next++
		}
		data[groups] = binary.LittleEndian.AppendUint32(data[groups], uint32(next))
	}
	for _, d := range documents {
		data[refs] = binary.LittleEndian.AppendUint64(data[refs], uint64(d.ref))
		data[ids] = append(data[ids], text[d.start:d.end]...)
		data[idEnds] = binary.LittleEndian.AppendUint32(data[idEnds], uint32(len(data[ids])))
	}
}

func (w *writer) endSegment() {
	w.header.Segments = append(w.header.Segments, w.segment)
	w.segment = SegmentHeader{}
}

func (w *writer) close() error {
	encoded, err := json.Marshal(w.header)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	footer := binary.LittleEndian.AppendUint64(nil, uint64(len(encoded)))
	footer = binary.LittleEndian.AppendUint32(footer, checksum.Of(encoded))
	if err := w.put(encoded); err != nil {
		return err
	}
	return w.put(append(footer, Magic...))
}
