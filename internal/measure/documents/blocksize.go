package documents

import (
	"context"
	"io"

	"mirrorbeam/internal/carry/audit"
)

// sampledPortions is the number of portions of half a million bytes that are read for an estimate.
const sampledPortions = 8

// BlockShare returns about how many bytes the sketch blocks of the inputs take for each byte of input. It fingerprints
// one portion each of up to eight splits, which are evenly spread over the corpus. If it finds no document it returns 0.
func (f Fingerprinting) BlockShare(ctx context.Context, inputs *Inputs) (float64, error) {
	words, err := f.WithLists(inputs)
	if err != nil {
		return 0, err
	}
	kept := f.Kept
	kept.Marking = Marking{} // marks take hardly any room, and the fields that they need are not read here
	worker, err := newFingerprinter(words, kept, nil, audit.Shares{}, inputs)
	if err != nil {
		return 0, err
	}
	var read, written int64
	taken := min(sampledPortions, len(inputs.Splits))
	for i := range taken {
		split := (2*i + 1) * len(inputs.Splits) / (2 * taken)
		b, err := f.firstBlock(ctx, worker, inputs, split)
		if err == io.EOF {
			continue
		} else if err != nil {
			return 0, err
		}
		read += b.Counts.Bytes + b.Counts.ReferenceBytes
		written += int64(len(b.builder.Sets()))
		for _, section := range b.builder.Documents() {
			written += int64(len(section))
		}
	}
	return float64(written) / float64(max(read, 1)), nil
}

// firstBlock returns the block of the first portion of a split, or io.EOF if the split is empty.
func (f *Fingerprinting) firstBlock(ctx context.Context, worker *fingerprinter, inputs *Inputs, split int) (*block, error) {
	reader := newSplitReader(f.Reading, inputs.Files, inputs.Splits[split])
	defer reader.close()
	b := f.block()
	defer b.part.release()
	if err := reader.fill(ctx, &b.part); err != nil {
		return nil, err
	}
	early := func(*block) error { return nil } // a rare large block only shows less
	return b, worker.fingerprint(ctx, b, turn{func() error { return nil }, early})
}
