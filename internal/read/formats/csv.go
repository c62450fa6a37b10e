package formats

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam/internal/read/corpus"
)

func init() {
	corpus.Register(separated(corpus.CSV, "csv", func(w corpus.Wanted) separator { return separator(w.Delimiter) }, ".csv"))
	corpus.Register(separated(corpus.TSV, "tsv", func(corpus.Wanted) separator { return '\t' }, ".tsv", ".tab"))
}

// separated is the format of records whose fields are separated by a comma or another character. Fields are
// quoted as RFC 4180 says. The first record names the fields.
func separated(f corpus.Format, name string, by func(corpus.Wanted) separator, endings ...string) corpus.Definition {
	return corpus.Definition{
		Format: f, Name: name, Endings: endings, HasFields: true, Charset: corpus.AnyCharset,
		Source: func(l corpus.Limits, w corpus.Wanted) corpus.Source {
			return newFramedSource(l, f, &csvFraming{format: f, separator: by(w)})
		},
		Decoder: func(w corpus.Wanted) corpus.Decoder { return newCSVDecoder(w, by(w)) },
		FieldNames: func(w corpus.Wanted, header, _ []byte) []string {
			return fieldNames(header, by(w))
		},
		Annotator: func(w corpus.Wanted) corpus.Annotator { return &csvAnnotator{separator: by(w)} },
		Cutter: func(w corpus.Wanted) corpus.Cutter {
			return &csvCutter{decoder: newCSVDecoder(corpus.Wanted{Fields: corpus.Fields{Texts: w.Fields.Texts}}, by(w))}
		},
	}
}

// fieldNames returns the names in a header. An unreadable one has none.
func fieldNames(header []byte, by separator) []string {
	names, _ := newCSVDecoder(corpus.Wanted{}, by).readHeader(header)
	return names
}

// delimiters are what may stand between fields, the most likely one first.
const delimiters = ",;\t|"

// separator is the byte between the fields of a record. 0 stands for the one that the header shows.
type separator byte

// in returns the separator of a file whose content begins with its header. Of several that the header may have it is the most
// frequent one.
func (s separator) in(content []byte) byte {
	if s != 0 {
		return byte(s)
	}
	best, most := delimiters[0], 0
	for _, c := range []byte(delimiters) {
		if n := separators(bytes.TrimLeft(content, "\r\n"), c); n > most {
			best, most = c, n
		}
	}
	return best
}

// separators counts how often a separator stands between the fields of the first record.
func separators(content []byte, comma byte) (n int) {
	isStart, isQuoted := true, false // of a field
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case isQuoted && c == '"' && i+1 < len(content) && content[i+1] == '"':
			i++
		case isQuoted:
			isQuoted = c != '"'
		case c == '"' && isStart:
			isQuoted, isStart = true, false
		case strings.IndexByte(delimiters, c) >= 0:
			isStart = true
			if c == comma {
				n++
			}
		case c == '\n' || c == '\r':
			return n
		default:
			isStart = false
		}
	}
	return n
}

// csvFraming cuts a file into records. A quoted field may hold line feeds. So the end of a record is known
// only to a reader that begins at the beginning of the file.
type csvFraming struct {
	format    corpus.Format
	separator separator
	comma     byte // the separator of the current file
	skips     bool // the current line is the rest of a reject
	newline   byte // ends a line: a line feed, or a carriage return if the first record ends with that alone
}

// begin finds the first record that is no empty line. It names the fields.
func (c *csvFraming) begin(s *framedSource, content []byte) (header []byte, used int, err error) {
	data := bytes.TrimPrefix(content, []byte(corpus.ByteOrderMark))
	c.skips, c.comma = false, c.separator.in(data)
	c.newline = lineEnd(data, c.comma, s.stream.Ended)
	end, _ := c.recordEnd(data)
	for end > 0 && isEmptyLine(data[:end]) {
		data = data[end:]
		end, _ = c.recordEnd(data)
	}
	switch {
	case end < 0 && s.stream.Ended:
		end = len(data)
	case end < 0:
		return nil, 0, fmt.Errorf("read input %s: the first record, which names the fields, is longer than %d bytes: is the file %v?", s.path, corpus.BatchBytes, c.format)
	}
	return data[:end], len(content) - len(data) + end, nil
}

