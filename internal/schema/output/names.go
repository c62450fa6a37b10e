package output

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/util/quoting"
)

// Names says how the rows of a file call documents. A row in memory has names as texts. The tag names marks their
// fields, and the fields about documents of web archives. All files of an output call documents in one way.
type Names struct {
	// AreIntegers says that names are whole numbers of 64 bits, as the ids of all documents are. Joins with the column
	// of the input need no cast then. Otherwise they are strings: ids, refs and digits.
	AreIntegers bool
	// HaveURLs says that tables have the columns of URLs and dates, since documents of web archives may be among the
	// rows. A line of JSON has them where they are known.
	HaveURLs bool
	// HaveItems says that tables have the columns of items of benchmarks.
	HaveItems bool
	// HaveVariants says that tables of pairs say which are variants.
	HaveVariants bool
}

func (n Names) append(b []byte, name string) []byte {
	if n.AreIntegers {
		return append(b, name...)
	}
	return quoting.AppendQuoted(b, name)
}

// name is a name as JSON has it, a string or a whole number.
type name string

// UnmarshalJSON takes the digits of a number as they are.
func (n *name) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte{'"'}) {
		var number json.Number
		err := json.Unmarshal(b, &number)
		*n = name(number)
		return err
	}
	return json.Unmarshal(b, (*string)(n))
}

// of returns a table of rows with these names.
func (n Names) of(table parquetfile.Table, row reflect.Type) parquetfile.Table {
	table.Without = slices.Clone(table.Without)
	has := map[string]bool{"capture": n.HaveURLs, "item": n.HaveItems, "variant": n.HaveVariants}
	for field := range row.Fields() {
		tag := field.Tag.Get("names")
		switch has, isSometimes := has[tag]; {
		case slices.Contains(table.Without, field.Name):
		case isSometimes && !has:
			table.Without = append(table.Without, field.Name)
		case tag == "document" && n.AreIntegers:
			column, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			table.Integers = append(table.Integers, column)
		}
	}
	return table
}
