package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

type writer struct {
	header  Header
	write   func([]byte) error
	offset  int64         // in the file
	segment SegmentHeader // the segment under way
}

// documentOf is a document with its set: first its place in the order in which sets came, later its number.
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

// Builder writes an index. It is not for concurrent use.
type Builder struct {
	taker
	bits        int
	common      *sketch.Stripper // takes the common shingles out of sets; nil: there are none
	digester    *sketch.Digester
	hashes      []uint64
	fingerprint []uint64
	own         []byte
}

// taker takes the documents of an index. Close writes the rest.
type taker interface {
	Add(d Document) error
	Close() error
}

// New returns a builder of an index, which passes the bytes of its file to write. The documents must come in document
// order. The header has everything but segments; its blocks may be empty: then they are as [lshbands.PlanTables]
// chooses them. The seed is the one of the documents' measure. The error is that there are no tables for the bits and
// the distance.
func New(header Header, seed uint64, write func([]byte) error) (*Builder, error) {
	b := &Builder{bits: header.Bits, digester: sketch.NewDigester(seed)}
	var err error
	if b.common, err = header.Stripper(header.Bits); err != nil {
		return nil, err
	}
	if header.Bits == 0 {
		b.taker = newSetBuilder(writer{header: header, write: write})
		return b, nil
	}
	tables, err := lshbands.PlanTables(header.Bits, header.Distance, header.Blocks...)
	if err != nil {
		return nil, err
	}
	header.Blocks = tables.Blocks()
	b.taker = &fingerprintBuilder{
		writer:           writer{header: header, write: write},
		tables:           tables,
		segmentDocuments: segmentDocuments,
	}
	return b, nil
}

// Stripper returns what takes the common shingles out of sets, and makes fingerprints of the rest if bits is above 0.
// It is nil if there are no common shingles.
func (h *Header) Stripper(bits int) (*sketch.Stripper, error) {
	if len(h.Common) == 0 {
		return nil, nil
	}
	common, err := documents.SharedShingles(h.Common)
	if err != nil {
		return nil, err
	}
	return sketch.NewStripper(common, bits)
}

// AddBlock adds the documents of a block. Their sets are in setsPiece, which an index of fingerprints reads only if
// common shingles are to be taken out of them.
func (b *Builder) AddBlock(w *work.TaskContext, block *sketchblock.Block, setsPiece runfile.Piece) error {
	if b.bits > 0 && b.common == nil {
		for i := range block.Len() {
			if err := b.add(block, i, nil); err != nil {
				return err
			}
		}
		return nil
	}
	packed, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(packed) {
		if err := b.add(block, i, set); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) add(block *sketchblock.Block, i int, set []byte) error {
	d := Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: set}
	switch {
	case b.common != nil:
		b.hashes = sketchblock.AppendSet(b.hashes[:0], set)
		own, simhash := b.common.Strip(b.hashes)
		if len(own) > 0 {
			d.Digest, d.Fingerprint = b.digester.Set(own), simhash
		}
		b.own = sketchblock.AppendPacked(b.own[:0], own)
		d.Set = b.own
	case b.bits > 0 && block.Size(i) > 0:
		b.fingerprint = block.SimHash(b.fingerprint[:0], i)
		d.Fingerprint = b.fingerprint
	}
	return b.Add(d)
}