// frame finds the records in data.
func (c *csvFraming) frame(s *framedSource, b *corpus.Batch, data []byte) (end int) {
	start := s.start(data)
	if c.skips {
		n := bytes.IndexByte(data, c.newline)
		if n < 0 {
			return len(data)
		}
		end, c.skips = n+1, false
	}
	for end < len(data) {
		at := end
		length, isOpen := c.recordEnd(data[at:])
		switch {
		case length < 0 && !s.stream.Ended && int64(len(data)-at) <= s.limits.Line:
			return at
		case length < 0 && s.stream.IsCut:
			return len(data) // the fault of the stream stands for this record
		case length < 0 && s.stream.Ended && !isOpen:
			length = len(data) - at // the last record of a file may lack its line feed
		}
		if length >= 0 && int64(length) <= s.limits.Line {
			end = at + length
			if !isEmptyLine(data[at:end]) {
				b.Frames = append(b.Frames, corpus.Frame{Position: start + int64(at), Start: at, End: end})
			}
			continue
		}
		// A missing closing quote must not take the rest of the file with it.
		line := bytes.IndexByte(data[at:], c.newline) + 1
		if c.skips = line == 0; c.skips {
			line = len(data) - at
		}
		s.reject(start+int64(at), fmt.Sprintf("the record has a quote that is not closed, or more than the %d bytes that %s allows for: the next line is taken for another record", s.limits.Line, s.limits.Setting()))
		end = at + line
	}
	return end
}

// isEmptyLine reports whether a record is an empty line, which is no record.
func isEmptyLine(record []byte) bool {
	return len(bytes.TrimSuffix(bytes.TrimSuffix(record, []byte("\n")), []byte("\r"))) == 0
}

// lineEnd returns the byte that ends the first record of a file that begins with data. It is a carriage return if that ends
// the record, and no line feed follows it. IsAll says that data is the whole file.
func lineEnd(data []byte, comma byte, isAll bool) byte {
	feed, _ := recordEnd(data, comma, '\n')
	for end := 0; ; {
		next, _ := recordEnd(data[end:], comma, '\r')
		if end += next; next < 0 || feed >= 0 && end >= feed-1 {
			return '\n'
		}
		if end == len(data) && isAll || end < len(data) && data[end] != '\r' {
			return '\r'
		}
	}
}

// recordEnd returns the end of the record at the beginning of data, as the function of that name does.
func (c *csvFraming) recordEnd(data []byte) (end int, isOpen bool) {
	return recordEnd(data, c.comma, c.newline)
}

// recordEnd returns the end of the record at the beginning of data, behind the byte that ends a line. It returns -1 if
// data ends before the record does. IsOpen then says that data ends within quotes.
func recordEnd(data []byte, comma, newline byte) (end int, isOpen bool) {
	for i := 0; i < len(data); {
		if data[i] == '"' { // a field begins here
			for i++; ; i += 2 { // skips a doubled quote
				n := bytes.IndexByte(data[i:], '"')
				if n < 0 {
					return -1, true
				}
				if i += n; i+1 >= len(data) || data[i+1] != '"' {
					break
				}
			}
		}
		line := bytes.IndexByte(data[i:], newline)
		if line < 0 {
			line = len(data) - i
		}
		next := bytes.IndexByte(data[i:i+line], comma)
		if next < 0 {
			if i+line == len(data) {
				return -1, false
			}
			return i + line + 1, false
		}
		i += next + 1
	}
	return -1, false
}

