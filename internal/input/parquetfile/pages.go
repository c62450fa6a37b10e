package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// pages reads the pages of a column of a row group, for the library, which decodes them: it is a [file.PageReader]. It
// checks and decompresses each page, so the bounds of this package hold whatever the file claims.
type pages struct {
	file.PageReader // nil: what is not here is not called

	file   *File
	chunk  *chunk
	column *schema.Column
	codec  compress.Compression
	next   int64 // where the next header begins in the file
	number int   // of the next page

	page  file.Page
	fault error // nil at the end
	large int   // bytes of the page, if its values are made in room of their own

	plain []byte // memory for a body that was decompressed

	path                string // of the column
	charged, dictionary int64  // memory of the page and of the dictionary, see charge
	release             func() // gives the right to hold a large page back; nil without it
}

// leftover is what the readers of columns leave to the next ones of their file.
type leftover struct{ window, plain []byte }

// keepMemory is the most that is left, in bytes. Few pages are larger.
const keepMemory = 4 * readAhead

func openPages(f *File, group, number int) (*pages, error) {
	metadata := f.metadata.RowGroups[group].Columns[number].MetaData
	begin, length := metadata.DataPageOffset, metadata.TotalCompressedSize
	if dictionary := metadata.DictionaryPageOffset; dictionary != nil && *dictionary != 0 {
		begin = *dictionary
	}
	if begin < 0 || length < 0 || begin > f.size || length > f.size-begin {
		return nil, fmt.Errorf("%d bytes at %d are not all in the file, which has %d", length, begin, f.size)
	}
	left, found := f.memory.Get().(*leftover)
	if !found {
		left = new(leftover)
	}
	return &pages{
		file:   f,
		plain:  left.plain,
		chunk:  &chunk{file: f.reader, end: begin + length, window: left.window[:0]},
		column: f.leaves[number].column,
		path:   f.leaves[number].Path,
		codec:  compress.Compression(metadata.Codec),
		next:   begin,
	}, nil
}

func (p *pages) Next() bool {
	p.page, p.large = nil, 0
	if p.fault == nil && p.next < p.chunk.end {
		if p.page, p.fault = p.read(); p.fault != nil {
			p.fault = fmt.Errorf("page %d at byte %d: %w", p.number, p.next, p.fault)
		}
		p.number++
	}
	return p.page != nil
}

func (p *pages) Page() file.Page { return p.page }

func (p *pages) Err() error { return p.fault }

// GetDictionaryPage returns no page: a dictionary comes before the pages that use it.
func (p *pages) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

func (p *pages) read() (file.Page, error) {
	header, length, err := p.header()
	if err != nil {
		return nil, err
	}
	content, err := p.content(header, p.next+int64(length))
	if err != nil {
		return nil, err
	}
	p.next += int64(length) + header.stored
	if header.kind == file.PageTypeDictionaryPage {
		return p.readDictionary(header, content)
	}
	repetition, definition := p.column.MaxRepetitionLevel(), p.column.MaxDefinitionLevel()
	levels, err := header.levelBytes(content, repetition, definition)
	if err != nil {
		return nil, err
	}
	switch header.encoding {
	case parquet.Encodings.DeltaByteArray:
		p.large = len(content)
		fallthrough
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray:
		if len(content) > levels {
			err = checkDelta(content[levels:])
		}
	}
	if err == nil {
		content, err = p.plainDifferences(header, content, levels)
	}
	return pageOf(header, content), err
}

// plainDifferences returns the content of a page whose values are stored as differences that the library cannot read,
// as if they were stored one behind the other: binary values of a fixed length, and differences beyond 32 bits, which
// DuckDB makes of numbers of 32 bits.
func (p *pages) plainDifferences(header *pageHeader, content []byte, levels int) ([]byte, error) {
	switch kind := p.column.PhysicalType(); {
	case kind == parquet.Types.FixedLenByteArray && header.encoding == parquet.Encodings.DeltaByteArray:
		return plainAs(p, header, content, levels, parquet.Types.ByteArray,
			func(plain []byte, v parquet.ByteArray) ([]byte, error) {
				if len(v) != p.column.TypeLength() {
					return nil, fmt.Errorf("a value has %d bytes, and not %d", len(v), p.column.TypeLength())
				}
				return append(plain, v...), nil
			})
	case kind == parquet.Types.Int32 && header.encoding == parquet.Encodings.DeltaBinaryPacked:
		return plainAs(p, header, content, levels, parquet.Types.Int64, func(plain []byte, v int64) ([]byte, error) {
			return binary.LittleEndian.AppendUint32(plain, uint32(v)), nil
		})
	}
	return content, nil
}

