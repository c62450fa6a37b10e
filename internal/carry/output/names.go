package output

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"mirrorbeam/internal/ground/quoting"
)

// Names says how the rows of a file call documents. A row in memory has names as texts. The tag names marks their fields.
type Names uint8

// The ways to call documents. All files of an output do so in one way.
const (
	// Texts are strings: ids, refs and digits.
	Texts Names = iota
	// Integers are whole numbers of 64 bits, as the ids of all documents are. Joins with the column of the input need no cast then.
	Integers
)

// NamesOf returns the way to call documents that have whole numbers as ids, or other ids.
func NamesOf(areIntegers bool) Names {
	if areIntegers {
		return Integers
	}
	return Texts
}

// append appends a name as JSON.
func (n Names) append(b []byte, name string) []byte {
	if n == Integers {
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

// nameColumns returns the columns of a row that call documents.
func nameColumns(row reflect.Type) (columns []string) {
	for field := range row.Fields() {
		if field.Tag.Get("names") == "document" {
			column, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			columns = append(columns, column)
		}
	}
	return columns
}
