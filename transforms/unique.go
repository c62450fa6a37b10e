package transforms

import (
	"bytes"
	"context"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&uniqueFn{})
}

// unique writes the records that stay, byte for byte, a file for each input
// file. It reads the input again, which is cheaper than to keep it.
func unique(s beam.Scope, job Job, written, sketches beam.PCollection) beam.PCollection {
	tasks := exchange(s, job, delivery{Shards: max(job.Splits, 1), Extra: []runfile.Kind{documentsKind, removedKind}}, written, sketches)
	return sideBySide(s, &uniqueFn{Job: job}, tasks)
}

type uniqueFn struct {
	Job Job

	bundle

	inputs Inputs // read in Setup
}

func (f *uniqueFn) Setup() (err error) {
	f.inputs, err = readInputs(f.Job.Inputs)
	return err
}

func (f *uniqueFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	t := decodeTask(element)
	return f.begin(ctx, writeStage, t.Number, f.Job.Lanes, func(ctx context.Context, o *outcome, m *memory) error {
		starts, err := f.inputs.splitStarts()
		if err != nil {
			return err
		}
		from, to := f.inputs.filesOf(t.Number, starts)
		for number := max(from, f.inputs.references()); number < to; number++ {
			file, err := f.file(ctx, t, number, m)
			if err != nil {
				return err
			}
			o.Files = append(o.Files, file)
		}
		return nil
	})
}

// file copies the records of one input file that stay.
func (f *uniqueFn) file(ctx context.Context, t task, number int, m *memory) (output.File, error) {
	in := f.inputs.Files[number]
	staying, err := f.staying(ctx, t, number, m)
	if err != nil {
		return output.File{}, err
	}
	reader, err := corpus.Open(in, corpus.Stretch{File: number, End: in.Size}, lineLimit(f.Job.MaxDocument))
	if err != nil {
		return output.File{}, inputError{err}
	}
	defer reader.Close()
	references := f.inputs.references()
	file := output.File{
		Name:   output.ShardName(Unique, number-references, len(f.inputs.Files)-references, f.Job.Format),
		Output: Unique, Input: in.Path,
	}
	return writeFile(f.Job, file, func(row func([]byte) error) error {
		var buffer []byte
		for {
			batch, err := reader.Next(buffer)
			if err == io.EOF {
				return nil
			} else if err != nil {
				return inputError{err}
			}
			buffer = batch.Data
			end := batch.Offset + int64(len(batch.Data))
			for ; len(staying) > 0 && staying[0] < end; staying = staying[1:] {
				record := batch.Data[staying[0]-batch.Offset:]
				if n := bytes.IndexByte(record, '\n'); n >= 0 {
					record = record[:n+1]
				} else {
					// The last line of a file may lack its line feed.
					record = append(record, '\n')
				}
				if err := row(record); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	})
}

// staying returns the positions of the documents of a file that stay, ascending.
func (f *uniqueFn) staying(ctx context.Context, t task, number int, m *memory) ([]int64, error) {
	w := &workplace{memory: m}
	defer w.reader.Close()
	var positions []int64
	for split := t.Number; split < len(f.inputs.Splits) && f.inputs.Splits[split][0].File <= number; split++ {
		var err error
		if w.pieces, err = runfile.ReadCatalog(t.Catalog, split); err != nil {
			return nil, err
		}
		removed, err := readRefs(&w.reader, w.pieces, removedKind)
		if err != nil {
			return nil, err
		}
		err = w.eachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
			for i := range block.Len() {
				if ref := block.Ref(i); ref.File() == number && !removed[ref] {
					positions = append(positions, ref.Position())
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return positions, nil
}
