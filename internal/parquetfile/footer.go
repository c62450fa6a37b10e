package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// endBytes is the length of what follows the footer: its length in four bytes, and the magic bytes.
	endBytes = 8
	// signature is the length of the signature behind the footer of a file of which columns are encrypted.
	signature = 28
)

// tail is the end of a file, the footer at least. It is all that opening a file reads.
type tail struct {
	bytes []byte
	begin int64 // of bytes in the file
}

// ReadAt reads from the tail. Nothing else of the file can be read through it.
func (t *tail) ReadAt(p []byte, offset int64) (int, error) {
	if offset < t.begin || offset+int64(len(p)) > t.begin+int64(len(t.bytes)) {
		return 0, fmt.Errorf("read of %d bytes at %d, outside the footer", len(p), offset)
	}
	return copy(p, t.bytes[offset-t.begin:]), nil
}

// readTail reads the footer, in one request if it is not long, and checks what the library would trust.
func readTail(r io.ReaderAt, size int64) (*tail, error) {
	if size < int64(len(magic))+endBytes {
		return nil, &FileError{Reason: fmt.Sprintf("this is no Parquet file: it has only %d bytes", size)}
	}
	t := &tail{}
	if err := t.read(r, size, min(size, tailBytes)); err != nil {
		return nil, err
	}
	end := t.bytes[len(t.bytes)-endBytes:]
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
	if length+endBytes > int64(len(t.bytes)) {
		if err := t.read(r, size, length+endBytes); err != nil {
			return nil, err
		}
	}
	footer := t.bytes[int64(len(t.bytes))-endBytes-length:][:length]
	used, err := structLength(footer, maxFooterItems)
	if err != nil {
		return nil, &FileError{Reason: "the footer is damaged", Err: err}
	}
	switch left := len(footer) - used; left {
	case 0:
		return t, checkFooter(footer)
	case signature:
		return nil, errEncrypted()
	default:
		return nil, &FileError{Reason: fmt.Sprintf("the footer is damaged: %d bytes of it are left over", left)}
	}
}

// read reads the last bytes of the file.
func (t *tail) read(r io.ReaderAt, size, length int64) error {
	t.begin, t.bytes = size-length, make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, t.begin, length), t.bytes); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			return fmt.Errorf("read the footer: the file is shorter than %d bytes: %w", size, io.ErrUnexpectedEOF)
		}
		return fmt.Errorf("read the footer: %w", err)
	}
	return nil
}

// checkFooter checks the numbers that decide how much memory the library takes when it opens a file: for each column
// of each row group, and for each level above each column.
func checkFooter(footer []byte) error {
	metadata := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, metadata); err != nil {
		return &FileError{Reason: "the footer is damaged", Err: err}
	}
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

// decode gives the footer to the library.
func (t *tail) decode() (file *parquet.File, err error) {
	defer recovered(&err)
	return parquet.OpenFile(t, t.begin+int64(len(t.bytes)),
		parquet.SkipMagicBytes(true), // the end of the file has told
		parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(libraryBuffer))
}

func errEncrypted() error {
	return &FileError{Reason: "the file is encrypted; decrypt it first"}
}
