package parquetfile

import (
	"fmt"
	"strconv"
	"strings"
)

// FileError says that the content of a file, or of a column in all row groups, cannot be used. Reading again will not
// help.
type FileError struct {
	// Reason says what is wrong and, where something can be done, what helps.
	Reason string
	Err    error
}

func (e *FileError) Error() string {
	if e.Err == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// GroupError says that the rest of a row group cannot be used. Other row groups may well be whole.
type GroupError struct {
	// Group is the number of the row group in its file, from 0.
	Group int
	// First is the number of the first row that is lost, counted from the beginning of the file. Rows is the number of
	// rows that are lost.
	First, Rows int64
	Column      string
	Err         error
}

func (e *GroupError) Error() string {
	return fmt.Sprintf("column %s of row group %d is damaged, which loses %d rows from row %d on: %v",
		e.Column, e.Group, e.Rows, e.First, e.Err)
}

func (e *GroupError) Unwrap() error { return e.Err }

// PageError says that a page would bring the memory of its file's readers beyond [File.Limit].
type PageError struct {
	Column string
	// Bytes is what the page and all that is held with it take, Limit what they may take.
	Bytes, Limit int64
}

func (e *PageError) Error() string {
	return fmt.Sprintf("the pages of column %s take about %d MiB of memory, and %d MiB are the limit: "+
		"give a --memory of twice what they take and 64 MiB, or rewrite the file with smaller pages",
		e.Column, e.Bytes>>20, e.Limit>>20)
}

// RowError says that a row of lists is longer than [File.Limit] allows. Rows after it can be read.
type RowError struct {
	// Row is its number, counted from the beginning of the file.
	Row int64
	// Bytes is how long it is, Limit how long it may be.
	Bytes, Limit int64
}

func (e *RowError) Error() string {
	return fmt.Sprintf("row %d has %d bytes, and %d are the limit", e.Row, e.Bytes, e.Limit)
}

// FieldError says that a path does not lead to one leaf column.
type FieldError struct {
	Path string
	// There are the paths that could be meant: those below Path if it leads to a struct, otherwise all of the file.
	There []string
	Many  bool
}

func (e *FieldError) Error() string {
	if e.Many {
		return fmt.Sprintf("several columns are called %q", e.Path)
	}
	if len(e.There) == 0 {
		return fmt.Sprintf("no field %q: the file has no columns", e.Path)
	}
	const most = 20
	there, more := e.There, ""
	if len(there) > most {
		there, more = there[:most], fmt.Sprintf(" and %d more", len(there)-most)
	}
	var quoted []string
	for _, path := range there {
		quoted = append(quoted, strconv.Quote(path))
	}
	return fmt.Sprintf("no field %q; there are %s%s", e.Path, strings.Join(quoted, ", "), more)
}

// recovered turns a panic of the library into an error. It is deferred where the library gets bytes that may be
// damaged. Known panics of version 0.32: an index beyond the dictionary, a page of a nested column without levels,
// levels longer than their page, decimals of impossible types.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("the decoder gave up: %v", value)
	}
}
