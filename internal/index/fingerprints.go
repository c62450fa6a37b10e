package index

import (
	"io"
	"iter"
	"slices"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/radix"
)

// Fingerprinted is one document for a FingerprintBuilder.
type Fingerprinted struct {
	Ref docref.Ref
	// ID is the user's id. It is empty if there is none.
	ID []byte
	// Fingerprint is the SimHash fingerprint of 64 bits. For a document without elements it is the digest.
	Fingerprint uint64
	// IsEmpty says that the document has no elements.
	IsEmpty bool
}

// FingerprintBuilder writes an index of SimHash fingerprints. It holds the fingerprints of one segment in
// memory. It is not for concurrent use.
type FingerprintBuilder struct {
	writer
	permute          func(table int, fingerprint uint64) uint64
	tables           int
	segmentDocuments int
	documents        []documentOf
	fingerprints     []uint64 // of documents
	empty            []bool   // of documents
	ids              []byte
}

// NewFingerprintBuilder returns a builder that passes the bytes of the file to write. Table makes a
// compressed table of sorted keys. Permute gives the key of a fingerprint in a table, from 0 to tables-1. In
// one table, no two fingerprints have the same key.
func NewFingerprintBuilder(header Header, write func([]byte) error, table func(keys iter.Seq[uint64]) (io.WriterTo, error),
	tables int, permute func(table int, fingerprint uint64) uint64,
) *FingerprintBuilder {
	return &FingerprintBuilder{
		writer: writer{header: header, write: write, table: table}, tables: tables, permute: permute, segmentDocuments: segmentDocuments,
	}
}

// Add takes in a document. The documents of one fingerprint must come in document order.
func (b *FingerprintBuilder) Add(d Fingerprinted) error {
	start := uint32(len(b.ids))
	b.ids = append(b.ids, d.ID...)
	b.documents = append(b.documents, documentOf{ref: d.Ref, start: start, end: uint32(len(b.ids))})
	b.fingerprints, b.empty = append(b.fingerprints, d.Fingerprint), append(b.empty, d.IsEmpty)
	if len(b.documents) >= b.segmentDocuments || len(b.ids) >= segmentIDs {
		return b.finishSegment()
	}
	return nil
}

// finishSegment writes the documents that were taken in.
func (b *FingerprintBuilder) finishSegment() error {
	if len(b.documents) == 0 {
		return nil
	}
	full, digests := b.different(false), b.different(true)
	for i := range b.documents {
		if b.empty[i] {
			number, _ := slices.BinarySearch(digests, b.fingerprints[i])
			b.documents[i].set = uint32(len(full) + number)
		} else {
			number, _ := slices.BinarySearch(full, b.fingerprints[i])
			b.documents[i].set = uint32(number)
		}
	}
	b.segment.Documents, b.segment.Sets, b.segment.Keys = len(b.documents), len(full)+len(digests), len(full)
	b.segment.Columns[elements].Offset = b.offset
	var data [columns][]byte
	addDocuments(&data, b.segment.Sets, b.documents, b.ids)
	if err := b.putColumns(&data); err != nil {
		return err
	}
	if err := b.putKeys(slices.Values(full)); err != nil {
		return err
	}
	if err := b.addTable(digests); err != nil {
		return err
	}
	permuted, scratch := make([]uint64, len(full)), make([]uint64, len(full))
	for table := range b.tables {
		for i, fingerprint := range full {
			permuted[i] = b.permute(table, fingerprint)
		}
		if err := b.addTable(radix.Sort(permuted, scratch, func(key *uint64) uint64 { return *key })); err != nil {
			return err
		}
	}
	b.endSegment()
	b.documents, b.fingerprints, b.empty, b.ids = b.documents[:0], b.fingerprints[:0], b.empty[:0], b.ids[:0]
	return nil
}

func (b *FingerprintBuilder) addTable(sorted []uint64) error {
	place, err := b.putTable(slices.Values(sorted))
	b.segment.Tables = append(b.segment.Tables, place)
	return err
}

// different returns, sorted, the different fingerprints of documents without elements if empty is set, else
// of documents with elements.
func (b *FingerprintBuilder) different(empty bool) (sorted []uint64) {
	for i, fingerprint := range b.fingerprints {
		if b.empty[i] == empty {
			sorted = append(sorted, fingerprint)
		}
	}
	sorted = radix.Sort(sorted, make([]uint64, len(sorted)), func(key *uint64) uint64 { return *key })
	return slices.Compact(sorted)
}

// Close writes what is left.
func (b *FingerprintBuilder) Close() error {
	if err := b.finishSegment(); err != nil {
		return err
	}
	return b.close()
}
