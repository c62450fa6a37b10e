package transforms

import (
	"context"
	"io"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/index"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&indexFn{})
}

// writeIndex writes an index of all documents, the reference included, in which
// near-duplicates of others are found. A file takes the documents of some splits.
func writeIndex(s beam.Scope, job Job, blocks beam.PCollection) beam.PCollection {
	tasks := exchange(s, job, work.Delivery{Output: true, Extra: []runfile.Kind{records.Documents, records.Sets}}, blocks)
	return sideBySide(s, &indexFn{Job: job, bundle: newBundle(job)}, tasks)
}

type indexFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *indexFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *indexFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		file, err := output.NewWriter(f.Job.Partial, output.File{
			Name: output.ShardName(output.Index, t.Number, t.Shards, output.Binary), Output: output.Index,
		}, output.Binary)
		if err != nil {
			return err
		}
		defer file.Abort()
		documents, err := f.shard(ctx, t, w.Memory, file.Row)
		if err != nil {
			return err
		}
		closed, err := file.Close()
		if err != nil {
			return err
		}
		closed.Rows = documents
		w.Figures.Bytes += closed.Bytes
		w.Outcome.Files = append(w.Outcome.Files, closed)
		return nil
	})
}

// indexBuilder is what takes the documents in.
type indexBuilder interface {
	// add adds the documents of a block.
	add(w *work.Place, block *sketchblock.Block, setsPiece runfile.Piece) error
	// Close writes what is left.
	Close() error
}

// shard writes the documents of the splits of a task and returns how many there
// are.
func (f *indexFn) shard(ctx context.Context, t work.Task, m *work.Memory, write func([]byte) error) (documents int64, err error) {
	first, last := t.Number*f.Job.Splits/t.Shards, (t.Number+1)*f.Job.Splits/t.Shards
	builder, err := f.builder(f.header(first, last), write)
	if err != nil {
		return 0, err
	}
	for split := first; split < last; split++ {
		w := &work.Place{Memory: m}
		if w.Pieces, err = runfile.ReadCatalog(t.Catalog, split); err != nil {
			return 0, err
		}
		err := w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			documents += int64(block.Len())
			return builder.add(w, block, setsPiece)
		})
		w.Reader.Close()
		if err != nil {
			return 0, err
		}
	}
	return documents, builder.Close()
}

// builder returns a builder of the index that belongs to the score.
func (f *indexFn) builder(header index.Header, write func([]byte) error) (indexBuilder, error) {
	if f.Job.Scoring != methods.Hamming {
		return setsIndex{index.NewBuilder(header, write, newTable)}, nil
	}
	tables, err := lshbands.PlanTables(f.Job.SimHashBits, f.Job.Distance)
	if err != nil {
		return nil, err
	}
	header.Bits, header.Distance, header.Blocks = tables.Bits(), tables.Distance(), tables.Blocks()
	var fingerprint, permuted [1]uint64
	return fingerprintsIndex{index.NewFingerprintBuilder(header, write, newTable, tables.Tables(), func(table int, key uint64) uint64 {
		fingerprint[0] = key
		tables.Permute(table, permuted[:], fingerprint[:])
		return permuted[0]
	})}, nil
}

func newTable(keys iter.Seq[uint64]) (io.WriterTo, error) { return lshbands.NewTable(keys) }

// header describes the index of the documents of some splits.
func (f *indexFn) header(first, last int) index.Header {
	h := index.Header{
		Sketch: sketch.Version, Unicode: sketch.UnicodeVersion, Config: f.Job.ConfigHash, Threshold: f.Job.Threshold,
		StopWords: f.Inputs.StopWords, References: f.Inputs.References(),
	}
	if first == last {
		return h
	}
	splits := f.Inputs.Splits
	lastStretches := splits[last-1]
	h.FirstFile = splits[first][0].File
	for _, file := range f.Inputs.Files[h.FirstFile : lastStretches[len(lastStretches)-1].File+1] {
		h.Files = append(h.Files, file.Name)
	}
	return h
}

// setsIndex is an index of full sets.
type setsIndex struct{ *index.Builder }

func (x setsIndex) add(w *work.Place, block *sketchblock.Block, setsPiece runfile.Piece) error {
	sets, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i := range block.Len() {
		size := sketchblock.HashSize * block.Stored(i)
		err := x.Add(index.Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: sets[:size]})
		if err != nil {
			return err
		}
		sets = sets[size:]
	}
	return nil
}

// fingerprintsIndex is an index of SimHash fingerprints.
type fingerprintsIndex struct{ *index.FingerprintBuilder }

func (x fingerprintsIndex) add(_ *work.Place, block *sketchblock.Block, _ runfile.Piece) error {
	var fingerprint [1]uint64
	for i := range block.Len() {
		copy(fingerprint[:], block.SimHash(fingerprint[:0], i))
		d := index.Fingerprinted{Ref: block.Ref(i), ID: block.ID(i), Fingerprint: fingerprint[0], IsEmpty: block.Size(i) == 0}
		if d.IsEmpty {
			d.Fingerprint = block.Digest(i)
		}
		if err := x.Add(d); err != nil {
			return err
		}
	}
	return nil
}
