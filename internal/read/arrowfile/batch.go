package arrowfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// batch is a batch whose buffers are read.
type batch struct {
	reader    *Reader
	table     table  // the RecordBatch
	body, end int64  // of the stored body
	whole     []byte // the body, if it was read
	held      int64  // bytes of memory that its buffers and the dictionaries take so far
	first     map[*field]int
	views     map[*field]int // how many further buffers a view has
}

// open begins to read the buffers of a batch whose body begins there.
func (r *Reader) open(t table, body, length int64) (*batch, error) {
	b := &batch{reader: r, table: t, body: body, end: body + length, held: r.held}
	if length > r.size-body {
		return nil, errCut
	}
	if !r.isFar || r.at != body {
		return b, nil
	}
	if err := b.take(length); err != nil {
		return nil, err
	}
	var err error
	b.whole, err = r.read(length)
	return b, err
}

// place finds the first buffer of each field.
func (b *batch) place(fields []*field) error {
	b.first, b.views = map[*field]int{}, map[*field]int{}
	countsAt, counts := b.table.vector(4, 8)
	_, buffers := b.table.vector(2, 16)
	next := 0
	var walk func([]*field) error
	walk = func(fields []*field) error {
		for _, f := range fields {
			b.first[f] = next
			next += f.buffers()
			if f.isView() {
				if counts == 0 {
					return errMetadata
				}
				n := b.table.buffer.int64(countsAt)
				if n < 0 || n > int64(buffers) {
					return errMetadata
				}
				b.views[f], countsAt, counts, next = int(n), countsAt+8, counts-1, next+int(n)
			}
			if f.dictionary == noDictionary {
				if err := walk(f.children); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(fields); err != nil {
		return err
	}
	if next > buffers || b.table.buffer.isBad {
		return errMetadata
	}
	return nil
}

// buffer reads a buffer of the body.
func (b *batch) buffer(number int) ([]byte, error) {
	at, _ := b.table.vector(2, 16)
	offset, length := b.table.buffer.int64(at+16*number), b.table.buffer.int64(at+16*number+8)
	if b.table.buffer.isBad || offset < 0 || length < 0 || length > b.end-b.body || offset > b.end-b.body-length {
		return nil, errMetadata
	}
	if length == 0 {
		return nil, nil
	}
	stored, err := b.stored(offset, length)
	if err != nil {
		return nil, err
	}
	compression, isCompressed := b.table.table(3)
	if !isCompressed {
		return stored, nil
	}
	return b.decompress(stored, compression.int8(0))
}

// stored returns bytes of the body.
func (b *batch) stored(offset, length int64) ([]byte, error) {
	if b.whole != nil {
		return b.whole[offset : offset+length], nil
	}
	if err := b.take(length); err != nil {
		return nil, err
	}
	stored := make([]byte, length)
	n, err := b.reader.file.ReadAt(stored, b.body+offset)
	switch {
	case int64(n) == length:
		err = nil
	case err == io.EOF:
		err = errCut
	}
	return stored, err
}

// take counts memory.
func (b *batch) take(bytes int64) error {
	if b.held += bytes; b.reader.limit > 0 && b.held > b.reader.limit {
		return &BatchError{b.held, b.reader.limit}
	}
	return nil
}

// decompress decodes a buffer, which begins with its length.
func (b *batch) decompress(stored []byte, codec int) ([]byte, error) {
	const isPlain, lz4Frame, zstandard = -1, 0, 1
	if len(stored) < 8 {
		return nil, errBuffer
	}
	length, stored := int64(binary.LittleEndian.Uint64(stored)), stored[8:]
	if length == isPlain {
		return stored, nil
	}
	// No codec makes more of a byte.
	const mostExpansion = 1 << 18
	if length < 0 || length/mostExpansion > int64(len(stored)) {
		return nil, errBuffer
	}
	if err := b.take(length); err != nil {
		return nil, err
	}
	var content []byte
	var err error
	switch codec {
	case lz4Frame:
		content = make([]byte, length)
		_, err = io.ReadFull(lz4.NewReader(bytes.NewReader(stored)), content)
	case zstandard:
		content, err = b.reader.unzstd(stored, make([]byte, 0, length))
	default:
		return nil, errMetadata
	}
	if err != nil || int64(len(content)) != length {
		return nil, errBuffer
	}
	return content, nil
}

// unzstd decodes into the room that dst has, and no further.
func (r *Reader) unzstd(stored, dst []byte) (_ []byte, err error) {
	if r.zstd == nil {
		if r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
	}
	return r.zstd.DecodeAll(stored, dst)
}

// values reads the buffers of a field with a number of rows.
func (b *batch) values(f *field, rows int64) (*values, error) {
	v := &values{field: f, rows: rows}
	number := b.first[f]
	var err error
	read := func(least int64) (content []byte) {
		if err == nil {
			content, err = b.buffer(number)
		}
		if number++; err == nil && int64(len(content)) < least {
			err = errBuffer
		}
		return content
	}
	if rows < 0 || rows > mostRows {
		return nil, errMetadata
	}
	if f.kind == isNull && f.dictionary == noDictionary { // it has no buffer
		return v, nil
	}
	if v.validity = read(0); len(v.validity) > 0 && int64(len(v.validity)) < (rows+7)/8 {
		return nil, errBuffer
	}
	switch width := f.offsetBytes(); {
	case f.dictionary != noDictionary:
		v.data = read(rows * int64(f.indexBits) / 8)
		if v.dictionary = b.reader.dictionaries[f.dictionary]; v.dictionary == nil && rows > 0 {
			return nil, errBuffer
		}
	case f.isView():
		v.data = read(16 * rows)
		for range b.views[f] {
			v.further = append(v.further, read(0))
		}
	case width > 0 && rows > 0:
		v.offsets = read((rows + 1) * width)
		if !f.isList() {
			v.data = read(0)
		}
	case width > 0: // without rows there need be no offsets
	case f.kind == isStruct:
	case f.kind == isBool:
		v.data = read((rows + 7) / 8)
	case !f.isList():
		v.data = read(rows * int64(f.bits) / 8)
	}
	if err == nil && f.isList() {
		v.elements, err = b.elements(v)
	}
	return v, err
}

// elements reads the elements of a list.
func (b *batch) elements(list *values) (*values, error) {
	n, size := int64(0), int64(list.field.size)
	switch {
	case list.field.kind == isFixedList && (size < 1 || list.rows > math.MaxInt64/size):
		return nil, errMetadata
	case list.field.kind == isFixedList:
		n = list.rows * size
	case list.rows > 0:
		n = list.offset(list.rows)
	}
	return b.values(list.field.children[0], n)
}
