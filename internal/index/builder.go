package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/sketchblock"
)

// A segment is finished when it has as many keys, documents or bytes of ids as
// that: its keys are sorted in memory.
const (
	segmentKeys      = 4 << 20
	segmentDocuments = 1 << 20
	segmentIDs       = 1 << 28
)

// Document is one document as a Builder takes it in.
type Document struct {
	Ref docref.Ref
	// ID is the user's id; empty if there is none.
	ID     []byte
	Digest uint64
	// Set holds the distinct elements as a sketch block does, ascending.
	Set []byte
}

// Builder writes an index. It holds the keys of a segment in memory, not the sets.
// Not for concurrent use.
type Builder struct {
	header Header
	write  func([]byte) error
	table  func(keys iter.Seq[uint64]) (io.WriterTo, error)
	offset int64 // in the file

	segment     SegmentHeader
	segmentKeys int
	sets        []building
	byDigest    map[uint64]uint32 // the number of a set in sets
	documents   []documentOf
	ids         []byte
	keys        []keyOf
	elements    []uint64 // of one set
}

// building is a set of the segment that is being built.
type building struct {
	digest uint64
	start  uint64
	size   uint32
	number uint32 // by size
}

// documentOf is a document with its set, by its place in sets, then by number.
type documentOf struct {
	ref        docref.Ref
	set        uint32
	start, end uint32 // of the id
}

// keyOf is a key with the set that has it, by its place in sets, then by number.
type keyOf struct {
	key uint64
	set uint32
}

// NewBuilder returns a builder that passes the bytes of a file to write. Table
// makes a compressed table of sorted keys.
func NewBuilder(header Header, write func([]byte) error, table func(keys iter.Seq[uint64]) (io.WriterTo, error)) *Builder {
	return &Builder{header: header, write: write, table: table, segmentKeys: segmentKeys, byDigest: map[uint64]uint32{}}
}

// Add takes in a document. Those of one set come in document order.
func (b *Builder) Add(d Document) error {
	number, known := b.byDigest[d.Digest]
	if !known {
		number = uint32(len(b.sets))
		b.byDigest[d.Digest] = number
		if err := b.addSet(number, d); err != nil {
			return err
		}
	}
	start := uint32(len(b.ids))
	b.ids = append(b.ids, d.ID...)
	b.documents = append(b.documents, documentOf{ref: d.Ref, set: number, start: start, end: uint32(len(b.ids))})
	if len(b.keys) >= b.segmentKeys || len(b.documents) >= segmentDocuments || len(b.ids) >= segmentIDs {
		return b.finishSegment()
	}
	return nil
}

// addSet writes a set and collects its keys.
func (b *Builder) addSet(number uint32, d Document) error {
	column := &b.segment.Columns[elements]
	if len(b.sets) == 0 {
		column.Offset = b.offset
	}
	size := len(d.Set) / sketchblock.HashSize
	b.sets = append(b.sets, building{digest: d.Digest, start: uint64(column.Length) / sketchblock.HashSize, size: uint32(size)})
	if size == 0 {
		b.keys = append(b.keys, keyOf{DigestKey(d.Digest), number})
		return nil
	}
	count := KeyCount(b.header.Threshold, size)
	b.elements = sketchblock.AppendSet(b.elements[:0], d.Set[:count*sketchblock.HashSize])
	for _, element := range b.elements {
		b.keys = append(b.keys, keyOf{element, number})
	}
	column.Length += int64(len(d.Set))
	return b.put(d.Set)
}

func (b *Builder) put(data []byte) error {
	b.offset += int64(len(data))
	return b.write(data)
}

// putColumn writes a column of the segment.
func (b *Builder) putColumn(column int, data []byte) error {
	b.segment.Columns[column] = Placement{Offset: b.offset, Length: int64(len(data)), Sum: crc32.Checksum(data, castagnoli)}
	return b.put(data)
}

