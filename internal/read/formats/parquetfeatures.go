package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/parquetfile"
)

// form says how a Parquet file has a wanted column.
type form byte

const (
	absent        form = iota
	plain              // one column, whose texts are features in JSON if it is the one of the features
	names              // features: a list of strings
	hashes             // features: a list of whole numbers
	weighed            // features: a map from strings to their weights
	weighedHashes      // features: a map from whole numbers to their weights
)

// find returns the columns of the file that a wanted column is, and its form. IsFeatures says that features are wanted of it.
func (p *parquetFile) find(path string, isFeatures bool) ([]string, form, error) {
	if !isFeatures {
		_, err := p.Columns(path)
		return []string{path}, plain, err
	}
	key, weight := path+".key", path+".value"
	if field, err := p.Field(key); err == nil && field.Repeated {
		f, err := formOf(field, weighed, weighedHashes)
		if err == nil {
			_, err = p.Columns(key, weight)
		}
		return []string{key, weight}, f, err
	}
	field, err := p.Field(path)
	if fault, is := errors.AsType[*parquetfile.FieldError](err); is && isThere(fault) {
		// It is there, so a document without features would be wrong.
		return nil, absent, fmt.Errorf("%v: features are a JSON text, a list of strings or whole numbers, or a map from these to weights", fault)
	}
	if err != nil {
		return nil, absent, err
	}
	f := plain
	if field.Repeated {
		f, err = formOf(field, names, hashes)
	}
	if err == nil {
		_, err = p.Columns(path)
	}
	return []string{path}, f, err
}

// isThere reports whether a path leads to several columns, and not to none.
func isThere(fault *parquetfile.FieldError) bool {
	return fault.Many || slices.ContainsFunc(fault.There, func(path string) bool { return strings.HasPrefix(path, fault.Path+".") })
}

// formOf returns the form of a column of many features: ofStrings or ofNumbers.
func formOf(field parquetfile.Field, ofStrings, ofNumbers form) (form, error) {
	switch {
	case field.Type == "string", field.Type == "binary", field.Type == "enum":
		return ofStrings, nil
	case strings.HasPrefix(field.Type, "int"), strings.HasPrefix(field.Type, "uint"):
		return ofNumbers, nil
	}
	return absent, fmt.Errorf("field %.64q has values of the type %s: features are strings, or whole numbers, which are their hashes", field.Path, field.Type)
}

// readFeatures reads the features of a row. A document with texts may have none.
func (d *parquetDecoder) readFeatures(rest *rowRest) ([]corpus.Feature, error) {
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
			return nil, fmt.Errorf("field %.64q is null: a document needs an array or an object of features there", d.fields.Features)
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
