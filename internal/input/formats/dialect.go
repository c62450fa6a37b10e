package formats

import (
	"bytes"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
)

// dialect says how records are cut into cells. Comma 0 means what the header shows; quote and escape 0 mean none.
type dialect struct{ comma, quote, escape byte }

// dialectOf returns the dialect that a user wants, given the usual comma and quote of the format.
func dialectOf(w corpus.Dialect, usualComma, usualQuote byte) dialect {
	d := dialect{comma: w.Delimiter, quote: w.Quote, escape: w.Escape}
	if usualComma != 0 {
		d.comma = usualComma
	}
	switch w.Quote {
	case 0:
		d.quote = usualQuote
	case corpus.NoQuote:
		d.quote = 0
	}
	return d
}

// delimiters are what may stand between cells, the most likely one first.
const delimiters = ",;\t|"

// in returns the dialect of a file whose content begins with its header. Excel names the delimiter in a line before it.
// Otherwise, of several that the header may have it is the most frequent one.
func (d dialect) in(content []byte) dialect {
	named, begin := namedComma(content)
	switch {
	case d.comma != 0:
		return d
	case begin > 0:
		d.comma = named
		return d
	}
	d.comma = delimiters[0]
	most := 0
	for _, c := range []byte(delimiters) {
		if n := d.count(bytes.TrimLeft(content, "\r\n"), c); n > most {
			d.comma, most = c, n
		}
	}
	return d
}

// namedComma returns the delimiter that a first line such as sep=; names, 0 for none, and where the second line begins.
func namedComma(content []byte) (comma byte, begin int) {
	const start = "sep="
	line, _, _ := bytes.Cut(content, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) != len(start)+1 || !strings.EqualFold(string(line[:len(start)]), start) {
		return 0, 0
	}
	return line[len(start)], min(bytes.IndexByte(content, '\n')+1, len(content))
}

func (d dialect) count(content []byte, comma byte) (n int) {
	isStart, isQuoted := true, false // of a cell
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case isQuoted && c == d.quote && i+1 < len(content) && content[i+1] == d.quote:
			i++
		case isQuoted:
			isQuoted = c != d.quote
		case c == d.quote && d.quote != 0 && isStart:
			isQuoted, isStart = true, false
		case strings.IndexByte(delimiters, c) >= 0:
			isStart = true
			if c == comma {
				n++
			}
		case c == '\n' || c == '\r':
			return n
		default:
			isStart = isStart && c == ' '
		}
	}
	return n
}

type cell struct {
	// begin and end are where its content is, without quotes. Next is where the delimiter or the line end behind it is,
	// or the end of the data.
	begin, end, next int
	isQuoted         bool
	// isEscaped says that the content has quotes behind backslashes, whatever the dialect says.
	isEscaped bool
	fault     cellFault
}

type cellFault uint8

const (
	sound    cellFault = iota
	unclosed           // its quote is not closed
	goesOn             // something follows its closing quote
)

// cell returns the cell that begins at an index. Line is where the first line end at or behind it is. Blanks before a
// quote do not count, if the cell is well-formed then.
func (d *dialect) cell(data []byte, from, line int, newline byte) cell {
	at := from
	for d.quote != 0 && at < line && data[at] == ' ' {
		at++
	}
	if d.quote != 0 && at < len(data) && data[at] == d.quote {
		if c := d.quoted(data, at, newline); at == from || c.fault != goesOn {
			return c
		}
	}
	end := from
	for {
		n := bytes.IndexByte(data[end:line], d.comma)
		switch {
		case n < 0 && line < len(data) && d.isEscaped(data[from:line]):
			end, line = line+1, nextByte(data, line+1, newline)
			continue
		case n >= 0 && d.isEscaped(data[from:end+n]):
			end += n + 1
			continue
		case n >= 0:
			return cell{begin: from, end: end + n, next: end + n}
		}
		break
	}
	end = line
	if newline == '\n' && end > from && data[end-1] == '\r' {
		end--
	}
	return cell{begin: from, end: end, next: line}
}

