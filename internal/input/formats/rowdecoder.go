package formats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

type rowDecoder struct {
	fields corpus.Fields
	reader corpus.FeatureReader
	cells  []parquetfile.Cell
	texts  [][]byte
	others [][]byte
	joined []byte // texts of lists, joined

	features, weights [][]byte
}

type rowRest struct {
	header []byte // the forms of the columns
	cells  []parquetfile.Cell
}

// next returns the cell of the next column and the form of the column, nil if the file lacks it.
func (r *rowRest) next() (*parquetfile.Cell, form) {
	f := form(r.header[0])
	r.header = r.header[1:]
	if f == absent {
		return nil, f
	}
	return r.cell(), f
}

func (r *rowRest) cell() *parquetfile.Cell {
	cell := &r.cells[0]
	r.cells = r.cells[1:]
	return cell
}

// Decode reads one row. Header has the forms of the columns. Strings of a list are joined by line ends.
func (d *rowDecoder) Decode(header, raw []byte) (r corpus.Record, err error) {
	d.cells = parquetfile.CutRow(d.cells[:0], raw)
	d.texts, d.others, d.joined = d.texts[:0], d.others[:0], d.joined[:0]
	rest := rowRest{header, d.cells}
	if d.fields.HasTexts() {
		found := false
		for i := range d.fields.Texts {
			cell, f := rest.next()
			if kind, is := valueKinds[f]; is && i == 0 {
				r.TextKind = kind
			}
			text := d.text(cell)
			found = found || text != nil
			d.texts = append(d.texts, text)
		}
		if !found {
			return corpus.Record{}, corpus.NoText(fmt.Sprintf("field %.64q is null: a document needs a text there",
				d.fields.Texts[0]))
		}
		r.Texts = d.texts
	}
	if d.fields.Features != "" {
		if r.Features, err = d.readFeatures(&rest); err != nil {
			return corpus.Record{}, err
		}
	}
	if d.fields.ID != "" {
		if cell, f := rest.next(); cell != nil {
			r.ID, _ = cell.Value()
			r.HasID, r.IsInteger = len(r.ID) > 0, f == numbers && corpus.IsInteger(r.ID)
		}
	}
	for range d.fields.Others {
		cell, _ := rest.next()
		d.others = append(d.others, d.text(cell))
	}
	r.Others = d.others
	return r, nil
}

func (d *rowDecoder) text(cell *parquetfile.Cell) []byte {
	switch {
	case cell == nil || cell.Len() == 0:
		return nil
	case cell.Len() == 1:
		text, _ := cell.Value()
		return text
	}
	start, isFirst := len(d.joined), true
	for part := range cell.All() {
		d.joined, isFirst = corpus.AppendJoined(d.joined, part, isFirst), false
	}
	return d.joined[start:len(d.joined):len(d.joined)]
}

type form byte

const (
	absent        form = iota
	plain              // one column, whose texts are features in JSON if it is the one of the features
	numbers            // one column of whole numbers
	names              // features: a list of strings
	hashes             // features: a list of whole numbers
	weighed            // features: a map from strings to their weights
	weighedHashes      // features: a map from whole numbers to their weights
	binary             // one column of bytes that need not be texts
)

var valueKinds = map[form]corpus.ValueKind{numbers: corpus.NumberValue, binary: corpus.BinaryValue}

// find returns the columns of a wanted field, which holds features if isFeatures is set, and its form.
func find(file table, path string, isFeatures bool) ([]string, form, error) {
	field, err := file.Field(path)
	if !isFeatures {
		if err == nil && !field.Repeated && isWhole(field) {
			return []string{path}, numbers, nil
		}
		if err == nil && strings.HasPrefix(field.Type, "binary") {
			return []string{path}, binary, nil
		}
		return []string{path}, plain, err
	}
	key, weight := path+".key", path+".value"
	if keys, err := file.Field(key); err == nil && keys.Repeated {
		f, err := formOf(keys, weighed, weighedHashes)
		if err == nil {
			_, err = file.Field(weight)
		}
		return []string{key, weight}, f, err
	}
	if fault, is := errors.AsType[*parquetfile.FieldError](err); is && isThere(fault) {
		// It is there, so a document without features would be wrong.
		return nil, absent, fmt.Errorf(
			"%v: features are a JSON text, a list of strings or whole numbers, or a map from these to weights",
			fault)
	}
	f := plain
	if err == nil && field.Repeated {
		f, err = formOf(field, names, hashes)
	}
	return []string{path}, f, err
}

func isThere(fault *parquetfile.FieldError) bool {
	return fault.Many || slices.ContainsFunc(fault.There, func(path string) bool {
		return strings.HasPrefix(path, fault.Path+".")
	})
}

// formOf returns the form of a column of many features: ofStrings or ofNumbers.
func formOf(field parquetfile.Field, ofStrings, ofNumbers form) (form, error) {
	switch {
	case field.Type == "string", field.Type == "binary", field.Type == "enum":
		return ofStrings, nil
	case isWhole(field):
		return ofNumbers, nil
	}
	return absent, fmt.Errorf(
		"field %.64q has values of the type %s: features are strings, or whole numbers, which are their hashes",
		field.Path, field.Type)
}

func isWhole(field parquetfile.Field) bool {
	digits, isSigned := strings.CutPrefix(strings.TrimPrefix(field.Type, "u"), "int")
	_, err := strconv.Atoi(digits)
	return isSigned && err == nil
}

// readFeatures reads the features of a row. A document with texts may have none.
func (d *rowDecoder) readFeatures(rest *rowRest) ([]corpus.Feature, error) {
	cell, f := rest.next()
	switch f {
	case absent:
		return nil, nil // the file has texts, or it would have been refused
	case plain:
		value, isThere := cell.Value()
		switch {
		case d.fields.Beside && (!isThere || isNone(value)):
			return nil, nil
		case !isThere:
			return nil, fmt.Errorf("field %.64q is null: a document needs an array or an object of features there",
				d.fields.Features)
		}
		return d.reader.JSON(value)
	}
	d.features = slices.AppendSeq(d.features[:0], cell.All())
	areHashes := f == hashes || f == weighedHashes
	if f == names || f == hashes {
		return d.reader.Values(d.features, areHashes, nil)
	}
	d.weights = slices.AppendSeq(d.weights[:0], rest.cell().All())
	if d.weights == nil {
		d.weights = [][]byte{} // nil would stand for no weights
	}
	return d.reader.Values(d.features, areHashes, d.weights)
}
