package formats

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

func init() {
	corpus.Register(corpus.Definition{
		Format:     corpus.Parquet,
		Name:       "parquet",
		HasFields:  true,
		CopyEnding: "parquet",
		Endings:    []string{".parquet", ".pq"},
		Magics:     []string{"PAR1"},
		IsBinary:   true,
		Source: func(l corpus.Limits, w corpus.Wanted) corpus.Source {
			return &parquetSource{wanted: w, limits: l}
		},
		Decoder: func(w corpus.Wanted) corpus.Decoder {
			return &parquetDecoder{
				fields: w.Fields,
				reader: corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures},
			}
		},
		Parts:    parquetParts,
		CopyRows: copyParquet,
		Annotatable: func(file *corpus.File, w corpus.Wanted) error {
			return withParquet(file, nil, func(p *parquetfile.File) error { return p.Annotatable(w.Columns) })
		},
		Cuttable: func(file *corpus.File, w corpus.Wanted) error {
			return withParquet(file, nil, func(p *parquetfile.File) error { return p.Cuttable(w.Fields.Texts[0]) })
		},
	})
}

func copyParquet(file *corpus.File, limits corpus.Limits, out io.Writer,
	rows corpus.RowCopy,
) (copied int64, err error) {
	err = withParquet(file, limits.Ahead, func(p *parquetfile.File) error {
		p.Limit(limits.Memory, limits.HoldWindow)
		p.Lost = rows.Lost
		switch {
		case rows.Annotations != nil:
			copied, err = p.Annotate(out, rows.Keep, rows.Annotations)
		case rows.Cuts != nil:
			copied, err = p.Cut(out, rows.Keep, rows.Text, rows.Cuts)
		default:
			copied, err = p.Copy(out, rows.Keep)
		}
		if err != nil {
			err = fmt.Errorf("copy rows of %s: %w", file.Path, err)
		}
		return err
	})
	return copied, err
}

func withParquet(file *corpus.File, ahead *corpus.Ahead, use func(*parquetfile.File) error) error {
	handle, err := ahead.Open(file)
	if err != nil {
		return err
	}
	defer handle.Close() // a file that was only read
	p, err := parquetfile.Open(handle, file.Size)
	if err != nil {
		return fmt.Errorf("read input %s: %w", file.Path, err)
	}
	return use(p)
}

// columnsOf returns the columns that a decoder needs: first the texts, then the features, then the id, then the others.
func columnsOf(fields *corpus.Fields) (columns []string) {
	if fields.HasTexts() {
		columns = slices.Clone(fields.Texts)
	}
	if fields.Features != "" {
		columns = append(columns, fields.Features)
	}
	if fields.ID != "" {
		columns = append(columns, fields.ID)
	}
	return append(columns, fields.Others...)
}

type parquetFile struct {
	handle storage.File
	*parquetfile.File
	columns parquetfile.Columns
	header  []byte // has the form of each wanted column
	there   int    // how many columns of the file they are
}

// openParquet opens a file. Missing columns are left out if the file has any of the texts, or else the features.
func openParquet(file *corpus.File, wanted corpus.Wanted, ahead *corpus.Ahead) (_ *parquetFile, err error) {
	p := &parquetFile{}
	if p.handle, err = ahead.Open(file); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.handle.Close() // a close after reads loses nothing
		}
	}()
	if p.File, err = parquetfile.Open(p.handle, file.Size); err != nil {
		return nil, err
	}
	there, header, err := choose(p.File, &wanted.Fields)
	if err != nil {
		return nil, err
	}
	p.there, p.header = len(there), header
	p.columns, err = p.Columns(there...)
	return p, err
}

type columnar interface {
	Field(path string) (parquetfile.Field, error)
}

