// Package index lays out the index of a corpus, in which the near-duplicates of other documents are found. The index
// holds the documents, their full sets of shingles, and for each key a list of the sets that have it.
//
// The keys of a set are its first elements, in ascending order. Take two sets whose similarity reaches a threshold t.
// Each of them, having n elements, shares at least t*n elements with the other. So the first c common elements are
// among the first n - t*n + c elements of each set. This is the prefix filter (Chaudhuri, Ganti and Kaushik, A
// primitive operator for similarity joins in data cleaning, 2006), for several common elements instead of one (Wang, Li
// and Feng, Can we beat the prefix filtering?, 2012). Few sets that are not similar share that many keys.
//
// A file holds segments. Each segment is an index of its own of some of the documents. The file ends with a header in
// JSON, which says where everything is, and a footer:
//
//	segment  elements   6 a set's element, the sets in any order
//	         starts     8 a set: the number of its first element
//	         sizes      4 a set: how many elements it has, ascending
//	         digests    16 a set, or of a document without elements
//	         groups     4 a set: the number of the document behind its last one
//	         refs       8 a document, documents of one set next to each other
//	         id ends    4 a document: where its id ends in ids; an empty id is none
//	         ids
//	         postings   4 a key: a set that has it
//	         keys       the sorted keys, as a compressed table
//	header
//	footer   8 length of the header, 4 its CRC-32C, magic
//
// All integers are little-endian. A document without elements has one key, which is made of its digest.
//
// An index of SimHash fingerprints has tables instead of sets and postings (Manku, Jain and Das Sarma, Detecting
// near-duplicates for web crawling, 2007). The elements are the words of the different fingerprints, sorted. Each
// fingerprint takes the place of a set above, and so does each digest of documents without elements: these are numbered
// behind the fingerprints, and are the keys. The other tables hold the prefixes of the permuted fingerprints, and the
// numbers of the fingerprints: see [KeyPrefix].
package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/lshbands"
)

// Common is how many common elements of two similar sets are keys of both. If the sets share fewer elements, all of
// these are keys of both.
const Common = 4

// Magic ends the file of an index. Another layout has another one.
const Magic = "mbindex4"

const footerSize = 12 + len(Magic)

// KeyCount returns how many elements of a set of the given size are its keys, if the index is searched for sets of a
// similarity of at least threshold.
func KeyCount(threshold float64, size int) int {
	// Take a little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(size) * (1 - 1e-9)))
	return min(size-least+Common, size)
}

// DigestKey returns the key of a document without elements. It differs from every element.
func DigestKey(d digest.Digest) uint64 { return d[0] | 1<<63 }

// Header describes the index in a file.
type Header struct {
	// Threshold is the least Jaccard similarity that can be searched for.
	Threshold float64 `json:"threshold"`
	// Bits is the length of the fingerprints, 0 for an index of sets. Distance is the largest Hamming distance that can
	// be searched for. Blocks is how many blocks the fingerprints were cut into at each level to be permuted.
	Bits     int   `json:"bits,omitempty"`
	Distance int   `json:"distance,omitempty"`
	Blocks   []int `json:"blocks,omitempty"`
	// StopWords is the list of stop words as the user wrote it. It is empty if there is none.
	StopWords string `json:"stop_words,omitempty"`
	// Ignored are the shingles that do not count, packed as in a sketch block and ascending. It is empty if there are
	// none.
	Ignored []byte `json:"ignored,omitempty"`
	// Common are the shingles that do not count because very many documents have them, packed in the same way. They are
	// taken out of what is left without the ignored ones.
	Common []byte `json:"common,omitempty"`
	// References is how many files of the corpus are a reference. They are its first files.
	References int `json:"references,omitempty"`
	// AreIntegers says that the ids of all documents of the corpus are whole numbers, as its rows have them.
	AreIntegers bool `json:"are_integers,omitempty"`
	// Files are the names of the files that the documents come from. The first of them has the number FirstFile.
	FirstFile int      `json:"first_file"`
	Files     []string `json:"files"`
	// Members are the names of the files of a group, by the place of the group in Files. The position of a document in
	// a group is the number of its file there.
	Members map[int][]string `json:"members,omitempty"`
	// Segments are filled in by the Builder.
	Segments []SegmentHeader `json:"segments"`
}

// SegmentHeader says where the columns of a segment are.
type SegmentHeader struct {
	Documents int                `json:"documents"`
	Sets      int                `json:"sets"`
	Keys      int                `json:"keys"`
	Columns   [columns]Placement `json:"columns"`
	// Tables are the tables of permuted fingerprints.
	Tables []Placement `json:"tables,omitempty"`
}

// Placement is where a column is in the file, and its CRC-32C. The elements have no sum, since their sets have digests.
type Placement struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Sum    uint32 `json:"sum,omitempty"`
}

const (
	elements = iota
	starts
	sizes
	digests
	groups
	refs
	idEnds
	ids
	postings
	keys
	columns
)

// File is an index as Open reads it.
type File struct {
	Header   Header
	Segments []*Segment
	// Tables are how fingerprints are permuted, nil in an index of sets.
	Tables *lshbands.Permuted
}

