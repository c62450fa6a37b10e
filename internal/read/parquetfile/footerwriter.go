package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxBound is the longest smallest or largest value of a column that a footer has, in bytes. The library puts whole
// texts there.
const maxBound = 64

// arrowSchema is the key under which Arrow keeps the schema of a table, with types that Parquet does not have, such as
// dictionaries. Arrow passes over it if there are other columns.
const arrowSchema = "ARROW:schema"

// footerWriter holds the footer of a copy back, to put into it what the library would lose: it makes the schema anew
// from what it knows of types, and drops what it does not know.
type footerWriter struct {
	output io.Writer
	held   *bytes.Buffer // nil until hold
}

// Write writes to the output, or holds back.
func (w *footerWriter) Write(p []byte) (int, error) {
	if w.held != nil {
		return w.held.Write(p)
	}
	return w.output.Write(p)
}

// finish writes what was held back. The footer gets the schema and the metadata of the file that was copied, and so
// many columns of its own.
func (w *footerWriter) finish(source *File, added int) error {
	held := w.held.Bytes()
	length := int(binary.LittleEndian.Uint32(held[len(held)-endBytes:]))
	begin := len(held) - endBytes - length
	protocol, metadata := new(thrift.CompactProtocol), new(format.FileMetaData)
	if err := thrift.Unmarshal(protocol, held[begin:][:length], metadata); err != nil {
		return fmt.Errorf("read the footer of the copy: %w", err)
	}
	restore(metadata, source, added)
	footer, err := thrift.Marshal(protocol, metadata)
	if err != nil {
		return fmt.Errorf("write the footer of the copy: %w", err)
	}
	ending := append(held[:begin:begin], footer...)
	ending = binary.LittleEndian.AppendUint32(ending, uint32(len(footer)))
	_, err = w.output.Write(append(ending, magic...))
	return err
}

// restore gives a footer the schema and the metadata of another file.
func restore(metadata *format.FileMetaData, source *File, added int) {
	original := source.metadata
	schema := append(thrift.Slice[format.SchemaElement](nil), original.Schema...)
	schema[0].NumChildren = thrift.New(schema[0].NumChildren.V + int32(added))
	metadata.Schema = append(schema, metadata.Schema[len(metadata.Schema)-added:]...)
	metadata.KeyValueMetadata = slices.Clone(original.KeyValueMetadata)
	if added > 0 {
		metadata.KeyValueMetadata = slices.DeleteFunc(metadata.KeyValueMetadata, func(pair format.KeyValue) bool {
			return pair.Key == arrowSchema
		})
	}
	for i := range metadata.RowGroups {
		for j := range source.leaves {
			// The library has no physical type for columns of nothing but nulls.
			metadata.RowGroups[i].Columns[j].MetaData.Type = source.leaves[j].element.Type.V
		}
		for j := range metadata.RowGroups[i].Columns {
			statistics := &metadata.RowGroups[i].Columns[j].MetaData.Statistics
			if max(len(statistics.MinValue), len(statistics.MaxValue)) > maxBound {
				statistics.MinValue, statistics.MaxValue = nil, nil
			}
		}
	}
}
