package formats

import (
	"errors"
	"io"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

func init() {
	corpus.Register(ofTables(corpus.Definition{
		Format:  corpus.Parquet,
		Name:    "parquet",
		Endings: []string{".parquet", ".pq"},
		Magics:  []string{"PAR1"},
	}, func(handle storage.File, file *corpus.File, limits *corpus.Limits) (table, error) {
		p, err := parquetfile.Open(handle, file.Size)
		if err != nil {
			return nil, err
		}
		p.Limit(limits.Memory, limits.HoldWindow)
		return &parquetTable{File: p}, nil
	}))
}

type parquetTable struct {
	*parquetfile.File
	columns parquetfile.Columns
	rest    []int // row groups still to come
	cursor  *parquetfile.Cursor
}

func (p *parquetTable) choose(paths []string) (err error) {
	p.columns, err = p.Columns(paths...)
	return err
}

func (p *parquetTable) parts() []corpus.Part {
	parts := make([]corpus.Part, 0, len(p.Groups())+1)
	for number, group := range p.Groups() {
		parts = append(parts, corpus.Part{Start: group.First, Bytes: corpus.Inflation * p.columns.Bytes(number)})
	}
	return append(parts, corpus.Part{Start: p.Rows()})
}

func (p *parquetTable) begin(stretch corpus.Stretch) {
	for number, group := range p.Groups() {
		if group.First >= stretch.Start && group.First < stretch.End {
			p.rest = append(p.rest, number)
		}
	}
}

// rows reads rows of one row group. If the group is damaged, the rest of it is lost.
func (p *parquetTable) rows(buffer []byte) ([]byte, error) {
	for len(p.rest) > 0 || p.cursor != nil {
		if p.cursor == nil {
			p.cursor = p.columns.Read(p.rest[0])
			p.rest = p.rest[1:]
		}
		data, err := p.cursor.Append(buffer[:0], corpus.BatchBytes)
		damage, isDamaged := errors.AsType[*parquetfile.GroupError](err)
		if err != io.EOF && !isDamaged {
			return data, err
		}
		p.Close()
		if isDamaged {
			return nil, newLost(damage.First, damage.Rows, damage)
		}
	}
	return nil, io.EOF
}

// Close has no error.
func (p *parquetTable) Close() error {
	if p.cursor != nil {
		p.cursor.Close()
		p.cursor = nil
	}
	return nil
}
