package formats

import (
	"errors"
	"fmt"
	"io"

	"mirrorbeam.dev/internal/input/arrowfile"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

func init() {
	corpus.Register(corpus.Definition{
		Format:     corpus.Arrow,
		Name:       "arrow",
		Help:       "files and streams of Arrow, Feather, data sets that were saved",
		HasFields:  true,
		Endings:    []string{".arrow", ".feather", ".ipc", ".arrows"},
		Magics:     []string{arrowfile.Magic, arrowfile.StreamMagic},
		IsBinary:   true,
		CopyEnding: "arrow",
		Source:     func(l corpus.Limits, w corpus.Wanted) corpus.Source { return &arrowSource{wanted: w, limits: l} },
		Decoder: func(w corpus.Wanted) corpus.Decoder {
			return &parquetDecoder{
				fields: w.Fields,
				reader: corpus.FeatureReader{Field: w.Fields.Features, Most: w.MaxFeatures},
			}
		},
		Parts:    arrowParts,
		CopyRows: copyArrow,
		Annotatable: func(file *corpus.File, w corpus.Wanted) error {
			return withArrow(file, corpus.Limits{}, func(r *arrowfile.Reader) error { return r.Annotatable(w.Columns) })
		},
		Cuttable: func(file *corpus.File, w corpus.Wanted) error {
			return withArrow(file, corpus.Limits{}, func(r *arrowfile.Reader) error {
				return r.Cuttable(w.Fields.Texts[0])
			})
		},
	})
}

func copyArrow(file *corpus.File, limits corpus.Limits, out io.Writer, rows corpus.RowCopy) (copied int64, err error) {
	err = withArrow(file, limits, func(r *arrowfile.Reader) (err error) {
		if limits.HoldWindow != nil {
			release, err := limits.HoldWindow()
			if err != nil {
				return err
			}
			defer release()
		}
		if copied, err = r.Copy(out, rows); err != nil {
			err = fmt.Errorf("copy rows of %s: %w", file.Path, err)
		}
		return err
	})
	return copied, err
}

func withArrow(file *corpus.File, limits corpus.Limits, use func(*arrowfile.Reader) error) error {
	handle, err := limits.Ahead.Open(file)
	if err != nil {
		return err
	}
	defer handle.Close() // a file that was only read
	r, err := arrowfile.Open(handle, file.StoredSize(), limits.Memory)
	if err != nil {
		return fmt.Errorf("read input %s: %w", file.Path, err)
	}
	defer r.Close() // the same
	return use(r)
}

type arrowFile struct {
	handle storage.File
	*arrowfile.Reader
	columns arrowfile.Columns
	header  []byte // has the form of each wanted column
}

// openArrow opens a file. Missing columns are left out if the file has any of the texts, or else the features.
func openArrow(file *corpus.File, wanted corpus.Wanted, limits corpus.Limits) (_ *arrowFile, err error) {
	a := &arrowFile{}
	if a.handle, err = limits.Ahead.Open(file); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.Reader, err = arrowfile.Open(a.handle, file.StoredSize(), limits.Memory); err != nil {
		return nil, err
	}
	there, header, err := choose(a.Reader, &wanted.Fields)
	if err != nil {
		return nil, err
	}
	a.header = header
	a.columns, err = a.Columns(there...)
	return a, err
}

func (a *arrowFile) close() error {
	var err error
	if a.Reader != nil {
		err = a.Reader.Close()
	}
	return errors.Join(err, a.handle.Close())
}

// arrowPart is about the length in bytes from which on batches are a part of their own.
const arrowPart = 4 << 20

// arrowParts returns where a file can be cut: between batches. The file tells of them only one after the other. So a
// file behind a network is not cut, and one that is damaged only before the damage.
func arrowParts(file *corpus.File, wanted corpus.Wanted) ([]corpus.Part, error) {
	a, err := openArrow(file, wanted, corpus.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	defer a.close()                      // a close after reads loses nothing
	if storage.Scheme(file.Path) != "" { // each read of it is a request
		return nil, nil
	}
	parts := []corpus.Part{{}}
	for {
		err := a.Pass()
		if err == io.EOF && len(parts) > 1 {
			return append(parts, corpus.Part{Start: a.FirstRow}), nil
		}
		if err != nil {
			return nil, nil // it is found again when the file is read
		}
		last := &parts[len(parts)-1]
		if last.Bytes >= arrowPart {
			parts = append(parts, corpus.Part{Start: a.FirstRow})
			last = &parts[len(parts)-1]
		}
		last.Bytes += a.BodyBytes()
	}
}

type arrowSource struct {
	wanted  corpus.Wanted
	limits  corpus.Limits
	input   corpus.File
	stretch corpus.Stretch
	file    *arrowFile
	batch   *arrowfile.Values // nil between two batches
	row     int64             // the next one in the batch
	release func()            // gives the right back to hold a large batch
	isOver  bool
}

func (s *arrowSource) Reset(file corpus.File, stretch corpus.Stretch) (err error) {
	if err := s.Close(); err != nil {
		return err
	}
	if s.file, err = openArrow(&file, s.wanted, s.limits); err != nil {
		return fmt.Errorf("open input %s: %w", file.Path, err)
	}
	s.input, s.stretch, s.isOver = file, stretch, false
	return nil
}

func (s *arrowSource) Next(buffer []byte) (corpus.Batch, error) {
	b := corpus.Batch{File: s.stretch.File, Format: corpus.Arrow, Header: s.file.header}
	for !s.isOver {
		if s.batch == nil {
			if reject, err := s.advance(); err != nil {
				return b, err
			} else if reject != nil {
				b.Rejects = []corpus.Reject{*reject}
				return b, nil
			}
			continue
		}
		data, next, err := s.batch.Append(buffer[:0], s.row, corpus.BatchBytes)
		s.row = next
		if len(data) > 0 { // a fault comes again behind these rows
			return framed(b, data, len(s.file.columns)), account(&s.limits, data)
		}
		if long, isLong := errors.AsType[*parquetfile.RowError](err); isLong {
			s.row++
			b.Rejects = []corpus.Reject{{
				Position: long.Row,
				Message:  corpus.TooLong("row", long.Bytes, long.Limit, "memory"),
			}}
			return b, nil
		}
		if err != nil {
			b.Rejects = []corpus.Reject{s.lost(s.file.FirstRow+next, s.file.Rows-next, err)}
		}
		s.drop()
		if err != nil {
			return b, nil
		}
	}
	return b, s.input.End(s.file.handle)
}

// advance reads the next batch of the stretch. A reject stands for one that cannot be read.
func (s *arrowSource) advance() (*corpus.Reject, error) {
	err := s.file.Next()
	first, rows := s.file.FirstRow, s.file.Rows
	switch {
	case err == io.EOF, err == nil && s.input.Parts != nil && first >= s.stretch.End:
		s.isOver = true
		return nil, nil
	case arrowfile.IsDamage(err):
		s.isOver = true
		return &corpus.Reject{
			Position: first,
			Message:  fmt.Sprintf("the rows from %d on are lost: %v", first, err),
			Damage:   true,
		}, nil
	case err == nil && s.input.Parts != nil && first < s.stretch.Start:
		return nil, nil
	}
	if err == nil {
		s.batch, err = s.read()
	}
	if arrowfile.IsDamage(err) {
		reject := s.lost(first, rows, err)
		return &reject, nil
	}
	if err != nil {
		err = fmt.Errorf("read input %s: %w", s.input.Path, err)
	}
	return nil, err
}

// read reads the wanted columns of the batch. One process holds one large batch at a time.
func (s *arrowSource) read() (*arrowfile.Values, error) {
	const large = 16 << 20
	if s.limits.HoldWindow != nil && s.file.BodyBytes() > large {
		release, err := s.limits.HoldWindow()
		if err != nil {
			return nil, err
		}
		s.release = release
	}
	s.row = 0
	read, err := s.file.Values(s.file.columns)
	if err != nil {
		s.drop()
	}
	return read, err
}

func (s *arrowSource) lost(first, rows int64, err error) corpus.Reject {
	return corpus.Reject{
		Position: first,
		Message:  fmt.Sprintf("the rows from %d on, %d of them, are lost: %v", first, rows, err),
		Damage:   true,
	}
}

func (s *arrowSource) drop() {
	if s.batch = nil; s.release != nil {
		s.release()
		s.release = nil
	}
}

func (s *arrowSource) Close() error {
	s.drop()
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	if err := file.close(); err != nil {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}
