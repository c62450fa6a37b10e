package index

import (
	"encoding/binary"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/lshbands"
)

// A segment ends with this many keys, documents or bytes of ids, which bounds the memory to sort its keys.
const (
	segmentKeys      = 4 << 20
	segmentDocuments = 1 << 20
	segmentIDs       = 1 << 28
)

// Document is one document for a Builder.
type Document struct {
	Ref docref.Ref
	// ID is the user's id. It is empty if there is none.
	ID     []byte
	Digest digest.Digest
	// Set holds the distinct elements in the form of a sketch block, ascending. An index of fingerprints has none.
	Set []byte
	// Fingerprint is the SimHash fingerprint, of one word for every 64 bits or part of them. A document without
	// elements has none, and the first word of its digest instead. The builder copies it.
	Fingerprint []uint64
}

// setBuilder holds the keys of one segment in memory, but not the sets.
type setBuilder struct {
	writer
	segmentKeys int
	sets        []building
	byDigest    map[digest.Digest]uint32 // by digest, the place of a set in sets
	documents   []documentOf
	ids         []byte
	keys        []keyOf
	elements    []uint64 // of one set
}

type building struct {
	digest digest.Digest
	start  uint64
	size   uint32
	number uint32 // the rank by size
	keys   uint32 // where its keys begin
}

// keyOf is a key with a set that has it. The set is first given by its place in sets, later by its number.
type keyOf struct {
	key uint64
	set uint32
}

func newSetBuilder(w writer) *setBuilder {
	return &setBuilder{writer: w, segmentKeys: segmentKeys, byDigest: map[digest.Digest]uint32{}}
}

// Add takes in a document. The documents of one set must come in document order.
func (b *setBuilder) Add(d Document) error {
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

func (b *setBuilder) addSet(number uint32, d Document) error {
	column := &b.segment.Columns[elements]
	if len(b.sets) == 0 {
		column.Offset = b.offset
	}
	size := len(d.Set) / sketchblock.HashSize
	b.sets = append(b.sets, building{
		digest: d.Digest,
		start:  uint64(column.Length) / sketchblock.HashSize,
		size:   uint32(size),
		keys:   uint32(len(b.keys)),
	})
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

func (b *setBuilder) finishSegment() error {
	if len(b.documents) == 0 {
		return nil
	}
	b.segment.Documents, b.segment.Sets, b.segment.Keys = len(b.documents), len(b.sets), len(b.keys)
	order := b.numberSets()
	b.sortKeys(order)
	var data [columns][]byte
	for _, set := range order {
		data[starts] = binary.LittleEndian.AppendUint64(data[starts], b.sets[set].start)
		data[sizes] = binary.LittleEndian.AppendUint32(data[sizes], b.sets[set].size)
		data[digests] = b.sets[set].digest.Append(data[digests])
	}
	for i := range b.documents {
		b.documents[i].set = b.sets[b.documents[i].set].number
	}
	addDocuments(&data, len(b.sets), b.documents, b.ids)
	for _, k := range b.keys {
		data[postings] = binary.LittleEndian.AppendUint32(data[postings], k.set)
	}
	if err := b.putColumns(&data); err != nil {
		return err
	}
	err := b.putKeys(func(yield func(uint64) bool) {
		for i := range b.keys {
			if !yield(b.keys[i].key) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	b.endSegment()
	b.sets, b.documents, b.ids, b.keys = b.sets[:0], b.documents[:0], b.ids[:0], b.keys[:0]
	clear(b.byDigest)
	return nil
}

func (b *setBuilder) numberSets() []uint32 {
	order := make([]uint32, len(b.sets))
	for i := range order {
		order[i] = uint32(i)
	}
	order = graphs.RadixSort(order, make([]uint32, len(order)), func(set *uint32) uint64 {
		return uint64(b.sets[*set].size)
	})
	for number, set := range order {
		b.sets[set].number = uint32(number)
	}
	return order
}

func (b *setBuilder) sortKeys(order []uint32) {
	bySet := make([]keyOf, 0, len(b.keys))
	for number, set := range order {
		end := len(b.keys)
		if int(set)+1 < len(b.sets) {
			end = int(b.sets[set+1].keys)
		}
		for _, k := range b.keys[b.sets[set].keys:end] {
			bySet = append(bySet, keyOf{k.key, uint32(number)})
		}
	}
	b.keys = graphs.RadixSort(bySet, b.keys, func(k *keyOf) uint64 { return k.key })
}

func (b *setBuilder) Close() error {
	if err := b.finishSegment(); err != nil {
		return err
	}
	return b.close()
}

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

// putFingerprints writes the distinct fingerprints of a segment, what is known of the documents, and the digests.
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
