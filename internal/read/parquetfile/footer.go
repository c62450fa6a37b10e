package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// endBytes is the length of what follows the footer: its length in four bytes, and the magic bytes.
	endBytes = 8
	// signature is the length of the signature behind the footer of a file with encrypted columns.
	signature = 28
)

// readFooter reads the footer, in one request if it is not long, and checks what a decoder would trust.
func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	if size < int64(len(magic))+endBytes {
		return nil, &FileError{Reason: fmt.Sprintf("this is no Parquet file: it has only %d bytes", size)}
	}
	tail, err := readTail(r, size, min(size, tailBytes))
	if err != nil {
		return nil, err
	}
	end := tail[len(tail)-endBytes:]
	switch string(end[4:]) {
	case magic:
	case magicEncrypted:
		return nil, errEncrypted()
	default:
		return nil, &FileError{Reason: fmt.Sprintf("this is no Parquet file, or it was cut short: it ends in %q, not in %q", end[4:], magic)}
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-int64(len(magic))-endBytes {
		return nil, &FileError{Reason: fmt.Sprintf("the footer cannot have %d bytes: the file has %d", length, size)}
	}
	if length > maxFooter {
		return nil, &FileError{Reason: fmt.Sprintf("the footer has %d bytes, and %d are the limit", length, maxFooter)}
	}
	if length+endBytes > int64(len(tail)) {
		if tail, err = readTail(r, size, length+endBytes); err != nil {
			return nil, err
		}
	}
	footer := tail[int64(len(tail))-endBytes-length:][:length]
	used, err := structLength(footer, maxFooterItems)
	if err != nil {
		return nil, &FileError{Reason: "the footer is damaged", Err: err}
	}
	switch left := len(footer) - used; left {
	case 0:
		return footer, nil
	case signature:
		return nil, errEncrypted()
	default:
		return nil, &FileError{Reason: fmt.Sprintf("the footer is damaged: %d bytes of it are left over", left)}
	}
}

func readTail(r io.ReaderAt, size, length int64) ([]byte, error) {
	tail := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, size-length, length), tail); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			return nil, fmt.Errorf("read the footer: the file is shorter than %d bytes: %w", size, io.ErrUnexpectedEOF)
		}
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	return tail, nil
}

// decodeFooter decodes a footer that has been walked over.
func decodeFooter(footer []byte) (*format.FileMetaData, error) {
	metadata := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, metadata); err != nil {
		return nil, &FileError{Reason: "the footer is damaged", Err: err}
	}
	return metadata, checkFooter(metadata)
}

// checkFooter checks the numbers that decide how much memory the library takes when it opens a file: for each column
// of each row group, and for each level above each column.
func checkFooter(metadata *format.FileMetaData) error {
	if len(metadata.Schema) > maxColumns {
		return &FileError{Reason: fmt.Sprintf("the schema has %d elements, and %d are the limit", len(metadata.Schema), maxColumns)}
	}
	leaves := 0
	var open []int32 // how many children are still to come, from the root down
	for i := range metadata.Schema {
		element := &metadata.Schema[i]
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if element.Type.Valid {
			leaves++
		} else {
			open = append(open, element.NumChildren.V)
		}
		for len(open) > 0 && open[len(open)-1] <= 0 {
			open = open[:len(open)-1]
		}
		if len(open) > maxDepth {
			return &FileError{Reason: fmt.Sprintf("columns are nested more than %d deep", maxDepth)}
		}
	}
	for i := range metadata.RowGroups {
		if group := &metadata.RowGroups[i]; len(group.Columns) != leaves {
			return &FileError{Reason: fmt.Sprintf("the footer is damaged: row group %d has %d columns, and the schema %d",
				i, len(group.Columns), leaves)}
		}
	}
	return nil
}

// openPlain opens a file for the library: one with this footer, and no compressed column. The pages of it
// come from elsewhere, see pages.
func openPlain(footer []byte) (file *parquet.File, err error) {
	defer recovered(&err)
	metadata, err := decodeFooter(footer)
	if err != nil {
		return nil, err
	}
	for i := range metadata.RowGroups {
		for j := range metadata.RowGroups[i].Columns {
			column := &metadata.RowGroups[i].Columns[j].MetaData
			column.Codec = format.Uncompressed
			column.DataPageOffset, column.DictionaryPageOffset, column.TotalCompressedSize = 0, 0, math.MaxInt64
		}
	}
	plain, err := thrift.Marshal(new(thrift.CompactProtocol), metadata)
	if err != nil {
		return nil, err
	}
	plain = binary.LittleEndian.AppendUint32(plain, uint32(len(plain)))
	plain = append(plain, magic...)
	return parquet.OpenFile(bytes.NewReader(plain), int64(len(plain)),
		parquet.SkipMagicBytes(true), // which would be at the beginning
		parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(libraryBuffer))
}

func errEncrypted() error {
	return &FileError{Reason: "the file is encrypted; decrypt it first"}
}

var errShort = errors.New("it ends too early")

// walker walks over a structure of Thrift's compact protocol, without decoding it. The decoder of the library believes
// the lengths of lists and strings and allocates them at once; what the walker has passed is safe to decode.
type walker struct {
	bytes []byte
	at    int
	// items is how many elements of lists, sets and maps may still come.
	items int
}

// structLength returns the length of the structure at the start of b, whose lists have at most the given number of elements
// together. The error is errShort if b ends before the structure.
func structLength(b []byte, items int) (int, error) {
	w := walker{bytes: b, items: items}
	err := w.structure(maxDepth)
	return w.at, err
}

// Types of the compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

func (w *walker) structure(depth int) error {
	for {
		header, err := w.byte()
		if err != nil {
			return err
		}
		kind := header & 0xf
		if kind == thriftStop {
			return nil
		}
		if header>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind == thriftTrue || kind == thriftFalse {
			continue
		}
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
}

// value passes over a value outside a field. There a truth value takes a byte.
func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftInt8:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		length, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(length)
	}
	if depth == 0 {
		return fmt.Errorf("structures are nested more than %d deep", maxDepth)
	}
	switch kind {
	case thriftList, thriftSet:
		return w.list(depth - 1)
	case thriftMap:
		return w.pairs(depth - 1)
	case thriftStruct:
		return w.structure(depth - 1)
	}
	return fmt.Errorf("type %d is not of the Thrift protocol", kind)
}

func (w *walker) list(depth int) error {
	header, err := w.byte()
	if err != nil {
		return err
	}
	size := uint64(header >> 4)
	if size == 0xf {
		if size, err = w.varint(); err != nil {
			return err
		}
	}
	return w.elements(size, depth, header&0xf)
}

func (w *walker) pairs(depth int) error {
	size, err := w.varint()
	if err != nil || size == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	return w.elements(size, depth, kinds>>4, kinds&0xf)
}

// elements passes over a number of elements. Each has a value of each kind.
func (w *walker) elements(size uint64, depth int, kinds ...byte) error {
	if size > uint64(w.items) {
		return errors.New("its lists have too many elements")
	}
	w.items -= int(size)
	for range size {
		for _, kind := range kinds {
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at == len(w.bytes) {
		return 0, errShort
	}
	w.at++
	return w.bytes[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	value, length := binary.Uvarint(w.bytes[w.at:])
	switch {
	case length == 0:
		return 0, errShort
	case length < 0:
		return 0, errors.New("a number has more than 64 bits")
	}
	w.at += length
	return value, nil
}

func (w *walker) skip(length uint64) error {
	if length > uint64(len(w.bytes)-w.at) {
		return errShort
	}
	w.at += int(length)
	return nil
}
