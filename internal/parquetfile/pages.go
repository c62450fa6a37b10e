package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pages reads the pages of a column of a row group. It checks the header of each page before the library decodes it.
type pages struct {
	chunk *chunk
	inner *parquet.FilePages
	codec format.CompressionCodec
	next  int64 // where the next header begins
}

// openPages begins with the first page of a column.
func openPages(f *File, group, number int) (*pages, error) {
	column := f.inner.RowGroups()[group].ColumnChunks()[number].(*parquet.FileColumnChunk)
	metadata := &f.inner.Metadata().RowGroups[group].Columns[number].MetaData
	begin := metadata.DataPageOffset
	if metadata.DictionaryPageOffset != 0 {
		begin = metadata.DictionaryPageOffset
	}
	length := metadata.TotalCompressedSize
	if begin < 0 || length < 0 || begin > f.size || length > f.size-begin {
		return nil, fmt.Errorf("%d bytes at %d are not all in the file, which has %d", length, begin, f.size)
	}
	c := &chunk{file: f.reader, begin: begin, end: begin + length}
	return &pages{chunk: c, inner: column.PagesFrom(c), codec: metadata.Codec, next: begin}, nil
}

// read returns the next page with values, which the caller releases. The error is io.EOF at the end.
func (p *pages) read() (page parquet.Page, err error) {
	for {
		kind, err := p.pass()
		if err != nil {
			return nil, err
		}
		if kind != format.DictionaryPage {
			break
		}
	}
	defer recovered(&err)
	page, err = p.inner.ReadPage()
	if errors.Is(err, io.EOF) {
		// The headers have told that there is a page.
		err = fmt.Errorf("the page ends too early: %w", io.ErrUnexpectedEOF)
	}
	return page, err
}

// pass checks the next header, and goes on behind its page. It returns the kind of the page.
func (p *pages) pass() (format.PageType, error) {
	if p.next >= p.chunk.end {
		return 0, io.EOF
	}
	header, length, err := p.header()
	if err != nil {
		return 0, fmt.Errorf("header of the page at byte %d: %w", p.next, err)
	}
	body := p.next + int64(length)
	if err := p.check(header, body); err != nil {
		return 0, fmt.Errorf("header of the page at byte %d: %w", p.next, err)
	}
	p.next = body + int64(header.CompressedPageSize)
	return header.Type, nil
}

// header decodes the next header, and returns its length.
func (p *pages) header() (*format.PageHeader, int, error) {
	for size := 256; ; size *= 8 {
		seen, err := p.chunk.peek(p.next, size)
		if err != nil {
			return nil, 0, err
		}
		length, err := structLength(seen, len(seen))
		if errors.Is(err, errShort) && size <= maxPageHeader && int64(len(seen)) < p.chunk.end-p.next {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		header := new(format.PageHeader)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), seen[:length], header); err != nil {
			return nil, 0, err
		}
		return header, length, nil
	}
}

// check checks what a header claims of its page, whose body is at an offset of the file.
func (p *pages) check(header *format.PageHeader, body int64) error {
	stored, size := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	switch {
	case stored < 0 || stored > p.chunk.end-body:
		return fmt.Errorf("the page cannot have %d bytes: its column has %d more", stored, p.chunk.end-body)
	case size < 0 || max(stored, size) > maxPage:
		return fmt.Errorf("the page has %d bytes, and %d are the limit", max(stored, size), maxPage)
	}
	values, levels := int32(0), int64(0)
	switch {
	case header.Type == format.DataPage && header.DataPageHeader.Valid:
		values = header.DataPageHeader.V.NumValues
	case header.Type == format.DataPageV2 && header.DataPageHeaderV2.Valid:
		v2 := &header.DataPageHeaderV2.V
		values = v2.NumValues
		levels = int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if min(v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength) < 0 || levels > stored {
			return fmt.Errorf("its levels cannot have %d bytes: the page has %d", levels, stored)
		}
		if v2.NumNulls < 0 || v2.NumNulls > values || v2.NumRows < 0 || v2.NumRows > values {
			return fmt.Errorf("there cannot be %d rows and %d nulls in %d values", v2.NumRows, v2.NumNulls, values)
		}
	case header.Type == format.DictionaryPage && header.DictionaryPageHeader.Valid:
		values = header.DictionaryPageHeader.V.NumValues
	default:
		return fmt.Errorf("pages of type %v cannot be read", header.Type)
	}
	if values < 0 || values > maxPageValues {
		return fmt.Errorf("the page has %d values, and %d are the limit", values, maxPageValues)
	}
	return p.checkBody(body+levels, stored-levels)
}

// checkBody checks how long the compressed part of a page says it will be. The decompressors allocate that at once.
func (p *pages) checkBody(offset, length int64) error {
	claim := uint64(0)
	switch p.codec {
	case format.Snappy:
		head, err := p.chunk.peek(offset, int(min(length, binary.MaxVarintLen64)))
		if err != nil {
			return err
		}
		claim, _ = binary.Uvarint(head)
	case format.Zstd:
		head, err := p.chunk.peek(offset, int(min(length, zstd.HeaderMaxSize)))
		if err != nil {
			return err
		}
		var frame zstd.Header
		if frame.Decode(head) == nil && frame.HasFCS {
			claim = frame.FrameContentSize
		}
	}
	if claim > maxPage {
		return fmt.Errorf("the page decompresses to %d bytes, and %d are the limit", claim, maxPage)
	}
	return nil
}

func (p *pages) close() { p.inner.Close() }
