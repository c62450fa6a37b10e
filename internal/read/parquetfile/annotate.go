package parquetfile

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/read/corpus"
)

// Annotate writes rows with columns about their clusters behind all others: cluster and kept_id, which are strings
// or null, cluster_size (64 bits) and kept (a truth value). A row that keep has chosen is annotated several times, before
// keep is asked about the next row group, so the function has to give the same each time. Its bytes must not change. In
// all else it is [File.Copy]. Arrow's own description of the schema is left out: large strings and dictionaries are plain
// strings then. A file that has a column of one of these names is refused; see [File.Annotatable].
func (f *File) Annotate(w io.Writer, keep func(row int64) bool, annotation func(row int64) corpus.Annotation) (rows int64, err error) {
	if err := f.Annotatable(); err != nil {
		return 0, err
	}
	name := parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	added := []addedColumn{
		{node: name, value: func(row int64) parquet.Value { return optional(annotation(row).Cluster) }},
		{node: parquet.Int(64), value: func(row int64) parquet.Value { return parquet.Int64Value(annotation(row).Size) }},
		{node: parquet.Leaf(parquet.BooleanType), value: func(row int64) parquet.Value { return parquet.BooleanValue(annotation(row).Kept) }},
		{node: name, value: func(row int64) parquet.Value { return optional(annotation(row).KeptID) }},
	}
	for i, field := range corpus.AnnotationFields {
		added[i].name = field
	}
	return f.copy(w, keep, added)
}

// Annotatable returns a [*FileError] if the file has a column already that [File.Annotate] would add.
func (f *File) Annotatable() error {
	for _, field := range f.inner.Root().Fields() {
		if name := field.Name(); slices.Contains(corpus.AnnotationFields, name) {
			return &FileError{Reason: fmt.Sprintf("the file has a column %s already, which annotating would add; rename it", name)}
		}
	}
	return nil
}

// optional returns a string, or null for an empty one.
func optional(text string) parquet.Value {
	if text == "" {
		return parquet.NullValue()
	}
	return parquet.ByteArrayValue([]byte(text)).Level(0, 1, 0)
}

// addedColumn is a column that a copy has and its file has not.
type addedColumn struct {
	name  string
	node  parquet.Node
	value func(row int64) parquet.Value
}
