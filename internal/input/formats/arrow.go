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
	corpus.Register(ofTables(corpus.Definition{
		Format:  corpus.Arrow,
		Name:    "arrow",
		Help:    "files and streams of Arrow, Feather, data sets that were saved",
		Endings: []string{".arrow", ".feather", ".ipc", ".arrows"},
		Magics:  []string{arrowfile.Magic, arrowfile.StreamMagic},
	}, func(handle storage.File, file *corpus.File, limits *corpus.Limits) (table, error) {
		r, err := arrowfile.Open(handle, file.StoredSize(), limits.Memory)
		return &arrowTable{Reader: r, file: file, hold: limits.HoldWindow}, err
	}))
}

type arrowTable struct {
	*arrowfile.Reader
	file    *corpus.File
	hold    func() (release func(), err error) // see [corpus.Limits]
	release func()                             // gives the right back to hold a large batch
	columns arrowfile.Columns
	stretch corpus.Stretch
	batch   *arrowfile.Values // nil between two batches
	row     int64             // the next one in the batch
	isOver  bool
}

func (a *arrowTable) Copy(out io.Writer, rows corpus.RowCopy) (copied int64, err error) {
	if err := a.holdBatch(); err != nil {
		return 0, err
	}
	return a.Reader.Copy(out, rows)
}

func (a *arrowTable) choose(paths []string) (err error) {
	a.columns, err = a.Columns(paths...)
	return err
}

// arrowPart is about the length in bytes from which on batches are a part of their own.
const arrowPart = 4 << 20

// parts returns where a file can be cut: between batches. The file tells of them only one after the other. So a
// file behind a network is not cut, and one that is damaged only before the damage.
func (a *arrowTable) parts() []corpus.Part {
	if storage.Scheme(a.file.Path) != "" { // each read of it is a request
		return nil
	}
	parts := []corpus.Part{{}}
	for {
		err := a.Pass()
		if err == io.EOF && len(parts) > 1 {
			return append(parts, corpus.Part{Start: a.FirstRow})
		}
		if err != nil {
			return nil // it is found again when the file is read
		}
		last := &parts[len(parts)-1]
		if last.Bytes >= arrowPart {
			parts = append(parts, corpus.Part{Start: a.FirstRow})
			last = &parts[len(parts)-1]
		}
		last.Bytes += a.BodyBytes()
	}
}

func (a *arrowTable) begin(stretch corpus.Stretch) { a.stretch = stretch }

func (a *arrowTable) rows(buffer []byte) ([]byte, error) {
	for !a.isOver {
		if a.batch == nil {
			if err := a.advance(); err != nil {
				return nil, err
			}
			continue
		}
		data, next, err := a.batch.Append(buffer[:0], a.row, corpus.BatchBytes)
		a.row = next
		if len(data) > 0 { // a fault comes again behind these rows
			return data, nil
		}
		if _, isLong := errors.AsType[*parquetfile.RowError](err); isLong {
			a.row++
			return nil, err
		}
		a.drop()
		if err != nil {
			return nil, newLost(a.FirstRow+next, a.Rows-next, err)
		}
	}
	return nil, io.EOF
}

// advance reads the wanted columns of the next batch of the stretch. One process holds one large batch at a time.
func (a *arrowTable) advance() error {
	const large = 16 << 20
	err := a.Next()
	switch {
	case err == io.EOF, err == nil && a.file.Parts != nil && a.FirstRow >= a.stretch.End:
		a.isOver = true
		return nil
	case arrowfile.IsDamage(err):
		a.isOver = true
		return &lost{a.FirstRow, fmt.Sprintf("the rows from %d on are lost: %v", a.FirstRow, err)}
	case err == nil && a.file.Parts != nil && a.FirstRow < a.stretch.Start:
		return nil
	}
	if err == nil && a.BodyBytes() > large {
		err = a.holdBatch()
	}
	if a.row = 0; err == nil {
		if a.batch, err = a.Values(a.columns); err != nil {
			a.drop()
		}
	}
	if arrowfile.IsDamage(err) {
		return newLost(a.FirstRow, a.Rows, err)
	}
	return err
}

func (a *arrowTable) holdBatch() (err error) {
	if a.hold != nil {
		a.release, err = a.hold()
	}
	return err
}

func (a *arrowTable) drop() {
	if a.batch = nil; a.release != nil {
		a.release()
		a.release = nil
	}
}

func (a *arrowTable) Close() error {
	a.drop()
	return a.Reader.Close()
}
