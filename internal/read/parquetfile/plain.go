package parquetfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// plainValues reads texts that stand in a page one behind the other, each behind its length. They are parts of the page. The
// library would first copy the page twice. DuckDB makes one page of a row group, of 60 MB and more.
type plainValues struct {
	column int    // its index
	rest   []byte // of the page
	left   int    // values that are still to come, nulls among them

	levels  levels
	defined uint64 // level of a value that is no null
}

// ReadValues reads values, as the library's reader does.
func (v *plainValues) ReadValues(values []parquet.Value) (n int, err error) {
	for n < len(values) && v.left > 0 {
		v.left--
		level := uint64(0)
		if v.defined > 0 {
			if level, err = v.levels.next(); err != nil {
				return n, err
			}
		}
		if level < v.defined {
			values[n] = parquet.NullValue().Level(0, int(level), v.column)
		} else {
			length := binary.LittleEndian.Uint32(v.rest)
			values[n] = parquet.ByteArrayValue(v.rest[4:][:length:length]).Level(0, int(level), v.column)
			v.rest = v.rest[4+length:]
		}
		n++
	}
	if v.left == 0 {
		err = io.EOF
	}
	return n, err
}

// holds reports whether the page has as many values as it says, and nothing else. What does not is left to the library.
func (v plainValues) holds() bool {
	there := v.left
	if v.defined > 0 {
		there = 0
		for range v.left {
			level, err := v.levels.next()
			switch {
			case err != nil || level > v.defined:
				return false
			case level == v.defined:
				there++
			}
		}
	}
	for range there {
		if len(v.rest) < 4 || uint64(binary.LittleEndian.Uint32(v.rest)) > uint64(len(v.rest)-4) {
			return false
		}
		v.rest = v.rest[4+binary.LittleEndian.Uint32(v.rest):]
	}
	return len(v.rest) == 0
}

// isPlain reports whether a page may hold plain texts: of a column without lists.
func (p *pages) isPlain(header *format.PageHeader) bool {
	if p.column.Type().Kind() != parquet.ByteArray || p.column.MaxRepetitionLevel() > 0 {
		return false
	}
	switch header.Type {
	case format.DataPage:
		return header.DataPageHeader.Valid && header.DataPageHeader.V.Encoding == format.Plain
	case format.DataPageV2:
		return header.DataPageHeaderV2.Valid && header.DataPageHeaderV2.V.Encoding == format.Plain
	}
	return false
}

// readPlain reads the next page if it holds plain texts; else it returns nil, and the library is to read it.
func (p *pages) readPlain() (*plainValues, error) {
	if len(p.ready) > 0 || len(p.body) > 0 || p.fault != nil || p.next >= p.chunk.end {
		return nil, nil
	}
	header, length, err := p.header()
	if err != nil || !p.isPlain(header) {
		return nil, nil // the library's reader meets the fault again
	}
	content, err := p.page(header, p.next+int64(length), 1)
	if err != nil {
		if _, isLarge := errors.AsType[*PageError](err); isLarge {
			return nil, err
		}
		return nil, nil
	}
	values, is := p.plainOf(header, content)
	if !is {
		return nil, nil
	}
	p.next += int64(length) + int64(header.CompressedPageSize)
	p.number++
	return values, nil
}

// plainOf returns the values in the content of a page, which was checked.
func (p *pages) plainOf(header *format.PageHeader, content []byte) (*plainValues, bool) {
	v := &plainValues{column: p.column.Index(), defined: uint64(p.column.MaxDefinitionLevel())}
	v.levels.width = bits.Len64(v.defined)
	if header.Type == format.DataPageV2 {
		v2 := &header.DataPageHeaderV2.V
		first, second := int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)
		v.left, v.levels.b, v.rest = int(v2.NumValues), content[first:][:second], content[first+second:]
	} else {
		v.left, v.rest = int(header.DataPageHeader.V.NumValues), content
		if v.defined > 0 {
			var err error
			if v.levels.b, v.rest, err = takePrefixed(content); err != nil {
				return nil, false
			}
		}
	}
	return v, v.holds()
}

// levels reads numbers that are stored in runs: of equal numbers, or of packed ones.
type levels struct {
	b     []byte
	width int // bits of a number

	count  uint64 // numbers of the run that are still to come
	packed []byte // where they are, if they are packed
	bit    int    // of the next one in packed
	value  uint64 // the number, if they are equal
}

func (l *levels) next() (uint64, error) {
	for l.count == 0 {
		header, length := binary.Uvarint(l.b)
		if length <= 0 {
			return 0, errRuns
		}
		l.b, l.packed, l.bit = l.b[length:], nil, 0
		size := uint64(l.width+7) / 8
		if l.count = header >> 1; header&1 == 1 {
			size = l.count * uint64(l.width)
			l.count *= 8
		}
		if size > uint64(len(l.b)) {
			return 0, errRuns
		}
		if header&1 == 1 {
			l.packed = l.b[:size]
		} else {
			l.value = 0
			for i, b := range l.b[:size] {
				l.value |= uint64(b) << (8 * i)
			}
		}
		l.b = l.b[size:]
	}
	l.count--
	if l.packed == nil {
		return l.value, nil
	}
	value := uint64(0)
	for i := range l.width {
		at := l.bit + i
		value |= uint64(l.packed[at/8]>>(at%8)&1) << i
	}
	l.bit += l.width
	return value, nil
}