// csvAnnotator adds cells before the line end of a record.
type csvAnnotator struct {
	separator separator
	header    []byte
	comma     byte   // between the fields of a file with that header
	clash     string // one of [corpus.AnnotationFields] that the header names
}

// reset goes on to another header, if it is another.
func (c *csvAnnotator) reset(header []byte) {
	if c.comma != 0 && bytes.Equal(header, c.header) {
		return
	}
	c.header, c.comma, c.clash = bytes.Clone(header), c.separator.in(header), ""
	names := fieldNames(header, c.separator)
	if i := slices.IndexFunc(corpus.AnnotationFields, func(name string) bool { return slices.Contains(names, name) }); i >= 0 {
		c.clash = corpus.AnnotationFields[i]
	}
}

func (c *csvAnnotator) Clash(header, _ []byte) string {
	c.reset(header)
	return c.clash
}

func (c *csvAnnotator) Header(b, header []byte) []byte {
	c.reset(header)
	return c.append(b, header, corpus.AnnotationFields)
}

func (c *csvAnnotator) Record(b, record []byte, a corpus.Annotation) []byte {
	return c.append(b, record, []string{a.Cluster, strconv.FormatInt(a.Size, 10), strconv.FormatBool(a.Kept), a.KeptID})
}

// append appends a record with more cells.
func (c *csvAnnotator) append(b, record []byte, cells []string) []byte {
	c.reset(c.header)
	content := bytes.TrimRight(record, "\r\n")
	b = append(b, content...)
	for _, cell := range cells {
		b = append(b, c.comma)
		b = appendCell(b, cell, c.comma)
	}
	return append(b, record[len(content):]...)
}

// csvDecoder takes fields out of records. It is not for concurrent use.
type csvDecoder struct {
	fields    corpus.Fields
	separator separator

	header  []byte // the header to which id and texts belong
	names   []string
	id      int   // column of the id; -1 if there is none
	texts   []int // columns of the texts; -1 for a missing one
	feature int   // column of the features; -1 if there is none
	others  []int // columns of the other fields; -1 for a missing one
	content bytes.Reader
	buffer  *bufio.Reader
	reader  *csv.Reader
	out     [][]byte
	values  [][]byte // of the other fields
	bytes   []byte   // id, out and values are parts of it
	found   corpus.FeatureReader
}

// readBuffer is the read buffer of a decoder, in bytes.
const readBuffer = 64 << 10

func newCSVDecoder(w corpus.Wanted, by separator) *csvDecoder {
	d := &csvDecoder{fields: w.Fields, separator: by, bytes: []byte{}, found: corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures}} // an empty value is not nil
	d.buffer = bufio.NewReaderSize(&d.content, readBuffer)
	d.reader = csv.NewReader(d.buffer) // takes a buffer of that size as it is
	d.reader.FieldsPerRecord, d.reader.ReuseRecord = -1, true
	return d
}

// Decode reads one record.
func (d *csvDecoder) Decode(header, record []byte) (corpus.Record, error) {
	if d.names == nil || !bytes.Equal(header, d.header) {
		if err := d.setHeader(header); err != nil {
			return corpus.Record{}, err
		}
	}
	values, err := d.read(record)
	if err != nil {
		return corpus.Record{}, err
	}
	if len(values) != len(d.names) {
		return corpus.Record{}, fmt.Errorf("the record has %d fields, and the first record names %d", len(values), len(d.names))
	}
	d.bytes = d.bytes[:0]
	take := func(column int) []byte {
		start := len(d.bytes)
		d.bytes = append(d.bytes, values[column]...)
		return d.bytes[start:len(d.bytes):len(d.bytes)]
	}
	var r corpus.Record
	if d.fields.HasTexts() {
		if r.Texts, err = d.readTexts(take); err != nil {
			return r, err
		}
	}
	if d.fields.Features != "" {
		if r.Features, err = d.readFeatures(take); err != nil {
			return r, err
		}
	}
	d.values = d.values[:0]
	for _, column := range d.others {
		if column < 0 {
			d.values = append(d.values, nil)
			continue
		}
		d.values = append(d.values, take(column))
	}
	r.Others = d.values
	if d.id >= 0 {
		r.ID = take(d.id)
		r.HasID, r.IsInteger = len(r.ID) > 0, corpus.IsInteger(r.ID) // a table of text has no types: its readers take such a column for numbers
	}
	return r, nil
}

