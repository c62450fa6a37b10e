package corpus

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/webtext"
)

// Format says how a file holds its documents: it is the number of a [Definition]. States keep it, so no number may ever
// stand for another format. The zero Format is [JSONLines].
type Format uint8

const (
	JSONLines Format = iota
	// CSV has records of fields with commas between them, as RFC 4180 says. The first record names the fields.
	CSV
	TSV
	Parquet
	// WARC has the records of a web archive: WARC, WET or ARC.
	WARC
	// Text is plain text: the file is one document.
	Text
	// HTML is a web page: the text in the file is one document.
	HTML
	// PlainLines is plain text: each line is a document.
	PlainLines
	// JSON has objects of JSON in an array, or one after the other, each on any number of lines.
	JSON
	// Arrow is Apache Arrow's format of files and of streams, which Feather is, too: each row is a document.
	Arrow
	// Bulk has the requests of Elasticsearch's bulk interface and of Cirrus dumps: a document is two lines of JSON.
	Bulk
)

// AutoFormat is the choice of the format of each file by its name and content.
const AutoFormat = "auto"

// Definition is all that the program knows of a format. Only Format, Name, Source and Decoder are required.
type Definition struct {
	Format Format
	// Name is what a user calls it, in small letters. Help says in a few words what the name does not.
	Name, Help string
	// Endings are the endings of file names, with the point and in small letters, after .gz and the like are removed.
	Endings []string
	// Magics are first bytes that no other format has: they count more than the name.
	Magics []string
	// IsBinary says that all its files begin with one of Magics: a text is of another format, whatever its name.
	IsBinary bool
	// Begins, if it is not nil, reports whether a text that begins with head is of the format, although its name says
	// [JSONLines], a text, or nothing. Head has no white space at its beginning.
	Begins func(head []byte) bool
	// AllNames says that a folder stands for all its files if a user names the format.
	AllNames bool

	Charset CharsetRule

	// IsLines says that a record is a line, IsWhole that a file is one document, and HasFields that a record has
	// fields, one of which is the text. IsTable says that the fields are cells of a [Dialect], and HasPages that
	// documents are web pages.
	IsLines, IsWhole, HasFields, IsTable, HasPages bool

	// Source returns a source of records, and Decoder what takes the documents out of them.
	Source  func(Limits, Wanted) Source
	Decoder func(Wanted) Decoder
	// Parts returns where a file can be cut; nil: nowhere, unless it is one of lines. It returns an error if the file
	// does not have the wanted fields.
	Parts func(*File, Wanted) ([]Part, error)
	// FieldNames returns the names of the fields of a record, and of fields in them; nil: it has none.
	FieldNames func(wanted Wanted, header, record []byte) []string

	// Annotator returns what adds fields to records; nil: they cannot get any.
	Annotator func(Wanted) Annotator
	// Writer returns what writes records to a copy; nil: each is a row, with a line feed behind it.
	Writer func(Copy) RecordWriter
	// CopyEnding is the ending of copies, without a point; empty: Name, and .gz or .zst if the input is compressed.
	CopyEnding string
	// Cutter returns what cuts stretches out of the texts of records; nil: they cannot be cut.
	Cutter func(Wanted) Cutter
	// CopyRows copies rows of a file instead of Annotator, Cutter and Writer, for a format whose rows cannot be copied
	// one by one. Annotatable returns an error if the file has a wanted column already, and
	// Cuttable if its texts cannot be cut.
	CopyRows    func(file *File, limits Limits, out io.Writer, rows RowCopy) (copied int64, err error)
	Cuttable    func(*File, Wanted) error
	Annotatable func(*File, Wanted) error
}

// Dialect says how the records of CSV and TSV are cut into fields.
type Dialect struct {
	// Delimiter is the byte between fields; 0: the one that the first record shows.
	Delimiter byte `json:",omitempty"`
	// Quote encloses a field; 0: a double quote in CSV, and none in TSV. [NoQuote] is none.
	Quote byte `json:",omitempty"`
	// Escape precedes a byte that is content; 0: none does.
	Escape byte `json:",omitempty"`
	// SkipLines is how many lines stand before the header.
	SkipLines int `json:",omitempty"`
}

// NoQuote is the quote of files whose quotes are content.
const NoQuote = '\n'

// ParseDelimiter returns the delimiter of a name: a character of ASCII, or tab. Of an empty name it is 0.
func ParseDelimiter(name string) (byte, error) {
	switch {
	case name == "tab" || name == `\t` || name == "\t":
		return '\t', nil
	case name == `"`:
		return 0, errors.New(`must be one character of ASCII, such as ; or |, or tab`)
	}
	return ParseMark(name)
}

