package index

import (
	"encoding/binary"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/lshbands"
)

// fingerprintBuilder holds the fingerprints of one segment in memory.
type fingerprintBuilder struct {
	writer
	tables           *lshbands.Permuted
	segmentDocuments int
	documents        []documentOf
	fingerprints     [][]uint64 // of documents; of one without elements its digest
	empty            []bool     // of documents
	ids              []byte
}

// Add takes in a document. The documents of one fingerprint must come in document order.
func (b *fingerprintBuilder) Add(d Document) error {
	start := uint32(len(b.ids))
	b.ids = append(b.ids, d.ID...)
	b.documents = append(b.documents, documentOf{ref: d.Ref, start: start, end: uint32(len(b.ids))})
	isEmpty := len(d.Fingerprint) == 0
	fingerprint := d.Digest[:1]
	if !isEmpty {
		fingerprint = d.Fingerprint
	}
	b.fingerprints, b.empty = append(b.fingerprints, slices.Clone(fingerprint)), append(b.empty, isEmpty)
	if len(b.documents) >= b.segmentDocuments || len(b.ids) >= segmentIDs {
		return b.finishSegment()
	}
	return nil
}

// key returns the key of a fingerprint in a table. Number is the number of the fingerprint in its segment. In one
// table, no two fingerprints of a segment have the same key.
func (b *fingerprintBuilder) key(table int, fingerprint []uint64, number int) uint64 {
	if b.header.IsNumbered() {
		return numberedKey(b.tables.Prefix(table, fingerprint), b.tables.PrefixBits(table), number)
	}
	var permuted [1]uint64
	b.tables.Permute(table, permuted[:], fingerprint)
	return permuted[0]
}

func (b *fingerprintBuilder) finishSegment() error {
	if len(b.documents) == 0 {
		return nil
	}
	full, digests := b.different(false), b.different(true)
	for i := range b.documents {
		among, before := full, 0
		if b.empty[i] {
			among, before = digests, len(full)
		}
		number, _ := slices.BinarySearchFunc(among, b.fingerprints[i], slices.Compare)
		b.documents[i].set = uint32(before + number)
	}
	b.segment.Documents, b.segment.Sets, b.segment.Keys = len(b.documents), len(full)+len(digests), len(full)
	if err := b.putFingerprints(full); err != nil {
		return err
	}
	if err := b.addTable(firstWords(digests)); err != nil {
		return err
	}
	keys, scratch := make([]uint64, len(full)), make([]uint64, len(full))
	for table := range b.tables.Tables() {
		for number, fingerprint := range full {
			keys[number] = b.key(table, fingerprint, number)
		}
		if err := b.addTable(graphs.RadixSort(keys, scratch, func(key *uint64) uint64 { return *key })); err != nil {
			return err
		}
	}
	b.endSegment()
	b.documents, b.fingerprints, b.empty, b.ids = b.documents[:0], b.fingerprints[:0], b.empty[:0], b.ids[:0]
	return nil
}

// putFingerprints writes the different fingerprints of a segment: as the keys where a table can hold them, else as the
// elements. It writes what is known of the documents in between.
func (b *fingerprintBuilder) putFingerprints(full [][]uint64) (err error) {
	var rows []byte
	if b.header.IsNumbered() {
		for _, fingerprint := range full {
			for _, word := range fingerprint {
				rows = binary.LittleEndian.AppendUint64(rows, word)
			}
		}
		full = nil
	}
	if b.segment.Columns[elements], err = b.putColumn(rows); err != nil {
		return err
	}
	var data [columns][]byte
	addDocuments(&data, b.segment.Sets, b.documents, b.ids)
	if err := b.putColumns(&data); err != nil {
		return err
	}
	return b.putKeys(slices.Values(firstWords(full)))
}

func (b *fingerprintBuilder) addTable(sorted []uint64) error {
	place, err := b.putTable(slices.Values(sorted))
	b.segment.Tables = append(b.segment.Tables, place)
	return err
}

// different returns, sorted, the different fingerprints of documents without elements if empty is set, else
// of documents with elements.
func (b *fingerprintBuilder) different(empty bool) (sorted [][]uint64) {
	for i, fingerprint := range b.fingerprints {
		if b.empty[i] == empty {
			sorted = append(sorted, fingerprint)
		}
	}
	slices.SortFunc(sorted, slices.Compare)
	return slices.CompactFunc(sorted, slices.Equal)
}

func firstWords(fingerprints [][]uint64) []uint64 {
	words := make([]uint64, len(fingerprints))
	for i := range fingerprints {
		words[i] = fingerprints[i][0]
	}
	return words
}

func (b *fingerprintBuilder) Close() error {
	if err := b.finishSegment(); err != nil {
		return err
	}
	return b.close()
}