// readDictionary returns a dictionary, whose memory is its own.
func (p *pages) readDictionary(header *pageHeader, content []byte) (file.Page, error) {
	least := map[parquet.Type]int{
		parquet.Types.Int32:             4,
		parquet.Types.Float:             4,
		parquet.Types.Int64:             8,
		parquet.Types.Double:            8,
		parquet.Types.Int96:             12,
		parquet.Types.ByteArray:         4,
		parquet.Types.FixedLenByteArray: max(1, p.column.TypeLength()),
	}[p.column.PhysicalType()]
	if least == 0 || int(header.values) > len(content)/least {
		return nil, fmt.Errorf("its dictionary cannot have %d values", header.values)
	}
	return file.NewDictionaryPage(memory.NewBufferBytes(slices.Clone(content)), header.values, header.encoding), nil
}

func pageOf(h *pageHeader, content []byte) file.Page {
	buffer := memory.NewBufferBytes(content)
	if h.kind == file.PageTypeDataPage {
		return file.NewDataPageV1(buffer, h.values, h.encoding, h.definition, h.repetition, int32(len(content)))
	}
	return file.NewDataPageV2(buffer, h.values, h.nulls, h.rows, h.encoding, h.definitions, h.repetitions,
		int32(len(content)), false)
}

// plainAs returns a page's values of another type, one behind the other.
func plainAs[T parquet.ColumnTypes](
	p *pages, h *pageHeader, content []byte, levels int, as parquet.Type, put func([]byte, T) ([]byte, error),
) (plain []byte, err error) {
	defer recovered(&err)
	node, err := schema.NewPrimitiveNode(p.column.Name(), parquet.Repetitions.Required, as, -1, -1)
	if err != nil {
		return nil, err
	}
	column := schema.NewColumn(node, p.column.MaxDefinitionLevel(), p.column.MaxRepetitionLevel())
	values := newReader(column, &onePage{page: pageOf(h, content)}).(batchReader[T])
	plain = slices.Clone(content[:levels])
	var room [1]T
	var definition, repetition [1]int16
	for range h.values {
		n, read, err := values.ReadBatchInPage(1, room[:], definition[:], repetition[:])
		if err != nil || n == 0 {
			return nil, errors.Join(err, errRuns)
		}
		if read > 0 {
			if plain, err = put(plain, room[0]); err != nil {
				return nil, err
			}
		}
	}
	h.encoding = parquet.Encodings.Plain
	return plain, nil
}

type onePage struct {
	file.PageReader
	page   file.Page
	isRead bool
}

func (p *onePage) Next() bool {
	isFirst := !p.isRead
	p.isRead = true
	return isFirst
}

func (p *onePage) Page() file.Page { return p.page }

func (p *onePage) Err() error { return nil }

func (p *onePage) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

func (p *pages) header() (*pageHeader, int, error) {
	for size := 256; ; size *= 8 {
		seen, err := p.chunk.peek(p.next, size)
		if err != nil {
			return nil, 0, err
		}
		header, length, err := parseHeader(seen)
		if errors.Is(err, errShort) && size <= maxPageHeader && int64(len(seen)) < p.chunk.end-p.next {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("its header: %w", err)
		}
		return header, length, nil
	}
}

// content reads the page at an offset of the file, and returns its content. It is valid until the next page.
func (p *pages) content(header *pageHeader, offset int64) ([]byte, error) {
	stored, size := header.stored, header.size
	switch {
	case stored < 0 || stored > p.chunk.end-offset:
		return nil, fmt.Errorf("it cannot have %d bytes: its column has %d more", stored, p.chunk.end-offset)
	case size < 0 || max(stored, size) > maxPage:
		return nil, fmt.Errorf("it has %d bytes, and %d are the limit", max(stored, size), maxPage)
	}
	err := header.check(p.column.MaxRepetitionLevel(), p.column.MaxDefinitionLevel())
	if err == nil {
		err = p.charge(header)
	}
	if err != nil {
		return nil, err
	}
	content, err := p.chunk.peek(offset, int(stored))
	if err != nil {
		return nil, err
	}
	content = content[:stored]
	if header.hasSum && crc32.ChecksumIEEE(content) != header.sum {
		return nil, errors.New("it does not have its checksum")
	}
	if p.codec == compress.Codecs.Uncompressed || header.isUncompressed {
		return content, nil
	}
	levels := header.levels()
	p.plain = append(slices.Grow(p.plain[:0], int(size)), content[:levels]...)
	if content, err = decompress(p.codec, p.plain[:levels:size], content[levels:]); err != nil {
		return nil, fmt.Errorf("decompress it: %w", err)
	}
	p.chunk.drop()
	return content, nil
}