// ParseQuote returns the quote of a name: a character of ASCII, or [NoQuote] of none. Of an empty name it is 0.
func ParseQuote(name string) (byte, error) {
	if name == "none" {
		return NoQuote, nil
	}
	return ParseMark(name)
}

// ParseMark returns the character of ASCII that a name is. Of an empty name it is 0.
func ParseMark(name string) (byte, error) {
	switch {
	case name == "":
		return 0, nil
	case len(name) == 1 && name[0] > ' ' && name[0] < 0x7f:
		return name[0], nil
	}
	return 0, errors.New(`must be one character of ASCII, such as ; or |`)
}

// CharsetRule says how the charset of a file is known.
type CharsetRule uint8

const (
	// OwnCharset is for formats that tell it themselves, and for files that are a document: their decoder finds it.
	OwnCharset CharsetRule = iota
	// MarkedCharset is UTF-8, unless a byte order mark or the user says something else.
	MarkedCharset
	// AnyCharset is guessed from the bytes if neither a byte order mark nor the user tells it.
	AnyCharset
)

// Wanted says what to take from a record.
type Wanted struct {
	Fields Fields
	// Records is the field of a JSON object that holds the records, as in data or hits.hits; empty: the object is one.
	Records string
	// Charset is the encoding of single-document files that are neither UTF-8 nor marked; empty: as they look.
	Charset string
	Dialect
	// TextForm says how texts in fields are written; empty stands for [webtext.Plain].
	TextForm webtext.Form
	PageText webtext.Mode
	// AsShown takes what a browser shows for a page, whatever its status, and what it shows in a page for its text,
	// such as the pages in frames.
	AsShown bool
	// MaxDocument is the length of the longest document in bytes, decoded. A longer one is a fault.
	MaxDocument int64
	// Columns are the names of the columns that copies get, see [ColumnsNamed].
	Columns []string
	// MaxFeatures is how many features a document may have; 0: any number. More are a fault.
	MaxFeatures int
}

// Copy is a file to which records of an input file are written.
type Copy interface {
	io.Writer
	Row(record []byte) error
	// EndMember ends a member of a compressed copy. What comes behind it can be read by itself.
	EndMember() error
}

// RowCopy says which rows of a file are copied, and how.
type RowCopy struct {
	// Keep chooses rows. It is asked about all rows in their order.
	Keep func(row int64) bool
	// Lost hears how many rows that Keep has chosen are left out, since a column of theirs is damaged.
	Lost func(rows int64)
	// Annotations are the annotations of rows, and Cuts returns what is cut from the text of one, which is the field of
	// that name; nil: nothing of the kind is done. Both may be asked several times about a row that Keep has chosen,
	// before Keep is asked about the next group of rows.
	Annotations *Annotations
	Cuts        func(row int64) []Cut
	Text        string
}

// RecordWriter writes records to a copy.
type RecordWriter interface {
	// Write writes a record as it is in the input. Name is the name of the file where it is.
	Write(name string, record []byte) error
	Close() error
}

// Column is a field that copied records may have in addition to their own.
type Column struct {
	Name string
	// Of returns its value in a record: a [DocumentName], an int64 or a bool. An empty name becomes null.
	Of func(a *Annotation) any
}

// DocumentName is a value that names a document.
type DocumentName string

var columns = []Column{
	{"cluster", func(a *Annotation) any { return DocumentName(a.Cluster) }},
	{"cluster_size", func(a *Annotation) any { return a.Size }},
	{"kept", func(a *Annotation) any { return a.Kept }},
	{"kept_id", func(a *Annotation) any { return DocumentName(a.KeptID) }},
	{"n_sources", func(a *Annotation) any { return a.Sources }},
	{"n_files", func(a *Annotation) any { return a.Files }},
}

// ColumnNames returns the names of all columns. Annotated records have the first [UsualColumns].
func ColumnNames() (names []string) {
	for _, column := range columns {
		names = append(names, column.Name)
	}
	return names
}

// UsualColumns is the number of columns that annotated records have unless others are asked for.
const UsualColumns = 4

// ColumnsNamed returns the columns of some names, and without a name the usual ones.
func ColumnsNamed(names []string) []Column {
	if len(names) == 0 {
		return columns[:UsualColumns]
	}
	var named []Column
	for _, name := range names {
		at := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
		named = append(named, columns[at])
	}
	return named
}

// Clash returns the first column of some names that a file with these fields has already; empty: none.
func Clash(names, fields []string) string {
	for _, column := range ColumnsNamed(names) {
		if slices.Contains(fields, column.Name) {
			return column.Name
		}
	}
	return ""
}

