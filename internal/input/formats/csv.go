package formats

import (
	"bytes"
	"fmt"

	"mirrorbeam.dev/internal/input/corpus"
)

func init() {
	corpus.Register(separated(corpus.CSV, "csv", func(w corpus.Wanted) dialect {
		return dialectOf(w.Dialect, 0, '"')
	}, ".csv"))
	corpus.Register(separated(corpus.TSV, "tsv", func(w corpus.Wanted) dialect {
		return dialectOf(w.Dialect, '\t', 0)
	}, ".tsv", ".tab"))
}

// separated is the format of records with a character between cells. The first record names the fields.
func separated(f corpus.Format, name string, by func(corpus.Wanted) dialect, endings ...string) corpus.Definition {
	return corpus.Definition{
		Format:    f,
		Name:      name,
		Endings:   endings,
		HasFields: true,
		IsTable:   true,
		Charset:   corpus.AnyCharset,
		Source: func(l corpus.Limits, w corpus.Wanted) corpus.Source {
			return newFramedSource(l, f, &csvFraming{
				format: f,
				wanted: by(w),
				skip:   w.SkipLines,
				header: newCSVDecoder(w, by(w)),
			})
		},
		Decoder: func(w corpus.Wanted) corpus.Decoder { return newCSVDecoder(w, by(w)) },
		FieldNames: func(w corpus.Wanted, header, _ []byte) []string {
			return newCSVDecoder(w, by(w)).readHeader(header)
		},
		Annotator: func(w corpus.Wanted) corpus.Annotator {
			return &csvAnnotator{decoder: newCSVDecoder(w, by(w)), columns: w.Columns}
		},
		Cutter: func(w corpus.Wanted) corpus.Cutter {
			return &csvCutter{decoder: newCSVDecoder(corpus.Wanted{Fields: corpus.Fields{Texts: w.Fields.Texts}},
				by(w))}
		},
	}
}

// csvFraming cuts a file into records. A quoted field may hold line feeds. So the end of a record is known
// only to a reader that begins at the beginning of the file.
type csvFraming struct {
	format  corpus.Format
	wanted  dialect
	skip    int         // lines before the header
	header  *csvDecoder // of the current file
	dialect             // of the current file
	skips   bool        // the current line is the rest of a reject
	newline byte        // ends a line: a line feed, or a carriage return if the first record ends with that alone
}

// begin finds the first non-empty record, which names the fields, with a line before it that names the delimiter.
func (c *csvFraming) begin(s *framedSource, content []byte) (header []byte, used int, err error) {
	data := bytes.TrimPrefix(content, []byte(corpus.ByteOrderMark))
	for range c.skip {
		data = data[min(nextByte(data, 0, '\n')+1, len(data)):]
	}
	c.skips, c.dialect = false, c.wanted.in(data)
	_, start := namedComma(data)
	c.newline = c.lineEnd(data[start:], s.stream.Ended)
	end, _ := c.recordEnd(data[start:], c.newline)
	for end > 0 && isEmptyLine(data[start:start+end]) {
		data, start = data[start+end:], 0
		end, _ = c.recordEnd(data, c.newline)
	}
	switch {
	case end < 0 && s.stream.Ended:
		end = len(data)
	case end < 0:
		return nil, 0, fmt.Errorf(
			"read input %s: the first record, which names the fields, is longer than %d bytes: is the file %v?",
			s.path, corpus.BatchBytes, c.format)
	default:
		end += start
	}
	header = data[:end]
	_ = c.header.setHeader(header) // each record has the fault
	return header, len(content) - len(data) + end, nil
}

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
		length, isOpen := c.recordEnd(data[at:], c.newline)
		switch {
		case length < 0 && !s.stream.Ended && int64(len(data)-at) <= s.limits.Line:
			return at
		case length < 0 && s.stream.IsCut:
			return len(data) // the fault of the stream stands for this record
		case length < 0 && s.stream.Ended && !isOpen:
			length = len(data) - at // the last record of a file may lack its line feed
		}
		lines := 0
		if length >= 0 && int64(length) <= s.limits.Line {
			lines = c.header.swallowed(data[at:at+length], c.newline)
		}
		if length >= 0 && int64(length) <= s.limits.Line && lines == 0 {
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
		message := fmt.Sprintf(
			"the record has a quote that is not closed, or more than the %d bytes that %s allows for", s.limits.Line,
			s.limits.Setting())
		if lines > 0 {
			message = fmt.Sprintf(
				"the record has a quoted field of %d lines, each of which is a record: its quote is not closed, "+
					"or --quote none is meant", lines)
		}
		s.reject(start+int64(at), message+": the next line is taken for another record")
		if lines == 0 && s.stream.Ended && data[len(data)-1] != c.newline {
			s.cutShort()
		}
		end = at + line
	}
	return end
}

func isEmptyLine(record []byte) bool {
	return len(bytes.TrimSuffix(bytes.TrimSuffix(record, []byte("\n")), []byte("\r"))) == 0
}

// lineEnd returns the byte that ends the first record of a file that begins with data. It is a carriage return if that
// ends the record, and no line feed follows it. IsAll says that data is the whole file.
func (d *dialect) lineEnd(data []byte, isAll bool) byte {
	feed, _ := d.recordEnd(data, '\n')
	for end := 0; ; {
		next, _ := d.recordEnd(data[end:], '\r')
		if end += next; next < 0 || feed >= 0 && end >= feed-1 {
			return '\n'
		}
		if end == len(data) && isAll || end < len(data) && data[end] != '\r' {
			return '\r'
		}
	}
}

type csvAnnotator struct {
	decoder *csvDecoder
	columns []string
	dialect        // of a file with the header
	clash   string // a column that the header names
}

func (c *csvAnnotator) reset(header []byte) {
	if c.comma != 0 && bytes.Equal(header, c.decoder.header) {
		return
	}
	names := c.decoder.readHeader(header)
	c.decoder.header, c.dialect = bytes.Clone(header), c.decoder.dialect
	c.clash = corpus.Clash(c.columns, names)
}

func (c *csvAnnotator) Clash(header, _ []byte) string {
	c.reset(header)
	return c.clash
}

func (c *csvAnnotator) Header(b, header []byte) []byte {
	c.reset(header)
	var names []string
	for _, column := range corpus.ColumnsNamed(c.columns) {
		names = append(names, column.Name)
	}
	return c.append(b, header, names)
}

func (c *csvAnnotator) Record(b, record []byte, a corpus.Annotation) []byte {
	var cells []string
	for _, column := range corpus.ColumnsNamed(c.columns) {
		cells = append(cells, fmt.Sprint(column.Of(&a)))
	}
	return c.append(b, record, cells)
}

func (c *csvAnnotator) append(b, record []byte, cells []string) []byte {
	c.reset(c.decoder.header)
	content := bytes.TrimRight(record, "\r\n")
	b = append(b, content...)
	for _, cell := range cells {
		b = append(b, c.comma)
		b = c.appendCell(b, cell)
	}
	return append(b, record[len(content):]...)
}