// choose returns the columns of a file that hold the wanted fields, and the form of each field. Missing fields are left
// out, if the file has any of the texts or, in their place, the features.
func choose(file columnar, fields *corpus.Fields) (columns []string, header []byte, err error) {
	var missing error
	features := 0                 // the place of the features, behind the texts
	needed, hasNeeded := 1, false // the first fields; one of them must be there
	if fields.HasTexts() {
		features, needed = len(fields.Texts), len(fields.Texts)
	}
	for i, path := range columnsOf(fields) {
		found, f, err := find(file, path, fields.Features != "" && i == features)
		if _, isMissing := errors.AsType[*parquetfile.FieldError](err); isMissing {
			header = append(header, byte(absent))
			if missing == nil {
				missing = err
			}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		header, columns = append(header, byte(f)), append(columns, found...)
		hasNeeded = hasNeeded || i < needed
	}
	if !hasNeeded {
		return nil, nil, missing
	}
	return columns, header, nil
}

func parquetParts(file *corpus.File, wanted corpus.Wanted) ([]corpus.Part, error) {
	p, err := openParquet(file, wanted, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	defer p.handle.Close() // a close after reads loses nothing
	parts := make([]corpus.Part, 0, len(p.Groups())+1)
	for number, group := range p.Groups() {
		parts = append(parts, corpus.Part{Start: group.First, Bytes: corpus.Inflation * p.columns.Bytes(number)})
	}
	return append(parts, corpus.Part{Start: p.Rows()}), nil
}

type parquetSource struct {
	wanted corpus.Wanted
	limits corpus.Limits
	input  corpus.File
	number int
	file   *parquetFile
	rest   []int // row groups still to come
	cursor *parquetfile.Cursor
}

func (p *parquetSource) Reset(file corpus.File, s corpus.Stretch) (err error) {
	if err := p.Close(); err != nil {
		return err
	}
	if p.file, err = openParquet(&file, p.wanted, p.limits.Ahead); err != nil {
		return fmt.Errorf("open input %s: %w", file.Path, err)
	}
	p.file.Limit(p.limits.Memory, p.limits.HoldWindow)
	p.input, p.number, p.rest = file, s.File, p.rest[:0]
	for number, group := range p.file.Groups() {
		if group.First >= s.Start && group.First < s.End {
			p.rest = append(p.rest, number)
		}
	}
	return nil
}

// Next reads rows of one row group. If the group is damaged, a reject stands for the rest of it.
func (p *parquetSource) Next(buffer []byte) (corpus.Batch, error) {
	b := corpus.Batch{File: p.number, Format: corpus.Parquet, Header: p.file.header}
	for len(p.rest) > 0 || p.cursor != nil {
		if p.cursor == nil {
			p.cursor = p.file.columns.Read(p.rest[0])
			p.rest = p.rest[1:]
		}
		data, err := p.cursor.Append(buffer[:0], corpus.BatchBytes)
		damage, isDamaged := errors.AsType[*parquetfile.GroupError](err)
		long, isLong := errors.AsType[*parquetfile.RowError](err)
		switch {
		case err == nil:
			return framed(b, data, p.file.there), account(&p.limits, data)
		case isLong:
			b.Rejects = []corpus.Reject{{
				Position: long.Row,
				Message:  corpus.TooLong("row", long.Bytes, long.Limit, "memory"),
			}}
			return b, nil
		case err == io.EOF:
			p.closeCursor()
		case isDamaged:
			p.closeCursor()
			b.Rejects = []corpus.Reject{{
				Position: damage.First,
				Message: fmt.Sprintf("the rows from %d on, %d of them, are lost: %v", damage.First, damage.Rows,
					damage),
				Damage: true,
			}}
			return b, nil
		default:
			return b, fmt.Errorf("read input %s: %w", p.input.Path, err)
		}
	}
	return b, p.input.End(p.file.handle)
}

// account counts rows that were read, and waits for the right to hold a long one.
func account(limits *corpus.Limits, data []byte) error {
	if limits.Expand != nil {
		if err := limits.Expand(int64(len(data))); err != nil {
			return err
		}
	}
	if len(data) > corpus.LongLine && limits.Hold != nil {
		return limits.Hold()
	}
	return nil
}

func framed(b corpus.Batch, data []byte, columns int) corpus.Batch {
	b.Data = data
	for number, row := range parquetfile.Stretches(data, columns) {
		b.Frames = append(b.Frames, corpus.Frame{Position: number, Start: row.Start, End: row.End})
	}
	return b
}

func (p *parquetSource) closeCursor() {
	if p.cursor != nil {
		p.cursor.Close()
		p.cursor = nil
	}
}

func (p *parquetSource) Close() error {
	p.closeCursor()
	if p.file == nil {
		return nil
	}
	handle := p.file.handle
	p.file = nil
	if err := handle.Close(); err != nil {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}

type parquetDecoder struct {
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
func (d *parquetDecoder) Decode(header, raw []byte) (r corpus.Record, err error) {
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

func (d *parquetDecoder) text(cell *parquetfile.Cell) []byte {
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

// valueKinds are the kinds of texts in columns that are no texts.
var valueKinds = map[form]corpus.ValueKind{numbers: corpus.NumberValue, binary: corpus.BinaryValue}

// find returns the columns of a wanted field, which holds features if isFeatures is set, and its form.
func find(file columnar, path string, isFeatures bool) ([]string, form, error) {
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

// isThere reports whether a path leads to several columns, and not to none.
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