// Annotation is what a job has found out about a document. The names are texts without control characters.
type Annotation struct {
	// Cluster is the name of its cluster, empty if it is in none.
	Cluster string
	// Size is the number of documents in the cluster, 1 if it is in none.
	Size int64
	Kept bool
	// Sources and Files count the sources and the files of the documents in the cluster, 1 if it is in none.
	Sources, Files int64
	// KeptID is the name of the document that is kept for it, empty if it is kept itself.
	KeptID string
	// HasIntegers says that the names of all documents are whole numbers.
	HasIntegers bool
}

// Annotations are the annotations of the rows of a file.
type Annotations struct {
	// Columns are the names of the columns, see [ColumnsNamed].
	Columns      []string
	Of           func(row int64) Annotation
	HaveIntegers bool
}

// Annotator adds columns to records. All else stays as it is. It is not for concurrent use.
type Annotator interface {
	// Clash returns the name of a column that a record has already, or "". The header is the header of its batch.
	Clash(header, record []byte) string
	Header(b, header []byte) []byte
	// Record appends a record of the last header's file, and its annotation, to b. Empty names become null.
	Record(b, record []byte, a Annotation) []byte
}

// definitions are the registered formats, by their numbers. A number without a format is nil. In registered the same
// formats stand one behind the other: it is asked for each file.
var (
	definitions [256]*Definition
	registered  []*Definition
)

// Register adds a format. It is called when the program starts. It panics if there is another one of the number or the
// name: that is a mistake of a programmer, and no input and no setting brings it about.
func Register(d Definition) {
	if _, known := ParseFormat(d.Name); known || definitions[d.Format] != nil || d.Name == AutoFormat {
		panic(fmt.Sprintf("corpus: the format %d, %s, is there twice", d.Format, d.Name))
	}
	definitions[d.Format] = &d
	registered = slices.DeleteFunc(slices.Clone(definitions[:]), func(d *Definition) bool { return d == nil })
}

// Definition returns what is known of the format. Of one that this program does not have, it is a number.
func (f Format) Definition() *Definition {
	if d := definitions[f]; d != nil {
		return d
	}
	return &Definition{Format: f, Name: fmt.Sprintf("format %d", uint8(f))}
}

func (f Format) String() string { return f.Definition().Name }

// FormatNames returns the choices of a format: [AutoFormat] and all names.
func FormatNames() []string {
	names := []string{AutoFormat}
	for _, d := range registered {
		names = append(names, d.Name)
	}
	return names
}

// FormatHelp returns the choices of a format for people.
func FormatHelp() string {
	var b strings.Builder
	for _, d := range registered {
		b.WriteString(d.Name)
		if d.Help != "" {
			b.WriteString(" (" + d.Help + ")")
		}
		b.WriteString(", ")
	}
	return b.String() + "or " + AutoFormat + " (chosen for each file by its content and name)"
}

// ParseFormat returns the format of a name.
func ParseFormat(name string) (f Format, known bool) {
	i := slices.IndexFunc(definitions[:], func(d *Definition) bool { return d != nil && d.Name == name })
	return Format(max(i, 0)), i >= 0
}

// IsLines reports whether a record of the format is a line.
func (f Format) IsLines() bool { return f.Definition().IsLines }

// IsWhole reports whether a file of the format is one document.
func (f Format) IsWhole() bool { return f.Definition().IsWhole }

// HasFields reports whether a record of the format has fields, with the text among them.
func (f Format) HasFields() bool { return f.Definition().HasFields }

// IsFileName reports whether a name ends like a compressed file or one of a format; of the endings of texts .txt counts.
func IsFileName(name string) bool {
	ending := strings.ToLower(filepath.Ext(dropCompressionSuffix(name)))
	return dropCompressionSuffix(name) != name || slices.ContainsFunc(registered, func(d *Definition) bool {
		i := slices.Index(d.Endings, ending)
		return i == 0 || i > 0 && !d.IsWhole
	})
}

// FormatHint ends the message that no file of a guessed format holds a document. It is a format of [setting.Errorf].
const FormatHint = "; if each file is a text, give {format} text"

// Ending returns the ending, without a point, for names of copies of f, such as "jsonl.gz".
func (f *File) Ending() string {
	d := f.Format.Definition()
	if d.CopyEnding != "" {
		return d.CopyEnding
	}
	return d.Name + f.CopySuffix()
}

// CopySuffix returns the ending of the names of copies of f that tells their compression: .gz, .zst, or nothing if f is
// plain. Copies have the compression of f, or zstd where nothing here writes it.
func (f *File) CopySuffix() string {
	switch f.Compression {
	case None, Gzip:
		return compressions[f.Compression].suffix
	}
	return compressions[Zstd].suffix
}