// finishSegment writes what belongs to the sets that were written.
func (b *Builder) finishSegment() error {
	if len(b.documents) == 0 {
		return nil
	}
	b.segment.Documents, b.segment.Sets, b.segment.Keys = len(b.documents), len(b.sets), len(b.keys)
	b.numberSets()
	b.sort()
	var data [columns][]byte
	order := make([]*building, len(b.sets))
	for i := range b.sets {
		order[b.sets[i].number] = &b.sets[i]
	}
	document := 0
	for number, set := range order {
		data[starts] = binary.LittleEndian.AppendUint64(data[starts], set.start)
		data[sizes] = binary.LittleEndian.AppendUint32(data[sizes], set.size)
		data[digests] = binary.LittleEndian.AppendUint64(data[digests], set.digest)
		for document < len(b.documents) && b.documents[document].set == uint32(number) {
			document++
		}
		data[groups] = binary.LittleEndian.AppendUint32(data[groups], uint32(document))
	}
	for _, d := range b.documents {
		data[refs] = binary.LittleEndian.AppendUint64(data[refs], uint64(d.ref))
		data[ids] = append(data[ids], b.ids[d.start:d.end]...)
		data[idEnds] = binary.LittleEndian.AppendUint32(data[idEnds], uint32(len(data[ids])))
	}
	for _, k := range b.keys {
		data[postings] = binary.LittleEndian.AppendUint32(data[postings], k.set)
	}
	for column := starts; column < keys; column++ {
		if err := b.putColumn(column, data[column]); err != nil {
			return err
		}
	}
	if err := b.putTable(); err != nil {
		return err
	}
	b.header.Segments = append(b.header.Segments, b.segment)
	b.segment = SegmentHeader{}
	b.sets, b.documents, b.ids, b.keys = b.sets[:0], b.documents[:0], b.ids[:0], b.keys[:0]
	clear(b.byDigest)
	return nil
}

// numberSets numbers the sets by size.
func (b *Builder) numberSets() {
	order := make([]uint32, len(b.sets))
	for i := range order {
		order[i] = uint32(i)
	}
	order = radix.Sort(order, make([]uint32, len(order)), func(set *uint32) uint64 { return uint64(b.sets[*set].size) })
	for number, set := range order {
		b.sets[set].number = uint32(number)
	}
}

// sort sorts documents by the number of their set, and keys, those of one by the
// number of theirs.
func (b *Builder) sort() {
	for i := range b.documents {
		b.documents[i].set = b.sets[b.documents[i].set].number
	}
	b.documents = radix.Sort(b.documents, make([]documentOf, len(b.documents)), func(d *documentOf) uint64 { return uint64(d.set) })
	for i := range b.keys {
		b.keys[i].set = b.sets[b.keys[i].set].number
	}
	scratch := make([]keyOf, len(b.keys))
	bySet := radix.Sort(b.keys, scratch, func(k *keyOf) uint64 { return uint64(k.set) })
	if &bySet[0] == &scratch[0] {
		scratch = b.keys
	}
	b.keys = radix.Sort(bySet, scratch, func(k *keyOf) uint64 { return k.key })
}

// putTable writes the keys.
func (b *Builder) putTable() error {
	table, err := b.table(func(yield func(uint64) bool) {
		for i := range b.keys {
			if !yield(b.keys[i].key) {
				return
			}
		}
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	var data bytes.Buffer
	if _, err := table.WriteTo(&data); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return b.putColumn(keys, data.Bytes())
}

// Close writes what is left.
func (b *Builder) Close() error {
	if err := b.finishSegment(); err != nil {
		return err
	}
	encoded, err := json.Marshal(b.header)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	footer := binary.LittleEndian.AppendUint64(nil, uint64(len(encoded)))
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(encoded, castagnoli))
	if err := b.put(encoded); err != nil {
		return err
	}
	return b.put(append(footer, magic...))
}
