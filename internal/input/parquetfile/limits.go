package parquetfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// What a file may claim at most. Each limit is far above what writers make. Together they bound the memory that a
// hostile file can take.
const (
	// maxFooter is the longest footer, in bytes. A thousand columns in a thousand row groups take some 100 MB.
	maxFooter = 256 << 20
	// maxFooterItems is how many elements all lists of a footer may have together. An element takes up to 600 bytes
	// of memory once it is decoded.
	maxFooterItems = 4 << 20
	// maxColumns is how many columns and structs a schema may have together. The library allows as many columns.
	maxColumns = 1<<16 - 2
	// maxDepth is how deep columns may be nested, and structures in a footer or in the header of a page. Parquet's own
	// structures need eight levels.
	maxDepth = 100
	// maxGroupRows is how many rows a row group may have. Copying takes a bit for each.
	maxGroupRows = 1 << 30
	// maxPageHeader is the longest header of a page in bytes, with the smallest and the largest value of the page.
	maxPageHeader = 16 << 20
	// maxPage is the longest page in bytes, as stored and when decompressed, where [File.Limit] sets no other limit.
	maxPage = 1 << 30
	// valueBytes is what a value takes in addition to its content: levels, and where it is in the page. wordBytes is
	// what a value in a dictionary takes.
	valueBytes = 8
	wordBytes  = 24
	// maxBlock is how many differences a block of them may have. Writers make 128.
	maxBlock = 1 << 16
	// maxPageValues bounds the values of a page, with nulls, which take hardly a byte in the file and five in memory.
	maxPageValues = 16 << 20
)

const (
	// tailBytes is how much of the end of a file is read at once. Most footers are shorter, so they cost one request.
	tailBytes = 128 << 10
	// readAhead is how much of a column chunk is read at once, in bytes. Larger pages are read whole.
	readAhead = 4 << 20
)

// largePage is the memory in bytes from which a page is large. Most pages have 1 MiB.
const largePage = 16 << 20

// Limit bounds what all readers of the file hold together: their pages and, for each, a row of lists. It must be called
// before the first of them. Beyond bytes of memory a page is a [*PageError], and a row of lists a [*RowError]; 0 stands
// for no limit. Hold, if it is not nil, is called before a reader holds a large page. It may wait. Release is called
// when the reader is closed.
func (f *File) Limit(bytes int64, hold func() (release func(), err error)) {
	f.most, f.hold = bytes, hold
}

// mostList bounds the bytes of values of a row of lists: they are there twice, and once more while they grow.
func (f *File) mostList() int64 {
	if f.most == 0 {
		return math.MaxInt64
	}
	return f.most / 3
}

// charge charges the next page, instead of the one before it. A dictionary stays with the pages that follow it. It
// waits for the right to hold a large page.
func (p *pages) charge(header *pageHeader) error {
	p.file.held.Add(-p.charged)
	copies, each := int64(1), int64(valueBytes)
	if header.encoding != parquet.Encodings.Plain {
		copies = 2 // differences are added up in room of their own
	}
	if header.kind == file.PageTypeDictionaryPage {
		copies, each = 2, wordBytes // it has room of its own
	}
	p.charged = header.stored + copies*header.size + each*int64(header.values)
	held := p.file.held.Add(p.charged)
	if p.file.most > 0 && held > p.file.most {
		return &PageError{Column: p.path, Bytes: held, Limit: p.file.most}
	}
	if p.charged > largePage && p.release == nil && p.file.hold != nil {
		if p.release, p.chunk.fault = p.file.hold(); p.chunk.fault != nil {
			return p.chunk.fault
		}
	}
	if header.kind == file.PageTypeDictionaryPage {
		p.dictionary, p.charged = p.dictionary+p.charged, 0
	}
	return nil
}

func (p *pages) settle() {
	p.file.held.Add(-p.charged - p.dictionary)
	p.charged, p.dictionary = 0, 0
	if p.release != nil {
		p.release()
		p.release = nil
	}
}

// FileError says that a file, or a column in all row groups, cannot be used. Reading again will not help.
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
	// First is the first row that is lost, counted from the beginning of the file; Rows is how many are lost.
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
