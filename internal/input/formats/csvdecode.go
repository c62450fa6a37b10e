package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
)

type csvDecoder struct {
	fields  corpus.Fields
	wanted  dialect
	dialect // of the file with the header

	header  []byte // the header to which id and texts belong
	names   []string
	fault   error // of the header
	id      int   // column of the id; -1 if there is none
	texts   []int // columns of the texts; -1 for a missing one
	feature int   // column of the features; -1 if there is none
	others  []int // columns of the other fields; -1 for a missing one
	cells   []cell
	out     [][]byte
	values  [][]byte // of the other fields
	bytes   []byte   // id, out and values are parts of it
	found   corpus.FeatureReader
}

func newCSVDecoder(w corpus.Wanted, by dialect) *csvDecoder {
	return &csvDecoder{
		fields: w.Fields,
		wanted: by,
		bytes:  []byte{},
		found:  corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures},
	} // an empty value is not nil
}

func (d *csvDecoder) Decode(header, record []byte) (corpus.Record, error) {
	if d.names == nil || !bytes.Equal(header, d.header) {
		d.fault = d.setHeader(header)
	}
	if d.fault != nil {
		return corpus.Record{}, d.fault
	}
	var r corpus.Record
	d.bytes, d.cells = d.bytes[:0], d.appendCells(d.cells[:0], record)
	if err := d.check(record); err != nil {
		return r, err
	}
	take := func(column int) []byte {
		start := len(d.bytes)
		d.bytes = d.appendContent(d.bytes, record, d.cells[column])
		return d.bytes[start:len(d.bytes):len(d.bytes)]
	}
	isNull := func(column int, nulls []string) bool {
		c := d.cells[column]
		return !c.isQuoted && slices.Contains(nulls, string(record[c.begin:c.end]))
	}
	var err error
	if d.fields.HasTexts() {
		if r.Texts, err = d.readTexts(take, isNull); err != nil {
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
		if column < 0 || isNull(column, nullCells) {
			d.values = append(d.values, nil)
			continue
		}
		d.values = append(d.values, take(column))
	}
	r.Others = d.values
	if d.id >= 0 && !isNull(d.id, nullCells) {
		r.ID = take(d.id)
		// a table of text has no types: its readers take such a column for numbers
		r.HasID, r.IsInteger = len(r.ID) > 0, corpus.IsInteger(r.ID)
	}
	return r, nil
}

// nullCells are how programs write null in an unquoted cell, nullTexts all that pandas reads so: no text is only that.
var (
	nullCells = []string{`\N`, "NULL", "null"}
	nullTexts = append([]string{
		"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
		"1.#QNAN", "<NA>", "N/A", "NA", "NaN", "None", "n/a", "nan",
	}, nullCells...)
)

// readTexts returns the texts, which take copies out of their columns.
func (d *csvDecoder) readTexts(take func(column int) []byte,
	isNull func(column int, nulls []string) bool,
) ([][]byte, error) {
	d.out = d.out[:0]
	found := false
	for _, column := range d.texts {
		if column < 0 || isNull(column, nullTexts) {
			d.out = append(d.out, nil)
			continue
		}
		found = true
		d.out = append(d.out, take(column))
	}
	if !found {
		return nil, corpus.NoText(fmt.Sprintf("field %s is null: a document needs a text there",
			quoted(d.fields.Texts)))
	}
	return d.out, nil
}

// readFeatures reads the features, which take copies out of their column. A document with texts may have none.
func (d *csvDecoder) readFeatures(take func(column int) []byte) ([]corpus.Feature, error) {
	if d.feature < 0 {
		return nil, nil // they stand next to texts
	}
	value := take(d.feature)
	if d.fields.Beside && isNone(value) {
		return nil, nil
	}
	return d.found.JSON(value)
}

func isNone(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) == 0 || string(value) == "null"
}

// RepeatedName is the error of a file whose header has a wanted name twice: nobody can tell which column is meant.
type RepeatedName string

func (r RepeatedName) Error() string {
	return fmt.Sprintf("the header names two columns %.64q: rename one", string(r))
}

func (d *csvDecoder) setHeader(header []byte) error {
	d.names = d.readHeader(header)
	d.header = bytes.Clone(header)
	at := func(name string) int { return slices.Index(d.names, name) }
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
	for _, column := range slices.Concat([]int{d.id, d.feature}, d.texts, d.others) {
		if column >= 0 && slices.Contains(d.names[column+1:], d.names[column]) {
			return RepeatedName(d.names[column])
		}
	}
	isThere := func(column int) bool { return column >= 0 }
	switch {
	case d.fields.HasTexts() && !slices.ContainsFunc(d.texts, isThere):
		return missingField(d.fields.Texts, d.names)
	case d.fields.Features != "" && d.feature < 0 && !d.fields.Beside:
		return missingField([]string{d.fields.Features}, d.names)
	}
	return nil
}

