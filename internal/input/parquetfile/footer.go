package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"
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
		return nil,
			&FileError{Reason: fmt.Sprintf("this is no Parquet file, or it was cut short: it ends in %q, not in %q",
				end[4:], magic)}
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
	used, err := checkFooter(footer)
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

const (
	footerSchema  = 2
	elementType   = 1
	elementFields = 5
)

// checkFooter walks over a footer and returns its length. It checks the numbers that decide how much memory the library
// takes when it decodes the footer: of columns, and of levels above each column.
func checkFooter(footer []byte) (length int, err error) {
	elements, isLeaf, fields := 0, false, int64(0)
	var open []int64 // how many children are still to come, from the root down
	var fault error
	length, err = walk(footer, maxFooterItems, func(path []int, _, _ int, value int64) {
		switch {
		case slices.Equal(path, []int{footerSchema, inList, elementType}):
			isLeaf = true
		case slices.Equal(path, []int{footerSchema, inList, elementFields}):
			fields = value
		case fault == nil && len(path) == 2 && path[0] == footerSchema && path[1] == inList:
			elements++
			open = openElements(open, isLeaf, fields)
			switch {
			case elements > maxColumns:
				fault = fmt.Errorf("the schema has more than %d elements", maxColumns)
			case len(open) > maxDepth:
				fault = fmt.Errorf("columns are nested more than %d deep", maxDepth)
			}
			isLeaf, fields = false, 0
		}
	})
	if err == nil {
		err = fault
	}
	return length, err
}

// openElements returns which elements of a schema still wait for children, behind one more element.
func openElements(open []int64, isLeaf bool, fields int64) []int64 {
	if len(open) > 0 {
		open[len(open)-1]--
	}
	if !isLeaf {
		open = append(open, fields)
	}
	for len(open) > 0 && open[len(open)-1] <= 0 {
		open = open[:len(open)-1]
	}
	return open
}

func decodeFooter(footer []byte) (decoded *metadata.FileMetaData, err error) {
	defer recovered(&err)
	if decoded, err = metadata.NewFileMetaData(footer, nil); err != nil {
		return nil, err
	}
	for i, group := range decoded.RowGroups {
		if len(group.Columns) != decoded.NumColumns() {
			return nil, fmt.Errorf("row group %d has %d columns, and the schema %d", i, len(group.Columns),
				decoded.NumColumns())
		}
		for j, column := range group.Columns {
			if column.MetaData == nil && column.CryptoMetadata == nil && len(column.EncryptedColumnMetadata) == 0 {
				return nil, fmt.Errorf("column %d of row group %d is not described", j, i)
			}
		}
	}
	return decoded, nil
}

func errEncrypted() error {
	return &FileError{Reason: "the file is encrypted; decrypt it first"}
}

var errShort = errors.New("it ends too early")

// walker walks over a structure of Thrift's compact protocol, without taking memory. The decoder of the library
// believes the lengths of lists and strings; what the walker has passed is safe to decode.
type walker struct {
	bytes []byte
	at    int
	// items is how many elements of lists, sets and maps may still come.
	items int
	path  []int // of the value: the numbers of fields from the outermost one
	seen  func(path []int, begin, end int, value int64)
}

// inList is the last number in the path of an element of a list.
const inList = -1

// walk walks over the structure at the start of b, whose lists have at most the given number of elements together, and
// returns its length. seen, unless it is nil, is called behind each value, with its path, where it is, and the value if
// that is a whole number or a truth value. The error is errShort if b ends before the structure.
func walk(b []byte, items int, seen func(path []int, begin, end int, value int64)) (int, error) {
	w := walker{bytes: b, items: items, seen: seen}
	err := w.structure(maxDepth)
	return w.at, err
}

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
	w.path = append(w.path, 0)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	for number := 0; ; {
		header, err := w.byte()
		if err != nil {
			return err
		}
		kind := header & 0xf
		if kind == thriftStop {
			return nil
		}
		if number += int(header >> 4); header>>4 == 0 { // the number of the field follows
			long, err := w.varint()
			if err != nil {
				return err
			}
			number = int(int16(zigzag(long)))
		}
		w.path[len(w.path)-1] = number
		switch kind {
		case thriftTrue, thriftFalse:
			w.tell(w.at, int64(thriftFalse-kind))
		default:
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *walker) tell(begin int, value int64) {
	if w.seen != nil {
		w.seen(w.path, begin, w.at, value)
	}
}

func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// value passes over a value. Outside a field a truth value takes a byte.
func (w *walker) value(kind byte, depth int) error {
	begin, value := w.at, int64(0)
	err := w.pass(kind, depth, &value)
	if err == nil {
		w.tell(begin, value)
	}
	return err
}

func (w *walker) pass(kind byte, depth int, value *int64) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftInt8:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		n, err := w.varint()
		*value = zigzag(n)
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
	w.path = append(w.path, inList)
	defer func() { w.path = w.path[:len(w.path)-1] }()
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
