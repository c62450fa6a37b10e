package formats

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

type table interface {
	Field(path string) (parquetfile.Field, error)
	Annotatable(columns []string) error
	Cuttable(column string) (number int, err error)
	Copy(out io.Writer, rows corpus.RowCopy) (copied int64, err error)
	Close() error
	// choose chooses the columns that rows reads, parts returns where the file can be cut, and begin goes to a stretch.
	choose(paths []string) error
	parts() []corpus.Part
	begin(stretch corpus.Stretch)
	// rows reads rows into a buffer, for [parquetfile.Stretches]. The error is io.EOF at the end of the stretch, a
	// *[parquetfile.RowError], or a *lost; the next rows may be read after both.
	rows(buffer []byte) ([]byte, error)
}

type openTable func(handle storage.File, file *corpus.File, limits *corpus.Limits) (table, error)

type lost struct {
	first   int64
	message string
}

func (l *lost) Error() string { return l.message }

func newLost(first, rows int64, err error) *lost {
	return &lost{first, fmt.Sprintf("the rows from %d on, %d of them, are lost: %v", first, rows, err)}
}

// ofTables completes the definition of a format whose files are tables.
func ofTables(d corpus.Definition, open openTable) corpus.Definition {
	with := func(file *corpus.File, limits corpus.Limits, use func(table) error) error {
		handle, err := limits.Ahead.Open(file)
		if err != nil {
			return err
		}
		defer handle.Close() // a file that was only read
		t, err := open(handle, file, &limits)
		if err != nil {
			return fmt.Errorf("read input %s: %w", file.Path, err)
		}
		defer t.Close() // the same
		return use(t)
	}
	d.HasFields, d.IsBinary, d.CopyEnding = true, true, d.Name
	d.Source = func(l corpus.Limits, w corpus.Wanted) corpus.Source {
		return &tableSource{format: d.Format, open: open, wanted: w, limits: l}
	}
	d.Decoder = func(w corpus.Wanted) corpus.Decoder {
		return &rowDecoder{
			fields: w.Fields,
			reader: corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures},
		}
	}
	d.Parts = func(file *corpus.File, w corpus.Wanted) ([]corpus.Part, error) {
		s := tableSource{open: open, wanted: w, input: *file}
		if err := s.openFile(); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
		defer s.Close() // a close after reads loses nothing
		return s.table.parts(), nil
	}
	d.CopyRows = func(file *corpus.File, l corpus.Limits, out io.Writer, rows corpus.RowCopy) (n int64, err error) {
		err = with(file, l, func(t table) error {
			if n, err = t.Copy(out, rows); err != nil {
				err = fmt.Errorf("copy rows of %s: %w", file.Path, err)
			}
			return err
		})
		return n, err
	}
	d.Annotatable = func(file *corpus.File, w corpus.Wanted) error {
		return with(file, corpus.Limits{}, func(t table) error { return t.Annotatable(w.Columns) })
	}
	d.Cuttable = func(file *corpus.File, w corpus.Wanted) error {
		return with(file, corpus.Limits{}, func(t table) error {
			_, err := t.Cuttable(w.Fields.Texts[0])
			return err
		})
	}
	return d
}

type tableSource struct {
	format corpus.Format
	open   openTable
	wanted corpus.Wanted
	limits corpus.Limits
	input  corpus.File
	number int
	handle storage.File // nil without a file
	table  table
	header []byte // has the form of each wanted column
	there  int    // how many columns of the file they are
}

func (s *tableSource) Reset(file corpus.File, stretch corpus.Stretch) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.input, s.number = file, stretch.File
	if err := s.openFile(); err != nil {
		return fmt.Errorf("open input %s: %w", file.Path, err)
	}
	s.table.begin(stretch)
	return nil
}

// openFile opens the input. Missing columns are left out if the file has any of the texts, or else the features.
func (s *tableSource) openFile() (err error) {
	if s.handle, err = s.limits.Ahead.Open(&s.input); err != nil {
		return err
	}
	t, err := s.open(s.handle, &s.input, &s.limits)
	if err == nil {
		s.table = t
		var there []string
		if there, s.header, err = choose(t, &s.wanted.Fields); err == nil {
			s.there, err = len(there), t.choose(there)
		}
	}
	if err != nil {
		err = errors.Join(err, s.Close())
	}
	return err
}

// Next reads rows. Damaged rows become a reject.
func (s *tableSource) Next(buffer []byte) (corpus.Batch, error) {
	b := corpus.Batch{File: s.number, Format: s.format, Header: s.header}
	data, err := s.table.rows(buffer)
	gone, isLost := errors.AsType[*lost](err)
	long, isLong := errors.AsType[*parquetfile.RowError](err)
	switch {
	case err == io.EOF:
		return b, s.input.End(s.handle)
	case isLost:
		b.Rejects = []corpus.Reject{{Position: gone.first, Message: gone.message, Damage: true}}
		return b, nil
	case isLong:
		b.Rejects = []corpus.Reject{{
			Position: long.Row,
			Message:  corpus.TooLong("row", long.Bytes, long.Limit, "memory"),
		}}
		return b, nil
	case err != nil:
		return b, fmt.Errorf("read input %s: %w", s.input.Path, err)
	}
	b.Data = data
	for number, row := range parquetfile.Stretches(data, s.there) {
		b.Frames = append(b.Frames, corpus.Frame{Position: number, Start: row.Start, End: row.End})
	}
	if s.limits.Expand != nil {
		err = s.limits.Expand(int64(len(data)))
	}
	if err == nil && len(data) > corpus.LongLine && s.limits.Hold != nil {
		err = s.limits.Hold()
	}
	return b, err
}

func (s *tableSource) Close() (err error) {
	if s.handle == nil {
		return nil
	}
	if s.table != nil {
		err = s.table.Close()
	}
	err = errors.Join(err, s.handle.Close())
	if s.handle, s.table = nil, nil; err != nil {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
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

// choose returns the columns of a file that hold the wanted fields, and the form of each field. Missing fields are left
// out, if the file has any of the texts or, in their place, the features.
func choose(file table, fields *corpus.Fields) (columns []string, header []byte, err error) {
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
