package outputs

import (
	"context"
	"io"
	"iter"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/index"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Index writes an index of all documents, the reference included. A query looks up near-duplicates of other documents
// in it. One file holds the documents of some splits.
type Index struct {
	// Partial is the folder of output files that are not published yet.
	Partial work.Path
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Config identifies the configuration of the index.
	Config string
	// Threshold is the least similarity that a query finds.
	Threshold float64
	// Bits, if above 0, makes an index of SimHash fingerprints of that length, in which a query finds fingerprints up
	// to Distance away. With 0 the index holds full sets.
	Bits, Distance int

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (x *Index) Setup() error { return x.layout.Read(string(x.Inputs)) }

// Task writes the file of one output shard.
func (x *Index) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	name := Files{Format: output.Binary}.Name(output.Index, t.Number, t.Shards)
	out, err := output.NewWriter(string(x.Partial), name, output.Binary)
	if err != nil {
		return err
	}
	defer out.Abort()
	rows, err := x.shard(ctx, t, w.Memory, func(b []byte) error {
		_, err := out.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	out.Count(rows)
	file, err := out.Close()
	if err != nil {
		return err
	}
	w.Figures.Bytes += file.Bytes
	w.Outcome.Files = append(w.Outcome.Files, file)
	return nil
}

// shard writes the documents of the splits of a task and returns their number.
func (x *Index) shard(ctx context.Context, t work.Task, m *work.Memory, write func([]byte) error) (rows int64, err error) {
	first, end := splitsOf(t, len(x.layout.Inputs.Splits))
	builder, err := x.builder(x.header(first, end), write)
	if err != nil {
		return 0, err
	}
	err = eachSplit(t.Catalog, first, end, m, func(split *work.Desk) error {
		return split.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			rows += int64(block.Len())
			return builder.add(split, block, setsPiece)
		})
	})
	if err != nil {
		return 0, err
	}
	return rows, builder.Close()
}

// indexBuilder takes the documents of an index.
type indexBuilder interface {
	// add adds the documents of a block.
	add(w *work.Desk, block *sketchblock.Block, setsPiece runfile.Piece) error
	// Close writes the rest.
	Close() error
}

// builder returns a builder of the index for the score.
func (x *Index) builder(header index.Header, write func([]byte) error) (indexBuilder, error) {
	if x.Bits == 0 {
		return setsIndex{index.NewBuilder(header, write, newTable)}, nil
	}
	tables, err := lshbands.PlanTables(x.Bits, x.Distance)
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
func (x *Index) header(first, end int) index.Header {
	inputs := x.layout.Inputs
	h := index.Header{
		Sketch: sketch.Version, Unicode: sketch.UnicodeVersion, Config: x.Config, Threshold: x.Threshold,
		StopWords: inputs.StopWords, References: inputs.References(),
	}
	if first == end {
		return h
	}
	last := inputs.Splits[end-1]
	h.FirstFile = inputs.Splits[first][0].File
	for _, file := range inputs.Files[h.FirstFile : last[len(last)-1].File+1] {
		h.Files = append(h.Files, file.Name)
	}
	return h
}

// setsIndex is an index of full sets.
type setsIndex struct{ *index.Builder }

func (x setsIndex) add(w *work.Desk, block *sketchblock.Block, setsPiece runfile.Piece) error {
	sets, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(sets) {
		err := x.Add(index.Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: set})
		if err != nil {
			return err
		}
	}
	return nil
}

// fingerprintsIndex is an index of SimHash fingerprints.
type fingerprintsIndex struct{ *index.FingerprintBuilder }

func (x fingerprintsIndex) add(_ *work.Desk, block *sketchblock.Block, _ runfile.Piece) error {
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
