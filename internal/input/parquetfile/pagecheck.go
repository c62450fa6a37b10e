package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

type pageHeader struct {
	kind           file.PageType
	size, stored   int64 // bytes, decompressed and as they are in the file
	hasSum         bool
	sum            uint32
	values         int32
	encoding       parquet.Encoding
	nulls, rows    int32            // of version 2
	definition     parquet.Encoding // of the levels, in version 1
	repetition     parquet.Encoding
	definitions    int32 // bytes of levels, in version 2
	repetitions    int32
	isUncompressed bool // though its column is compressed, in version 2
	parts          int  // which of the structures for a kind of page it has: a bit for each
}

// The numbers of the structures in a header that are for one kind of page.
const (
	partV1         = 5
	partDictionary = 7
	partV2         = 8
)

func parseHeader(b []byte) (*pageHeader, int, error) {
	h := &pageHeader{kind: -1}
	length, err := walk(b, len(b), func(path []int, _, _ int, value int64) {
		if len(path) <= 2 {
			h.set([2]int(append(path, 0)[:2]), value)
		}
	})
	return h, length, err
}

// set sets a field of the header or, if field[1] is not 0, of a structure in it.
func (h *pageHeader) set(field [2]int, value int64) {
	n := int32(value)
	switch field {
	case [2]int{1}:
		h.kind = file.PageType(value)
	case [2]int{2}:
		h.size = value
	case [2]int{3}:
		h.stored = value
	case [2]int{4}:
		h.hasSum, h.sum = true, uint32(value)
	case [2]int{partV1}, [2]int{partDictionary}, [2]int{partV2}:
		h.parts |= 1 << field[0]
	case [2]int{partV1, 1}, [2]int{partDictionary, 1}, [2]int{partV2, 1}:
		h.values = n
	case [2]int{partV1, 2}, [2]int{partDictionary, 2}, [2]int{partV2, 4}:
		h.encoding = parquet.Encoding(n)
	case [2]int{partV1, 3}:
		h.definition = parquet.Encoding(n)
	case [2]int{partV1, 4}:
		h.repetition = parquet.Encoding(n)
	case [2]int{partV2, 2}:
		h.nulls = n
	case [2]int{partV2, 3}:
		h.rows = n
	case [2]int{partV2, 5}:
		h.definitions = n
	case [2]int{partV2, 6}:
		h.repetitions = n
	case [2]int{partV2, 7}:
		h.isUncompressed = n == 0
	}
}

func (h *pageHeader) has(part int) bool { return h.parts>>part&1 == 1 }

// levels returns how many bytes of levels are before the part of the page that is compressed.
func (h *pageHeader) levels() int64 {
	if h.kind != file.PageTypeDataPageV2 {
		return 0
	}
	return int64(h.repetitions) + int64(h.definitions)
}

func (h *pageHeader) check(repetition, definition int16) error {
	switch {
	case h.kind == file.PageTypeDataPage && h.has(partV1):
		if repetition > 0 && h.repetition != parquet.Encodings.RLE ||
			definition > 0 && h.definition != parquet.Encodings.RLE {
			return errors.New("its levels are in an encoding that no writer has used since 2013")
		}
	case h.kind == file.PageTypeDataPageV2 && h.has(partV2):
		if min(h.repetitions, h.definitions) < 0 || h.levels() > min(h.stored, h.size) {
			return fmt.Errorf("its levels cannot have %d bytes: it has %d", h.levels(), min(h.stored, h.size))
		}
		if h.nulls < 0 || h.nulls > h.values || h.rows < 0 || h.rows > h.values {
			return fmt.Errorf("there cannot be %d rows and %d nulls in %d values", h.rows, h.nulls, h.values)
		}
	case h.kind == file.PageTypeDictionaryPage && h.has(partDictionary):
	default:
		return fmt.Errorf("pages of type %v cannot be read", h.kind)
	}
	if h.values < 0 || h.values > maxPageValues {
		return fmt.Errorf("it has %d values, and %d are the limit", h.values, maxPageValues)
	}
	return nil
}

var errRuns = errors.New("its levels or lengths are damaged")

// takePrefixed takes bytes with their length, of four bytes, before them.
func takePrefixed(b []byte) (taken, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errRuns
	}
	length := int(binary.LittleEndian.Uint32(b))
	return b[4:][:length], b[4+length:], nil
}

// levelBytes returns how many bytes of a page its levels take.
func (h *pageHeader) levelBytes(content []byte, repetition, definition int16) (int, error) {
	if h.kind == file.PageTypeDataPageV2 {
		return int(h.levels()), nil
	}
	rest := content
	for _, level := range []int16{repetition, definition} {
		var err error
		if level > 0 {
			if _, rest, err = takePrefixed(rest); err != nil {
				return 0, err
			}
		}
	}
	return len(content) - len(rest), nil
}

// checkDelta checks the lengths of the blocks of differences at the start of b, for which the library makes room.
func checkDelta(b []byte) error {
	block, length := binary.Uvarint(b)
	if length <= 0 || block > maxBlock {
		return errRuns
	}
	miniblocks, length := binary.Uvarint(b[length:])
	if length <= 0 || miniblocks > block {
		return errRuns
	}
	return nil
}
