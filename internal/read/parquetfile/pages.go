package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// pages reads the pages of a column of a row group.
//
// The library decodes what is in a page, and nothing else. It reads from pages, as an io.ReaderAt, a column that is not
// compressed: each page of the file with its header, checked and decompressed. So the bounds of this package hold for
// each page, whatever the file claims.
type pages struct {
	file   *File
	chunk  *chunk
	column *parquet.Column
	codec  format.CompressionCodec
	inner  *parquet.FilePages
	next   int64 // where the next header begins in the file
	number int   // of the next page

	ready  []byte // what the library reads next: the rest of a header, or of a body
	body   []byte // what it reads after ready
	offset int64  // of ready, in what the library reads
	fault  error  // io.EOF after the last page

	plain []byte // memory for a body that was decompressed

	path                string // of the column
	charged, dictionary int64  // memory of the page and of the dictionary, see charge
	release             func() // gives the right to hold a large page back; nil without it
}

// memory is what the readers of columns leave to the next ones of their file.
type memory struct{ window, plain []byte }

// keepMemory is the most that is left, in bytes. Few pages are larger.
const keepMemory = 4 * readAhead

// openPages begins with the first page of a column.
func openPages(f *File, group, number int) (*pages, error) {
	metadata := &f.metadata.RowGroups[group].Columns[number].MetaData
	begin := metadata.DataPageOffset
	if metadata.DictionaryPageOffset != 0 {
		begin = metadata.DictionaryPageOffset
	}
	length := metadata.TotalCompressedSize
	if begin < 0 || length < 0 || begin > f.size || length > f.size-begin {
		return nil, fmt.Errorf("%d bytes at %d are not all in the file, which has %d", length, begin, f.size)
	}
	left, found := f.memory.Get().(*memory)
	if !found {
		left = new(memory)
	}
	p := &pages{
		file:   f,
		plain:  left.plain,
		chunk:  &chunk{file: f.reader, end: begin + length, window: left.window[:0]},
		column: f.columns[number],
		path:   f.leaves[number].Path,
		codec:  metadata.Codec,
		next:   begin,
	}
	p.inner = f.inner.RowGroups()[group].ColumnChunks()[number].(*parquet.FileColumnChunk).PagesFrom(p)
	return p, nil
}

// read returns the next page with values, which the caller releases, or its values if they are plain. The error is io.EOF at the end.
func (p *pages) read() (page parquet.Page, plain *plainValues, err error) {
	defer recovered(&err)
	if plain, err = p.readPlain(); plain != nil || err != nil {
		return nil, plain, err
	}
	page, err = p.inner.ReadPage()
	switch {
	case err == nil:
		return page, nil, nil
	case p.fault != nil && p.fault != io.EOF:
		return nil, nil, p.fault
	case err == io.EOF && p.fault == io.EOF && len(p.ready) == 0:
		return nil, nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("page %d ends too early: %w", p.number-1, io.ErrUnexpectedEOF)
	}
	return nil, nil, err
}

// ReadAt gives the library what it reads. It reads from the beginning on, without gaps. It gives no more than the rest of a page:
// the next one may be none of the library's.
func (p *pages) ReadAt(b []byte, offset int64) (int, error) {
	if offset != p.offset {
		return 0, errors.New("the dictionary does not come before the values")
	}
	n := 0
	for n < len(b) {
		if len(p.ready) == 0 {
			p.ready, p.body = p.body, nil
		}
		if len(p.ready) == 0 && p.fault == nil {
			p.fault = p.prepare()
		}
		if len(p.ready) == 0 && p.fault != nil {
			return n, p.fault
		}
		m := copy(b[n:], p.ready)
		p.ready = p.ready[m:]
		p.offset += int64(m)
		if n += m; len(p.ready) == 0 && len(p.body) == 0 {
			break
		}
	}
	return n, nil
}

// prepare makes the next page ready. The error is io.EOF behind the last one.
func (p *pages) prepare() error {
	if p.next >= p.chunk.end {
		return io.EOF
	}
	header, length, err := p.header()
	if err == nil {
		p.body, err = p.page(header, p.next+int64(length), pageCopies)
	}
	if err != nil {
		return fmt.Errorf("page %d at byte %d: %w", p.number, p.next, err)
	}
	p.next += int64(length) + int64(header.CompressedPageSize)
	p.number++
	header.CompressedPageSize, header.UncompressedPageSize = int32(len(p.body)), int32(len(p.body))
	header.CRC = 0
	p.ready, err = thrift.Marshal(new(thrift.CompactProtocol), header)
	return err
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
			return nil, 0, fmt.Errorf("its header: %w", err)
		}
		header := new(format.PageHeader)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), seen[:length], header); err != nil {
			return nil, 0, fmt.Errorf("its header: %w", err)
		}
		// Bounds of the values are of no use here.
		header.DataPageHeader.V.Statistics, header.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
		return header, length, nil
	}
}

