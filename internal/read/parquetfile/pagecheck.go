package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// errRuns says that runs have more values than their page, or end in their middle.
var errRuns = errors.New("its runs of equal values are damaged")

// runFill is how many numbers a page may have in its runs beyond its values. The last run may be filled up to a
// multiple of eight, and DuckDB fills it up to 256.
const runFill = 1 << 10

// checkHeader checks the numbers in a header, and returns how many bytes of levels stand before the part of the page
// that is compressed.
func (p *pages) checkHeader(header *format.PageHeader) (levels int64, err error) {
	values := int32(0)
	switch {
	case header.Type == format.DataPage && header.DataPageHeader.Valid:
		v1 := &header.DataPageHeader.V
		values = v1.NumValues
		if p.column.MaxRepetitionLevel() > 0 && v1.RepetitionLevelEncoding != format.RLE ||
			p.column.MaxDefinitionLevel() > 0 && v1.DefinitionLevelEncoding != format.RLE {
			return 0, errors.New("its levels are in an encoding that no writer has used since 2013")
		}
	case header.Type == format.DataPageV2 && header.DataPageHeaderV2.Valid:
		v2 := &header.DataPageHeaderV2.V
		values = v2.NumValues
		levels = int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if min(v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength) < 0 || levels > int64(header.CompressedPageSize) {
			return 0, fmt.Errorf("its levels cannot have %d bytes: it has %d", levels, header.CompressedPageSize)
		}
		if v2.NumNulls < 0 || v2.NumNulls > values || v2.NumRows < 0 || v2.NumRows > values {
			return 0, fmt.Errorf("there cannot be %d rows and %d nulls in %d values", v2.NumRows, v2.NumNulls, values)
		}
	case header.Type == format.DictionaryPage && header.DictionaryPageHeader.Valid:
		values = header.DictionaryPageHeader.V.NumValues
	default:
		return 0, fmt.Errorf("pages of type %v cannot be read", header.Type)
	}
	if values < 0 || values > maxPageValues {
		return 0, fmt.Errorf("it has %d values, and %d are the limit", values, maxPageValues)
	}
	return levels, nil
}

// checkContent checks that runs in a page have no more values than the page. The library makes room for whatever they
// say: two gigabytes for five bytes.
func (p *pages) checkContent(header *format.PageHeader, content []byte) (err error) {
	repetition, definition := bits.Len(uint(p.column.MaxRepetitionLevel())), bits.Len(uint(p.column.MaxDefinitionLevel()))
	switch header.Type {
	case format.DataPage:
		v1 := &header.DataPageHeader.V
		for _, width := range []int{repetition, definition} {
			if width == 0 {
				continue
			}
			var levels []byte
			if levels, content, err = takePrefixed(content); err == nil {
				err = checkRuns(levels, width, v1.NumValues)
			}
			if err != nil {
				return err
			}
		}
		return checkValues(content, v1.Encoding, v1.NumValues)
	case format.DataPageV2:
		v2 := &header.DataPageHeaderV2.V
		first, second := int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)
		if err := checkRuns(content[:first], repetition, v2.NumValues); err != nil {
			return err
		}
		if err := checkRuns(content[first:][:second], definition, v2.NumValues); err != nil {
			return err
		}
		return checkValues(content[first+second:], v2.Encoding, v2.NumValues)
	}
	return nil
}

// takePrefixed takes bytes with their length, of four bytes, before them.
func takePrefixed(b []byte) (taken, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errRuns
	}
	length := int(binary.LittleEndian.Uint32(b))
	return b[4:][:length], b[4+length:], nil
}

// checkValues checks values of an encoding that says how many there are.
func checkValues(content []byte, encoding format.Encoding, values int32) error {
	switch encoding {
	//lint:ignore SA1019 deprecated for writers, and found in files
	case format.PlainDictionary, format.RLEDictionary:
		if len(content) == 0 {
			return nil // there are only nulls
		}
		return checkRuns(content[1:], int(content[0]), values)
	case format.RLE:
		runs, _, err := takePrefixed(content)
		if err != nil {
			return err
		}
		return checkRuns(runs, 1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray:
		return checkDelta(content, values)
	}
	return nil
}

// checkRuns checks runs of numbers of the given number of bits.
func checkRuns(b []byte, width int, values int32) error {
	left := uint64(values) + runFill
	for len(b) > 0 {
		header, length := binary.Uvarint(b)
		if length <= 0 {
			return errRuns
		}
		b = b[length:]
		count, size := header>>1, uint64(width+7)/8
		if header&1 == 1 { // eight times as many numbers, one after the other
			if count > left {
				return errRuns
			}
			count, size = 8*count, count*uint64(width)
		}
		if count > left {
			return errRuns
		}
		left -= count
		b = b[min(size, uint64(len(b))):]
	}
	return nil
}

// checkDelta checks the number of values, which stands behind two others.
func checkDelta(b []byte, values int32) error {
	var count uint64
	for range 3 {
		number, length := binary.Uvarint(b)
		if length <= 0 {
			return errRuns
		}
		count, b = number, b[length:]
	}
	if count > uint64(values) {
		return fmt.Errorf("it has %d values, and not %d", values, count)
	}
	return nil
}
