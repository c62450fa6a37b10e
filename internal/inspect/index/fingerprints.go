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
	b.segment.Documents, b.segment.Sets, b.segment.Keys = len(b.documents), len(full)+len(digests), len(digests)
	if err := b.putFingerprints(full, digests); err != nil {
		return err
	}
	keys, scratch := make([]uint64, len(full)), make([]uint64, len(full))
	for table := range b.tables.Tables() {
		for number, fingerprint := range full {
			keys[number] = numberedKey(b.tables.Prefix(table, fingerprint), b.tables.PrefixBits(table), number)
		}
		sorted := graphs.RadixSort(keys, scratch, func(key *uint64) uint64 { return *key })
		place, err := b.putTable(slices.Values(sorted))
		if err != nil {
			return err
		}
		b.segment.Tables = append(b.segment.Tables, place)
	}
	b.endSegment()
	b.documents, b.fingerprints, b.empty, b.ids = b.documents[:0], b.fingerprints[:0], b.empty[:0], b.ids[:0]
	return nil
}

// putFingerprints writes the different fingerprints of a segment and the digests, with what is known of the documents
// in between.
func (b *fingerprintBuilder) putFingerprints(full, digests [][]uint64) (err error) {
	var rows []byte
	for _, fingerprint := range full {
		for _, word := range fingerprint {
			rows = binary.LittleEndian.AppendUint64(rows, word)
		}
	}
	if b.segment.Columns[elements], err = b.putColumn(rows); err != nil {
		return err
	}
	var data [columns][]byte
	addDocuments(&data, b.segment.Sets, b.documents, b.ids)
	if err := b.putColumns(&data); err != nil {
		return err
	}
	return b.putKeys(slices.Values(slices.Concat(digests...)))
}

// different returns, sorted, the different fingerprints of documents without elements if empty is set, else of
// documents with elements.
func (b *fingerprintBuilder) different(empty bool) (sorted [][]uint64) {
	for i, fingerprint := range b.fingerprints {
		if b.empty[i] == empty {
			sorted = append(sorted, fingerprint)
		}
	}
	slices.SortFunc(sorted, slices.Compare)
	return slices.CompactFunc(sorted, slices.Equal)
}

func (b *fingerprintBuilder) Close() error {
	if err := b.finishSegment(); err != nil {
		return err
	}
	return b.close()
}