// Close gives memory back. The bytes that were read are no longer valid.
func (p *pages) Close() error {
	if cap(p.chunk.window) <= keepMemory && cap(p.plain) <= keepMemory {
		p.file.memory.Put(&leftover{p.chunk.window, p.plain})
	}
	p.settle()
	return nil
}

// chunk is the part of a file that holds a column of a row group. It reads ahead, so that many small reads become few
// large ones. It belongs to one goroutine.
type chunk struct {
	file io.ReaderAt
	end  int64

	window []byte
	at     int64 // of window in the file

	// fault is the error of the storage, if a read has failed, or of a wait that was ended. Nothing that follows says
	// anything about the content.
	fault error
}

// peek returns the bytes at an offset, valid until the next call: at least length, fewer only at the chunk's end.
func (c *chunk) peek(offset int64, length int) ([]byte, error) {
	length = int(min(int64(length), c.end-offset))
	var seen []byte
	if offset >= c.at && offset < c.at+int64(len(c.window)) {
		seen = c.window[offset-c.at:]
	}
	if len(seen) >= length {
		return seen, nil
	}
	size := int(min(int64(max(length, readAhead)), c.end-offset))
	had := copy(c.window, seen)
	c.window = slices.Grow(c.window[:had], size-had)[:size]
	c.at = offset
	n, err := c.read(c.window[had:], offset+int64(had))
	c.window = c.window[:had+n]
	return c.window, err
}

func (c *chunk) drop() {
	if cap(c.window) > keepMemory {
		c.window = nil
	}
}

func (c *chunk) read(p []byte, offset int64) (int, error) {
	n, err := c.file.ReadAt(p, offset)
	switch {
	case n == len(p):
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("the file ends at byte %d: %w", offset+int64(n), io.ErrUnexpectedEOF)
	}
	if c.fault == nil {
		c.fault = err
	}
	return n, err
}

var errLong = errors.New("it is longer than its header says")

// isKnown reports whether pages of a codec can be read. LZ4 without RAW is a frame of Hadoop's, of several kinds.
func isKnown(codec compress.Compression) bool {
	codecs := compress.Codecs
	return slices.Contains([]compress.Compression{
		codecs.Uncompressed, codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4Raw,
	}, codec)
}

func decompress(codec compress.Compression, dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst, nil // a page of nulls
	}
	room := dst[len(dst):cap(dst)]
	switch codec {
	case compress.Codecs.Snappy:
		length, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if length > len(room) {
			return nil, errLong
		}
		content, err := snappy.Decode(room, src)
		return dst[:len(dst)+len(content)], err
	case compress.Codecs.Zstd:
		decoder, err := zstds()
		if err != nil {
			return nil, err
		}
		return decoder.DecodeAll(src, dst)
	case compress.Codecs.Lz4Raw:
		n, err := lz4.UncompressBlock(src, room)
		return dst[:len(dst)+max(0, n)], err
	case compress.Codecs.Gzip:
		decoder, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		return readInto(dst, decoder)
	case compress.Codecs.Brotli:
		return readInto(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	return nil, fmt.Errorf("codec %v cannot be read", codec)
}

func readInto(dst []byte, reader io.Reader) ([]byte, error) {
	n, err := io.ReadFull(reader, dst[len(dst):cap(dst)])
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return dst[:len(dst)+n], nil
	case nil:
	default:
		return nil, err
	}
	var more [1]byte
	if n, err := io.ReadFull(reader, more[:]); n > 0 {
		return nil, errLong
	} else if err != io.EOF {
		return nil, err
	}
	return dst[:cap(dst)], nil
}

// zstds decodes pages of all files. It stops where the room ends.
var zstds = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

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
