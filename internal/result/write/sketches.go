package write

import (
	"context"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// Sketches writes the sketch of every document of the input in document order. An output
// shard takes the documents of some splits.
type Sketches struct {
	Files
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Hashes is the largest number of hashes that a row lists: the smallest of its set.
	Hashes int
	// Bits is the length of the SimHash fingerprints.
	Bits int

	layout documents.Layout // read in Setup
}

func (s *Sketches) Setup() error { return s.layout.Read(string(s.Inputs)) }

// Task writes the file of one output shard.
func (s *Sketches) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	file := s.Name(output.Sketches, t.Number, t.Shards)
	return Write(s.Files, file, s.Names(t), w, func(row func(output.Sketch) error) error {
		return eachSplit(t, len(s.layout.Inputs.Splits), w.Memory, func(split *work.TaskContext) error {
			return split.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
				sets, err := split.ReadPiece(1, setsPiece)
				if err != nil {
					return err
				}
				return s.block(block, sets, row)
			})
		})
	})
}

func (s *Sketches) block(block *sketchblock.Block, sets []byte, row func(output.Sketch) error) error {
	var set, simhash []uint64
	var hashes []int64
	for i, packed := range block.Sets(sets) {
		ref := block.Ref(i)
		if ref < s.layout.FirstInput {
			continue
		}
		// The smallest hashes come first.
		set = sketchblock.AppendSet(set[:0], packed[:min(len(packed), sketchblock.HashSize*s.Hashes)])
		hashes = hashes[:0]
		for _, hash := range set {
			hashes = append(hashes, int64(hash))
		}
		simhash = block.SimHash(simhash[:0], i)
		name := quoting.Text(s.layout.Inputs.RefText(nil, ref))
		id := name
		if len(block.ID(i)) > 0 {
			id = quoting.Text(block.ID(i))
		}
		at := records.CaptureOf(block.Capture(i))
		err := row(output.Sketch{
			ID:          id,
			Ref:         name,
			URL:         at.URL,
			Date:        at.Date,
			Shingles:    int64(block.Size(i)),
			SimHash:     output.SimHashText(simhash, s.Bits),
			Fingerprint: hashes,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteShingles writes shingles that did not count, packed as in a sketch block: [output.IgnoredShingles] or
// [output.CommonShingles]. Who explains the results needs them.
func WriteShingles(f Files, of string, packed []byte) (output.File, error) {
	f.Format = output.Binary
	return f.binary(f.Name(of, 0, 1), packed, int64(len(packed)/sketchblock.HashSize))
}

// Passages writes the rows of the passages that were cut, in document order. An output shard takes the documents of
// some splits.
type Passages struct {
	Files
	// Splits is the number of splits of the input.
	Splits int
	// OfItems says that passages are items of a benchmark.
	OfItems bool `json:",omitempty"`
}

// PassagesDelivery makes a task of [Passages] for each output shard. The outcomes of the stage that clusters only add
// to the counts.
func PassagesDelivery() work.Delivery {
	return work.Delivery{Output: true, Extra: []runfile.Kind{records.TrimRows}, OnlyCounted: []work.Stage{work.Cluster}}
}

// Task writes the file of one output shard.
func (p *Passages) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	file := p.Name(output.Passages, t.Number, t.Shards)
	names := p.Names(t)
	names.HaveItems = p.OfItems
	return Write(p.Files, file, names, w, func(row func(output.Cut) error) error {
		return eachSplit(t, p.Splits, w.Memory, func(split *work.TaskContext) error {
			return copyRows(split, records.TrimRows, output.Passages, row)
		})
	})
}
