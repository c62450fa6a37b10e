// Package index lays out the index of a corpus in which the near-duplicates of
// other documents are found: its documents, their full sets of shingles, and
// lists of the sets that have a key.
//
// The keys of a set are its first elements, in ascending order. If the similarity
// of two sets reaches a threshold t, each has at least a share of t of its
// elements in common with the other, so the first c of the common ones are among
// the first n - t*n + c of either of n elements: the prefix filter (Chaudhuri,
// Ganti and Kaushik, A primitive operator for similarity joins in data cleaning,
// 2006), for several common elements instead of one (Wang, Li and Feng, Can we
// beat the prefix filtering?, 2012), which few sets share that are not similar.
//
// A file holds segments, each an index of its own of some of the documents, and
// at its end a header in JSON that says where everything is:
//
//	segment  elements   6 a set's element, the sets in any order
//	         starts     8 a set: the number of its first element
//	         sizes      4 a set: how many elements it has, ascending
//	         digests    8 a set, or of a document without elements
//	         groups     4 a set: the number of the document behind its last one
//	         refs       8 a document, those of one set next to each other
//	         id ends    4 a document: where its id ends in ids; an empty id is none
//	         ids
//	         postings   4 a key: a set that has it
//	         keys       the sorted keys, as a compressed table
//	header
//	footer   8 length of the header, 4 its CRC-32C, magic
//
// All integers are little-endian. A document without elements has one key, of its
// digest.
package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sort"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/sketchblock"
)

// Common is how many of the elements that two similar sets have in common are
// keys of both, if they have as many.
const Common = 4

const (
	magic      = "mbindex1"
	footerSize = 12 + len(magic)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// KeyCount returns how many of the elements of a set of that size are its keys,
// where sets of a similarity of at least threshold are looked for.
func KeyCount(threshold float64, size int) int {
	// A little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(size) * (1 - 1e-9)))
	return min(size-least+Common, size)
}

// DigestKey returns the key of a document without elements. It is no element.
func DigestKey(digest uint64) uint64 { return digest | 1<<63 }

// Header describes the index in a file.
type Header struct {
	// Sketch and Unicode are the versions that the sets were made by.
	Sketch  int    `json:"sketch"`
	Unicode string `json:"unicode"`
	// Threshold is the least that can be searched for.
	Threshold float64 `json:"threshold"`
	// StopWords is the list of stop words as the user wrote it, empty for none.
	StopWords string `json:"stop_words,omitempty"`
	// References is how many files of the corpus, its first ones, are a reference.
	References int `json:"references,omitempty"`
	// Files are the names of the files that the documents are from, the first of
	// them having the number FirstFile.
	FirstFile int      `json:"first_file"`
	Files     []string `json:"files"`
	// Segments are set by the Builder.
	Segments []SegmentHeader `json:"segments"`
}

// SegmentHeader says where the columns of a segment are.
type SegmentHeader struct {
	Documents int                `json:"documents"`
	Sets      int                `json:"sets"`
	Keys      int                `json:"keys"`
	Columns   [columns]Placement `json:"columns"`
}

// Placement is where a column is in the file, and its CRC-32C; the elements have
// none, since their sets have digests.
type Placement struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Sum    uint32 `json:"sum,omitempty"`
}

// The columns of a segment.
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

// Segment is an index of some of the documents. Its sets are numbered by size. Any
// number of goroutines may read it.
type Segment struct {
	// Documents and Sets are how many there are.
	Documents, Sets int
	columns         [columns][]byte
}

// Open reads the index in the bytes of a file, which the segments go on using. It
// is an error if they are not what a Builder has written, but for the elements of
// sets: whoever uses a set must compare its digest.
func Open(file []byte) (Header, []*Segment, error) {
	header, err := openHeader(file)
	if err != nil {
		return Header{}, nil, err
	}
	var segments []*Segment
	for i, h := range header.Segments {
		s, err := openSegment(file, h)
		if err != nil {
			return Header{}, nil, fmt.Errorf("segment %d: %w", i, err)
		}
		segments = append(segments, s)
	}
	return header, segments, nil
}