func (d *csvDecoder) readHeader(header []byte) []string {
	d.dialect = d.wanted.in(header)
	_, start := namedComma(header)
	names := []string{} // of a file with a header
	for _, c := range d.appendCells(nil, header[start:]) {
		names = append(names, string(d.appendContent(nil, header[start:], c)))
	}
	return names
}

// errMixedEnds is the error of a record with another line end outside quotes: nobody can tell which is meant.
var errMixedEnds = errors.New(
	"lines end with a carriage return in one place and with a line feed in another: " +
		"write the file with one kind of line ends")

func (d *csvDecoder) check(record []byte) error {
	for _, c := range d.cells {
		switch {
		case !c.isQuoted && d.escape == 0 && bytes.IndexByte(record[c.begin:c.end], '\n') >= 0:
			return errMixedEnds
		case c.fault != sound:
			return fmt.Errorf("malformed record: a quoted field continues after its closing quote%s", d.advice(record))
		}
	}
	if len(d.cells) != len(d.names) {
		return fmt.Errorf("the record has %d fields, and the first record names %d%s", len(d.cells), len(d.names),
			d.advice(record))
	}
	return nil
}

// advice names the flag with which a record would have all cells; empty: none is known.
func (d *csvDecoder) advice(record []byte) string {
	for _, other := range []struct {
		flag    string
		dialect dialect
	}{
		{`--escape '\'`, dialect{d.comma, d.quote, '\\'}},
		{"--quote none", dialect{comma: d.comma, escape: d.escape}},
		{`--quote '"'`, dialect{d.comma, '"', d.escape}},
		{`--quote "'"`, dialect{d.comma, '\'', d.escape}},
	} {
		cells := other.dialect.appendCells(nil, record)
		isSound := !slices.ContainsFunc(cells, func(c cell) bool { return c.fault != sound })
		if other.dialect != d.dialect && isSound && len(cells) == len(d.names) {
			return "; with " + other.flag + " it would have as many"
		}
	}
	return ""
}

// swallowed returns the number of lines of a record if each of them is a record by itself, of as many cells and with an
// id of the same form. So is a quoted field whose quote is not closed before the next quote, which may be far behind
// it. 0: the lines are of a text.
func (d *csvDecoder) swallowed(record []byte, newline byte) int {
	first, lines, form := -1, 0, ""
	plain := dialect{comma: d.comma}
	for rest := record; len(rest) > 0; lines++ {
		end := min(nextByte(rest, 0, newline)+1, len(rest))
		line := rest[:end]
		if rest = rest[end:]; lines == 0 && len(rest) == 0 {
			return 0
		}
		d.cells = plain.appendCells(d.cells[:0], line)
		if len(d.cells) != len(d.names) || len(d.names) < 2 {
			return 0
		}
		if d.id < 0 {
			continue
		}
		id := d.cells[d.id]
		of := shapeOf(line[id.begin:id.end])
		if first++; first == 0 {
			form = of
		}
		if of != form || of == "" {
			return 0
		}
	}
	least := 2 // where each line has an id with digits
	switch {
	case d.id < 0 && len(d.names) == 2:
		least = 20
	case !strings.Contains(form, "0"):
		least = 5
	}
	if lines < least {
		return 0
	}
	return lines
}

// shapeOf returns the form of an id: a letter for a word, with a digit if it has one; empty for one with white space.
func shapeOf(id []byte) string {
	var form []byte
	for i, c := range id {
		isDigit := '0' <= c && c <= '9'
		isWord := isDigit || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case c == ' ' || c == '\t':
			return ""
		case !isWord:
			form = append(form, c)
		case i == 0 || len(form) == 0 || form[len(form)-1] != 'a' && form[len(form)-1] != '0':
			form = append(form, 'a')
		}
		if isDigit {
			form[len(form)-1] = '0'
		}
	}
	return string(form)
}

func missingField(wanted, names []string) error {
	return corpus.MissingField(fmt.Sprintf("no field %s: there are %s", quoted(wanted), quoted(names)))
}

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

// csvCutter cuts stretches out of the cell of a text. It leaves the bytes of the other cells as they are.
type csvCutter struct {
	decoder *csvDecoder
	cell    []byte
}

func (c *csvCutter) Cut(b, header, record []byte, cuts []corpus.Cut) ([]byte, error) {
	found, err := c.decoder.Decode(header, record)
	if err != nil {
		return b, err
	}
	c.cell = corpus.AppendCut(c.cell[:0], found.Texts[0], cuts)
	text := c.decoder.cells[c.decoder.texts[0]]
	begin, end := text.begin, text.end
	if text.isQuoted {
		begin, end = begin-1, end+1
	}
	b = c.decoder.appendCell(append(b, record[:begin]...), string(c.cell))
	return append(b, record[end:]...), nil
}