// Segment is an index of some of the documents. Its sets are numbered by size. Any number of goroutines may read it.
type Segment struct {
	// Documents and Sets count the documents and sets of the segment.
	Documents, Sets int
	// Keys are the sorted keys: of sets, or in an index of fingerprints the digests of documents without elements.
	Keys *lshbands.Table
	// Permuted have, for each permutation of fingerprints, the numbers of these by their prefixes.
	Permuted []*lshbands.Table
	columns  [columns][]byte
}

// Open reads the index in the bytes of a file. The segments go on using these bytes. Open returns an error if a Builder
// cannot have written the bytes. It does not check the elements of sets: whoever uses a set must compare its digest.
func Open(file []byte) (*File, error) {
	header, err := openHeader(file)
	if err != nil {
		return nil, err
	}
	f := &File{Header: header}
	if header.Bits > 0 {
		if f.Tables, err = lshbands.NewPermuted(header.Bits, header.Distance, header.Blocks...); err != nil {
			return nil, err
		}
	}
	for i, h := range header.Segments {
		s, err := f.openSegment(file, h)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		for document := range s.Documents {
			if _, _, known := header.Place(s.Ref(document)); !known {
				return nil, fmt.Errorf("document %d belongs to a file that is not in the header", document)
			}
		}
		f.Segments = append(f.Segments, s)
	}
	return f, nil
}

func openHeader(file []byte) (header Header, err error) {
	if len(file) < footerSize || string(file[len(file)-len(Magic):]) != Magic {
		return header, errors.New("the file is not an index, or is an index of another version")
	}
	footer := file[len(file)-footerSize:]
	rest := file[:len(file)-footerSize]
	length := binary.LittleEndian.Uint64(footer)
	if length > uint64(len(rest)) {
		return header, errors.New("the header is damaged")
	}
	encoded := rest[uint64(len(rest))-length:]
	if checksum.Of(encoded) != binary.LittleEndian.Uint32(footer[8:]) {
		return header, errors.New("the header is damaged")
	}
	if err := json.Unmarshal(encoded, &header); err != nil {
		return header, fmt.Errorf("the header is damaged: %w", err)
	}
	return header, nil
}

// Place returns the name of a document's file and the position there. It reports whether the header knows them.
func (h *Header) Place(ref docref.Ref) (name string, position int64, known bool) {
	number, position := ref.File()-h.FirstFile, ref.Position()
	if number < 0 || number >= len(h.Files) {
		return "", 0, false
	}
	members, isGroup := h.Members[number]
	if !isGroup {
		return h.Files[number], position, true
	}
	if position >= int64(len(members)) {
		return "", 0, false
	}
	return members[position], 0, true
}

func (f *File) openSegment(file []byte, h SegmentHeader) (*Segment, error) {
	fingerprints := f.Tables != nil
	s := &Segment{Documents: h.Documents, Sets: h.Sets}
	if min(h.Documents, h.Sets, h.Keys) < 0 || max(h.Documents, h.Sets, h.Keys) > math.MaxUint32 {
		return nil, errors.New("the counts are damaged")
	}
	length := [columns]int{groups: 4 * h.Sets, refs: 8 * h.Documents, idEnds: 4 * h.Documents}
	if !fingerprints {
		length[starts] = 8 * h.Sets
		length[sizes] = 4 * h.Sets
		length[digests] = digest.Size * h.Sets
		length[postings] = 4 * h.Keys
	}
	for i, place := range h.Columns {
		column, err := place.in(file)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		switch i {
		case elements, ids, keys:
			length[i] = len(column)
		}
		if len(column) != length[i] || (i != elements || fingerprints) && checksum.Of(column) != place.Sum {
			return nil, fmt.Errorf("column %d is damaged", i)
		}
		s.columns[i] = column
	}
	if err := s.checkDocuments(); err != nil {
		return nil, err
	}
	if !fingerprints {
		if err := s.checkSets(); err != nil {
			return nil, err
		}
	}
	return s, f.openTables(s, file, h)
}

// openTables opens the tables of a segment. The sum of a table is in it.
func (f *File) openTables(s *Segment, file []byte, h SegmentHeader) error {
	var tables []*lshbands.Table
	for i, place := range append([]Placement{h.Columns[keys]}, h.Tables...) {
		content, err := place.in(file)
		if err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
		table, err := lshbands.OpenTable(content)
		if err != nil {
			return err
		}
		tables = append(tables, table)
	}
	s.Keys = tables[0]
	if f.Tables == nil {
		if keys, postings := s.Keys.Len(), s.postings(); keys != postings {
			return fmt.Errorf("there are %d keys for %d postings", keys, postings)
		}
		return nil
	}
	if s.Permuted = tables[1:]; len(s.Permuted) != f.Tables.Tables() {
		return fmt.Errorf("there are %d tables instead of %d", len(s.Permuted), f.Tables.Tables())
	}
	if keys := s.Fingerprints((f.Header.Bits+63)/64) + s.Keys.Len(); keys != s.Sets {
		return fmt.Errorf("there are %d keys for %d fingerprints", keys, s.Sets)
	}
	return nil
}