// quoted returns the cell whose opening quote is at an index. A quote closes it if the cell ends there. Another one is
// content if a backslash precedes it, as in MySQL, and one before the end of the cell if the cell has had such a quote.
func (d *dialect) quoted(data []byte, at int, newline byte) cell {
	c := cell{begin: at + 1, isQuoted: true}
	for i := at + 1; ; {
		n := bytes.IndexByte(data[i:], d.quote)
		if n < 0 {
			c.end, c.next, c.fault = len(data), len(data), unclosed
			return c
		}
		i += n
		hasBackslash := d.escape == 0 && isBehind(data[c.begin:i], '\\')
		switch {
		case d.isEscaped(data[c.begin:i]), hasBackslash && c.isEscaped:
			i++
			continue
		case i+1 < len(data) && data[i+1] == d.quote:
			i += 2
			continue
		}
		next, isEnd := d.endOf(data, i+1, newline)
		if !isEnd && hasBackslash {
			c.isEscaped = true
			i++
			continue
		}
		c.end, c.next = i, next
		if !isEnd {
			c.fault, c.next = goesOn, i+1+len(data[i+1:nextByte(data, i+1, newline)])
			if comma := bytes.IndexByte(data[i+1:c.next], d.comma); comma >= 0 {
				c.next = i + 1 + comma
			}
		}
		return c
	}
}

// endOf reports whether a cell ends behind its closing quote, and where. Blanks may follow the quote.
func (d *dialect) endOf(data []byte, at int, newline byte) (next int, isEnd bool) {
	for at < len(data) && data[at] == ' ' && d.comma != ' ' {
		at++
	}
	if newline == '\n' && bytes.HasPrefix(data[at:], []byte("\r\n")) || string(data[at:]) == "\r" {
		at++
	}
	return at, at == len(data) || data[at] == d.comma || newline != 0 && data[at] == newline
}

func (d *dialect) isEscaped(content []byte) bool {
	return d.escape != 0 && d.escape != d.quote && isBehind(content, d.escape)
}

func isBehind(content []byte, mark byte) bool {
	return (len(content)-len(bytes.TrimRight(content, string(rune(mark)))))%2 == 1
}

// nextByte returns where a byte is, from an index on, or the end of the data.
func nextByte(data []byte, from int, b byte) int {
	if n := bytes.IndexByte(data[from:], b); n >= 0 {
		return from + n
	}
	return len(data)
}

// appendContent appends what a cell says: without escapes, and with one quote for two. As for encoding/csv a line in
// quotes ends with a line feed alone.
func (d *dialect) appendContent(b, data []byte, c cell) []byte {
	content := data[c.begin:c.end]
	marks := d.escape
	if c.isEscaped {
		marks = '\\'
	}
	if isPlain := !c.isQuoted && marks == 0; isPlain {
		return append(b, content...)
	}
	for i := 0; i < len(content); i++ {
		switch follows := i+1 < len(content); {
		case c.isQuoted && content[i] == '\r' && follows && content[i+1] == '\n':
			continue
		case c.isEscaped && content[i] == marks && follows && content[i+1] == d.quote,
			!c.isEscaped && marks != 0 && content[i] == marks && follows,
			c.isQuoted && content[i] == d.quote && follows && content[i+1] == d.quote:
			i++
		}
		b = append(b, content[i])
	}
	return b
}

// recordEnd returns the end of the record at the beginning of data, behind the byte that ends a line. It returns -1 if
// data ends before the record does. IsOpen then says that data ends within quotes.
func (d *dialect) recordEnd(data []byte, newline byte) (end int, isCut bool) {
	for at, line := 0, -1; ; {
		if line < at {
			line = nextByte(data, at, newline)
		}
		c := d.cell(data, at, line, newline)
		switch {
		case c.fault == unclosed:
			return -1, true
		case c.next >= len(data):
			return -1, false
		case data[c.next] == newline:
			return c.next + 1, false
		}
		at = c.next + 1
	}
}

func (d *dialect) appendCells(cells []cell, record []byte) []cell {
	if record = bytes.TrimSuffix(record, []byte("\n")); len(record) > 0 {
		record = bytes.TrimSuffix(record, []byte("\r"))
	}
	for at := 0; ; {
		c := d.cell(record, at, len(record), 0)
		cells = append(cells, c)
		if at = c.next + 1; c.next >= len(record) {
			return cells
		}
	}
}

func (d *dialect) appendCell(b []byte, content string) []byte {
	if d.escape != 0 && d.escape != d.quote {
		mark := string(rune(d.escape))
		content = strings.ReplaceAll(content, mark, mark+mark)
	}
	if d.quote == 0 || !strings.ContainsAny(content, string([]byte{d.quote, '\r', '\n', d.comma})) {
		return append(b, content...)
	}
	quote := string(rune(d.quote))
	b = append(b, d.quote)
	b = append(b, strings.ReplaceAll(content, quote, quote+quote)...)
	return append(b, d.quote)
}