// page reads the page at an offset of the file, and returns its content, which is in memory as often as copies says. It is valid until
// the next page.
func (p *pages) page(header *format.PageHeader, offset, copies int64) ([]byte, error) {
	stored, size := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	switch {
	case stored < 0 || stored > p.chunk.end-offset:
		return nil, fmt.Errorf("it cannot have %d bytes: its column has %d more", stored, p.chunk.end-offset)
	case size < 0 || max(stored, size) > maxPage:
		return nil, fmt.Errorf("it has %d bytes, and %d are the limit", max(stored, size), maxPage)
	}
	levels, err := p.checkHeader(header)
	if err == nil {
		err = p.charge(header, copies)
	}
	if err != nil {
		return nil, err
	}
	content, err := p.chunk.peek(offset, int(stored))
	if err != nil {
		return nil, err
	}
	content = content[:stored]
	if header.CRC != 0 && crc32.ChecksumIEEE(content) != uint32(header.CRC) {
		return nil, errors.New("it does not have its checksum")
	}
	if p.codec != format.Uncompressed && isCompressed(header) {
		room := max(size, levels)
		p.plain = append(slices.Grow(p.plain[:0], int(room)), content[:levels]...)
		if content, err = p.file.decompress(p.codec, p.plain[:levels:room], content[levels:]); err != nil {
			return nil, fmt.Errorf("decompress it: %w", err)
		}
		p.chunk.drop()
	}
	return content, p.checkContent(header, content)
}

// isCompressed reports whether a page of a compressed column is compressed itself.
func isCompressed(header *format.PageHeader) bool {
	compressed := header.DataPageHeaderV2.V.IsCompressed
	return header.Type != format.DataPageV2 || !compressed.Valid || compressed.V
}

// close gives memory back. The bytes that were read are no longer valid.
func (p *pages) close() {
	p.inner.Close()
	if cap(p.chunk.window) <= keepMemory && cap(p.plain) <= keepMemory {
		p.file.memory.Put(&memory{p.chunk.window, p.plain})
	}
	p.settle()
}

// chunk is the part of a file that holds a column of a row group. It reads ahead, so that many small reads become few
// large ones. It belongs to one goroutine.
type chunk struct {
	file io.ReaderAt
	end  int64

	window []byte
	at     int64 // of window in the file

	// fault is the error of the storage, if a read has failed, or of a wait that was ended. Nothing that follows says anything about
	// the content.
	fault error
}

// peek returns the bytes at an offset: as many as asked or more, fewer only at the end of the chunk. They are valid until the
// next call.
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

// drop gives up what was read of a large page.
func (c *chunk) drop() {
	if cap(c.window) > keepMemory {
		c.window = nil
	}
}

// read fills p from the file.
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

// errLong says that a page holds more than its header says.
var errLong = errors.New("it is longer than its header says")

// isKnown reports whether pages of a codec can be read. LZ4 without RAW is a frame of Hadoop's, of several kinds.
func isKnown(codec format.CompressionCodec) bool {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return true
	}
	return false
}

// decompress appends what src holds to dst, which has room for it.
func (f *File) decompress(codec format.CompressionCodec, dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst, nil // a page of nulls
	}
	room := dst[len(dst):cap(dst)]
	switch codec {
	case format.Snappy:
		length, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if length > len(room) {
			return nil, errLong
		}
		content, err := snappy.Decode(room, src)
		return dst[:len(dst)+len(content)], err
	case format.Zstd:
		decoder, err := f.decoders.zstd()
		if err != nil {
			return nil, err
		}
		defer f.decoders.zstds.Put(decoder)
		return decoder.DecodeAll(src, dst)
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, room)
		return dst[:len(dst)+max(0, n)], err
	case format.Gzip:
		decoder, err := f.decoders.gzip(src)
		if err != nil {
			return nil, err
		}
		defer f.decoders.gzips.Put(decoder)
		return readInto(dst, decoder)
	case format.Brotli:
		return readInto(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	return nil, fmt.Errorf("codec %v cannot be read", codec)
}

// readInto appends all that a reader has, in the room behind dst.
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

// decoders are decompressors that wait for a page. They belong to a file, all of whose readers share them.
type decoders struct{ zstds, gzips sync.Pool }

// zstd returns a decoder that stops where the room ends.
func (d *decoders) zstd() (*zstd.Decoder, error) {
	if decoder, is := d.zstds.Get().(*zstd.Decoder); is {
		return decoder, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
}

func (d *decoders) gzip(src []byte) (*gzip.Reader, error) {
	if decoder, is := d.gzips.Get().(*gzip.Reader); is {
		return decoder, decoder.Reset(bytes.NewReader(src))
	}
	return gzip.NewReader(bytes.NewReader(src))
}