func (p Placement) in(file []byte) ([]byte, error) {
	if p.Offset < 0 || p.Length < 0 || p.Offset > int64(len(file)) || p.Length > int64(len(file))-p.Offset {
		return nil, errors.New("it is outside the file")
	}
	return file[p.Offset : p.Offset+p.Length : p.Offset+p.Length], nil
}

func (s *Segment) checkSets() error {
	count := uint64(len(s.columns[elements]) / sketchblock.HashSize)
	before := 0
	for set := range s.Sets {
		start, size := binary.LittleEndian.Uint64(s.columns[starts][8*set:]), s.Size(set)
		if start > count || uint64(size) > count-start || size < before {
			return fmt.Errorf("set %d is not where it should be", set)
		}
		before = size
	}
	for i := range s.postings() {
		if s.Posting(i) >= s.Sets {
			return fmt.Errorf("posting %d belongs to a set that does not exist", i)
		}
	}
	return nil
}

func (s *Segment) checkDocuments() error {
	for set := range s.Sets {
		if first, end := s.DocumentsOf(set); first >= end || end > s.Documents {
			return fmt.Errorf("set %d has the documents %d to %d of %d", set, first, end, s.Documents)
		}
	}
	end := uint32(0)
	for document := range s.Documents {
		next := s.number(idEnds, document)
		if next < end || int(next) > len(s.columns[ids]) {
			return fmt.Errorf("the id of document %d is not where it should be", document)
		}
		end = next
	}
	return nil
}

func (s *Segment) number(column, i int) uint32 {
	return binary.LittleEndian.Uint32(s.columns[column][4*i:])
}

// Size returns the number of elements of a set.
func (s *Segment) Size(set int) int { return int(s.number(sizes, set)) }

// Digest returns the digest of a set or of a document without elements.
func (s *Segment) Digest(set int) digest.Digest {
	return digest.Get(s.columns[digests][digest.Size*set:])
}

// AppendSet appends the elements of a set. They ascend unless the file was damaged.
func (s *Segment) AppendSet(elementsOf []uint64, set int) []uint64 {
	start := binary.LittleEndian.Uint64(s.columns[starts][8*set:]) * sketchblock.HashSize
	length := uint64(s.Size(set)) * sketchblock.HashSize
	return sketchblock.AppendSet(elementsOf, s.columns[elements][start:start+length])
}

// SetsOfSize returns the range of sets that have from least to most elements. It includes first and excludes end.
func (s *Segment) SetsOfSize(least, most int) (first, end int) {
	first = sort.Search(s.Sets, func(set int) bool { return s.Size(set) >= least })
	return first, first + sort.Search(s.Sets-first, func(i int) bool { return s.Size(first+i) > most })
}

// DocumentsOf returns the range of documents that have a set, in document order. It includes first and excludes end.
func (s *Segment) DocumentsOf(set int) (first, end int) {
	if set > 0 {
		first = int(s.number(groups, set-1))
	}
	return first, int(s.number(groups, set))
}

// Ref returns the ref of a document.
func (s *Segment) Ref(document int) docref.Ref {
	return docref.Ref(binary.LittleEndian.Uint64(s.columns[refs][8*document:]))
}

// ID returns the id of a document. It is empty if the document has none.
func (s *Segment) ID(document int) []byte {
	start := uint32(0)
	if document > 0 {
		start = s.number(idEnds, document-1)
	}
	return s.columns[ids][start:s.number(idEnds, document)]
}

func (s *Segment) postings() int { return len(s.columns[postings]) / 4 }

// Posting returns the set that belongs to a position in the table of keys. The sets of one key ascend.
func (s *Segment) Posting(position int) int { return int(s.number(postings, position)) }

const numberBits = 20

// numberedKey returns the key of a fingerprint by its number: first as much of its prefix as has room, then the number.
func numberedKey(prefix uint64, prefixBits, number int) uint64 {
	prefix, prefixBits = KeyPrefix(prefix, prefixBits)
	return prefix<<(64-prefixBits) | uint64(number)
}

// KeyPrefix returns what numbered keys have of a prefix, and its length. The prefix has prefixBits bits, or is a hash
// of 64 if these are more.
func KeyPrefix(prefix uint64, prefixBits int) (shortened uint64, bits int) {
	prefixBits = min(prefixBits, 64)
	bits = min(prefixBits, 64-numberBits)
	return prefix >> (prefixBits - bits), bits
}

// NumberOf returns the number in a numbered key.
func NumberOf(key uint64) int { return int(key & (1<<numberBits - 1)) }

// Fingerprints returns how many fingerprints of the given number of words there are.
func (s *Segment) Fingerprints(words int) int { return len(s.columns[elements]) / (8 * words) }

// AppendFingerprint appends the fingerprint of a number. It has the given number of words.
func (s *Segment) AppendFingerprint(fingerprints []uint64, number, words int) []uint64 {
	for word := range words {
		fingerprints = append(fingerprints, binary.LittleEndian.Uint64(s.columns[elements][8*(number*words+word):]))
	}
	return fingerprints
}
