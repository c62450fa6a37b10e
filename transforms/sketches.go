package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&sketchesFn{})
}

// writeSketches writes the sketch of every document of the input in document order.
// An output shard takes the documents of some splits.
func writeSketches(s beam.Scope, job Job, blocks beam.PCollection) beam.PCollection {
	tasks := exchange(s, job, work.Delivery{Output: true, Extra: []runfile.Kind{records.Documents, records.Sets}}, blocks)
	return sideBySide(s, &sketchesFn{Job: job, bundle: newBundle(job)}, tasks)
}

type sketchesFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *sketchesFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *sketchesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		file := output.File{Name: output.ShardName(output.Sketches, t.Number, t.Shards, f.Job.Format), Output: output.Sketches}
		file, err := writeFile(f.Job, file, func(row func([]byte) error) error {
			first, last := t.Number*f.Job.Splits/t.Shards, (t.Number+1)*f.Job.Splits/t.Shards
			for split := first; split < last; split++ {
				if err := f.split(ctx, t.Catalog, split, w.Memory, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.Figures.Bytes += file.Bytes
		w.Outcome.Files = append(w.Outcome.Files, file)
		return nil
	})
}

// split writes the rows of the documents of a split.
func (f *sketchesFn) split(ctx context.Context, catalog string, split int, m *work.Memory, row func([]byte) error) error {
	w := &work.Place{Memory: m}
	defer w.Reader.Close()
	var err error
	if w.Pieces, err = runfile.ReadCatalog(catalog, split); err != nil {
		return err
	}
	var line []byte
	var set, simhash []uint64
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		sets, err := w.ReadPiece(1, setsPiece)
		if err != nil {
			return err
		}
		for i := range block.Len() {
			size := sketchblock.HashSize * block.Stored(i)
			// The smallest hashes come first.
			set = sketchblock.AppendSet(set[:0], sets[:min(size, sketchblock.HashSize*bottomK)])
			sets = sets[size:]
			ref := block.Ref(i)
			if ref < f.FirstInput {
				continue
			}
			simhash = block.SimHash(simhash[:0], i)
			name := output.AppendString(nil, f.Inputs.RefText(nil, ref))
			id := name
			if len(block.ID(i)) > 0 {
				id = output.AppendString(nil, block.ID(i))
			}
			line = output.AppendSketch(line[:0], output.Sketch{
				ID: id, Ref: name, Shingles: block.Size(i), SimHash: simhash, Fingerprint: set,
			})
			if err := row(line); err != nil {
				return err
			}
		}
		return nil
	})
}