// readTexts returns the texts, which take copies out of their columns.
func (d *csvDecoder) readTexts(take func(column int) []byte) ([][]byte, error) {
	d.out = d.out[:0]
	found := false
	for _, column := range d.texts {
		if column < 0 {
			d.out = append(d.out, nil)
			continue
		}
		found = true
		d.out = append(d.out, take(column))
	}
	if !found {
		return nil, missingField(d.fields.Texts, d.names)
	}
	return d.out, nil
}

// readFeatures reads the features, which take copies out of their column. A document with texts may have none.
func (d *csvDecoder) readFeatures(take func(column int) []byte) ([]corpus.Feature, error) {
	switch {
	case d.feature < 0 && d.fields.Beside:
		return nil, nil
	case d.feature < 0:
		return nil, missingField([]string{d.fields.Features}, d.names)
	}
	value := take(d.feature)
	if d.fields.Beside && isNone(value) {
		return nil, nil
	}
	return d.found.JSON(value)
}

// isNone reports whether a value of features is empty, or the null of JSON.
func isNone(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) == 0 || string(value) == "null"
}

// setHeader finds the columns of the wanted fields. If two columns have one name, the last one counts, as in
// JSON.
func (d *csvDecoder) setHeader(header []byte) error {
	names, err := d.readHeader(header)
	if err != nil {
		return fmt.Errorf("the first record, which names the fields: %w", err)
	}
	d.header, d.names = bytes.Clone(header), slices.Clone(names)
	column := map[string]int{}
	for i, name := range names {
		column[name] = i
	}
	at := func(name string) int {
		if i, is := column[name]; is {
			return i
		}
		return -1
	}
	d.id, d.texts, d.others, d.feature = at(d.fields.ID), d.texts[:0], d.others[:0], -1
	if d.fields.Features != "" {
		d.feature = at(d.fields.Features)
	}
	for _, name := range d.fields.Texts {
		d.texts = append(d.texts, at(name))
	}
	for _, name := range d.fields.Others {
		d.others = append(d.others, at(name))
	}
	return nil
}

// readHeader cuts the record that names the fields.
func (d *csvDecoder) readHeader(header []byte) ([]string, error) {
	d.reader.Comma = rune(d.separator.in(header))
	return d.read(header)
}

// read cuts a record into its fields, which are valid until the next call.
func (d *csvDecoder) read(record []byte) ([]string, error) {
	d.content.Reset(record)
	d.buffer.Reset(&d.content)
	begin := d.reader.InputOffset()
	values, err := d.reader.Read()
	if fault, is := errors.AsType[*csv.ParseError](err); is {
		return nil, fmt.Errorf("malformed record: %w", fault.Err)
	}
	if read := d.reader.InputOffset() - begin; err == nil && len(bytes.TrimRight(record[read:], "\r\n")) > 0 {
		return nil, errMixedEnds
	}
	return values, err
}

// errMixedEnds is what is wrong with a record that holds another line end outside of quotes: nobody can tell which is meant.
var errMixedEnds = errors.New("lines end with a carriage return in one place and with a line feed in another: write the file with one kind of line ends")

// missingField says that a file has none of the wanted fields.
func missingField(wanted, names []string) error {
	return corpus.MissingField(fmt.Sprintf("no field %s: there are %s", quoted(wanted), quoted(names)))
}

// quoted lists the first names.
func quoted(names []string) string {
	const most = 20
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.64q", name)
	}
	if len(names) > most {
		fmt.Fprintf(&b, " and %d more", len(names)-most)
	}
	return b.String()
}
