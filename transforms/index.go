package transforms

import (
	"context"
	"io"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/index"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&indexFn{})
}

// writeIndex writes an index of all documents, the reference included, in which
// near-duplicates of others are found. A file takes the documents of some splits.
func writeIndex(s beam.Scope, job Job, blocks beam.PCollection) beam.PCollection {
	tasks := exchange(s, job, delivery{Output: true, Extra: []runfile.Kind{documentsKind, setsKind}}, blocks)
	return inLanes(s, job, &indexFn{Job: job}, tasks)
}

type indexFn struct {
	Job Job

	layout // read in Setup
}

func (f *indexFn) Setup() error { return f.read(f.Job.Inputs) }

func (f *indexFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	t := decodeTask(element)
	return emitOutcome(ctx, writeStage, t.Number, emit, func(o *outcome, m *memory) error {
		w, err := output.NewWriter(f.Job.Partial, output.File{
			Name: output.ShardName(Index, t.Number, t.Shards, output.Binary), Output: Index,
		}, output.Binary)
		if err != nil {
			return err
		}
		defer w.Abort()
		documents, err := f.shard(ctx, t, m, w.Row)
		if err != nil {
			return err
		}
		file, err := w.Close()
		if err != nil {
			return err
		}
		file.Rows = documents
		writeStage.bytes.Inc(ctx, file.Bytes)
		o.Files = append(o.Files, file)
		return nil
	})
}

// shard writes the documents of the splits of a task and returns how many there
// are.
func (f *indexFn) shard(ctx context.Context, t task, m *memory, write func([]byte) error) (documents int64, err error) {
	first, last := t.Number*f.Job.Splits/t.Shards, (t.Number+1)*f.Job.Splits/t.Shards
	builder := index.NewBuilder(f.header(first, last), write, func(keys iter.Seq[uint64]) (io.WriterTo, error) {
		return lshbands.NewTable(keys)
	})
	for split := first; split < last; split++ {
		w := &workplace{memory: m}
		if w.pieces, err = runfile.ReadCatalog(t.Catalog, split); err != nil {
			return 0, err
		}
		err := w.eachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			documents += int64(block.Len())
			return addBlock(builder, w, block, setsPiece)
		})
		w.reader.Close()
		if err != nil {
			return 0, err
		}
	}
	return documents, builder.Close()
}

// header describes the index of the documents of some splits.
func (f *indexFn) header(first, last int) index.Header {
	h := index.Header{
		Sketch: sketch.Version, Unicode: sketch.UnicodeVersion, Threshold: f.Job.Threshold,
		StopWords: f.inputs.StopWords, References: f.inputs.references(),
	}
	if first == last {
		return h
	}
	splits := f.inputs.Splits
	lastStretches := splits[last-1]
	h.FirstFile = splits[first][0].File
	for _, file := range f.inputs.Files[h.FirstFile : lastStretches[len(lastStretches)-1].File+1] {
		h.Files = append(h.Files, file.Name)
	}
	return h
}

// addBlock adds the documents of a block.
func addBlock(builder *index.Builder, w *workplace, block *sketchblock.Block, setsPiece runfile.Piece) error {
	sets, err := w.readPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i := range block.Len() {
		size := sketchblock.HashSize * block.Stored(i)
		err := builder.Add(index.Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: sets[:size]})
		if err != nil {
			return err
		}
		sets = sets[size:]
	}
	return nil
}
