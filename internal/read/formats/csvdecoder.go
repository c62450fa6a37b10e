package formats

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam/internal/read/corpus"
)

// csvDecoder takes fields out of records. It is not for concurrent use.
type csvDecoder struct {
	fields corpus.Fields
	comma  rune

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

func newCSVDecoder(w corpus.Wanted, comma byte) *csvDecoder {
	d := &csvDecoder{fields: w.Fields, comma: rune(comma), bytes: []byte{}, found: corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures}} // an empty value is not nil
	d.buffer = bufio.NewReaderSize(&d.content, readBuffer)
	d.reader = csv.NewReader(d.buffer) // takes a buffer of that size as it is
	d.reader.Comma, d.reader.FieldsPerRecord, d.reader.ReuseRecord = d.comma, -1, true
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
		r.HasID = len(r.ID) > 0
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
	names, err := d.read(header)
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