func openHeader(file []byte) (header Header, err error) {
	if len(file) < footerSize || string(file[len(file)-len(magic):]) != magic {
		return header, errors.New("the file is no index, or one of another version")
	}
	footer := file[len(file)-footerSize:]
	rest := file[:len(file)-footerSize]
	length := binary.LittleEndian.Uint64(footer)
	if length > uint64(len(rest)) {
		return header, errors.New("the header is damaged")
	}
	encoded := rest[uint64(len(rest))-length:]
	if crc32.Checksum(encoded, castagnoli) != binary.LittleEndian.Uint32(footer[8:]) {
		return header, errors.New("the header is damaged")
	}
	if err := json.Unmarshal(encoded, &header); err != nil {
		return header, fmt.Errorf("the header is damaged: %w", err)
	}
	return header, nil
}

func openSegment(file []byte, h SegmentHeader) (*Segment, error) {
	s := &Segment{Documents: h.Documents, Sets: h.Sets}
	if min(h.Documents, h.Sets, h.Keys) < 0 || max(h.Documents, h.Sets, h.Keys) > math.MaxUint32 {
		return nil, errors.New("the counts are damaged")
	}
	length := [columns]int{
		starts: 8 * h.Sets, sizes: 4 * h.Sets, digests: 8 * h.Sets, groups: 4 * h.Sets,
		refs: 8 * h.Documents, idEnds: 4 * h.Documents, postings: 4 * h.Keys,
	}
	for i, place := range h.Columns {
		if place.Offset < 0 || place.Length < 0 || place.Offset > int64(len(file)) || place.Length > int64(len(file))-place.Offset {
			return nil, fmt.Errorf("column %d is not in the file", i)
		}
		column := file[place.Offset : place.Offset+place.Length : place.Offset+place.Length]
		switch i {
		case elements:
		case ids, keys:
			length[i] = len(column)
			fallthrough
		default:
			if len(column) != length[i] || crc32.Checksum(column, castagnoli) != place.Sum {
				return nil, fmt.Errorf("column %d is damaged", i)
			}
		}
		s.columns[i] = column
	}
	return s, s.check()
}

// check returns an error if reading the columns could go wrong.
func (s *Segment) check() error {
	count := uint64(len(s.columns[elements]) / sketchblock.HashSize)
	before := 0
	for set := range s.Sets {
		start, size := binary.LittleEndian.Uint64(s.columns[starts][8*set:]), s.Size(set)
		if start > count || uint64(size) > count-start || size < before {
			return fmt.Errorf("set %d is not where it should be", set)
		}
		before = size
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
	for i := range s.Postings() {
		if s.Posting(i) >= s.Sets {
			return fmt.Errorf("posting %d is of a set that is not there", i)
		}
	}
	return nil
}

// number returns an entry of a column of 32 bits.
func (s *Segment) number(column, i int) uint32 {
	return binary.LittleEndian.Uint32(s.columns[column][4*i:])
}

// Size returns the number of elements of a set.
func (s *Segment) Size(set int) int { return int(s.number(sizes, set)) }

// Digest returns the digest of a set, or that of a document without elements.
func (s *Segment) Digest(set int) uint64 {
	return binary.LittleEndian.Uint64(s.columns[digests][8*set:])
}

// AppendSet appends the elements of a set, in ascending order unless the file was
// damaged.
func (s *Segment) AppendSet(elementsOf []uint64, set int) []uint64 {
	start := binary.LittleEndian.Uint64(s.columns[starts][8*set:]) * sketchblock.HashSize
	length := uint64(s.Size(set)) * sketchblock.HashSize
	return sketchblock.AppendSet(elementsOf, s.columns[elements][start:start+length])
}

// SetsOfSize returns the sets of at least least and at most most elements, from
// first up to but not including end.
func (s *Segment) SetsOfSize(least, most int) (first, end int) {
	first = sort.Search(s.Sets, func(set int) bool { return s.Size(set) >= least })
	return first, first + sort.Search(s.Sets-first, func(i int) bool { return s.Size(first+i) > most })
}

// DocumentsOf returns the documents that have a set, in document order, from first
// up to but not including end.
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

// ID returns the id of a document, empty if it has none.
func (s *Segment) ID(document int) []byte {
	start := uint32(0)
	if document > 0 {
		start = s.number(idEnds, document-1)
	}
	return s.columns[ids][start:s.number(idEnds, document)]
}

// Keys returns the sorted keys, as the compressed table that the Builder was given
// a function to make.
func (s *Segment) Keys() []byte { return s.columns[keys] }

// Postings returns the number of keys.
func (s *Segment) Postings() int { return len(s.columns[postings]) / 4 }

// Posting returns the set that has the key at a position in the table; those of
// one key ascend.
func (s *Segment) Posting(position int) int { return int(s.number(postings, position)) }
