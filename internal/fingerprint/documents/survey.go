package documents

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// Seen is a document that a survey has read, before it is fingerprinted.
type Seen struct {
	// Hash is evenly spread and the same for equal texts.
	Hash  uint64
	Bytes int
	// Length is the length of its text in bytes, or the number of its features.
	Length    int64
	Reference bool
}

// Surveyed is a fingerprinted document as [Survey] shows it. Its slices are valid until the next one.
type Surveyed struct {
	Seen
	Ref    docref.Ref
	Digest uint64 // the first word of its digest
	// Set holds the distinct shingle hashes, ascending.
	Set []uint64
}

// surveyAhead is how many bytes of small files a survey reads before it wants them, for each core.
const surveyAhead = 16 << 20

// Visitor gets a part of the documents of a survey, in any order.
type Visitor struct {
	// Wants gets each document that was read and says whether to fingerprint it.
	Wants func(*Seen) bool
	// Visit gets the documents that Wants has asked for. After the last one of a block it gets nil.
	Visit func(*Surveyed)
}

// Survey reads the documents of the inputs as [Fingerprinting] does, but writes nothing. It reads files side by side,
// on all cores, and fingerprints the documents that the visitors want. Each core has a visitor of its own, which
// newVisitor makes. Survey returns its counts: documents, bytes, rejects, and the kinds of texts. Of these only wanted
// ones may be short.
func Survey(ctx context.Context, s Sketching, inputs *Inputs,
	newVisitor func() Visitor,
) (total findings.Counts, texts findings.Texts, err error) {
	words, err := s.WithLists(inputs)
	if err != nil {
		return total, texts, err
	}
	count := func(b *block) error {
		findings.Merge(&total, b.Counts)
		findings.Merge(&texts, b.Texts)
		return nil
	}
	pool := Pool[*block]{
		New: func() *block { return newBlock(0, s.Options.SimHashBits) },
		End: func(b *block) { b.part.release() },
		Worker: func() (func(context.Context, *block, func() error) error, error) {
			f, err := newFingerprinter(words, Kept{Sets: AllHashes}, nil, audit.Shares{}, inputs)
			if err != nil {
				return nil, err
			}
			var shown Surveyed
			visitor := newVisitor()
			f.wants = func(r *Record) bool {
				content, file := r.Content, &inputs.Files[r.File]
				shown.Seen = Seen{hashOf(content), int(r.Bytes), contentLength(content), file.Reference}
				return visitor.Wants(&shown.Seen)
			}
			f.takes = func(d *sketchblock.Document, set []uint64) {
				shown.Ref, shown.Digest, shown.Set = d.Ref, d.Digest[0], set
				visitor.Visit(&shown)
			}
			return func(ctx context.Context, b *block, await func() error) error {
				err := f.fingerprint(ctx, b, turn{await, count})
				visitor.Visit(nil)
				return err
			}, nil
		},
		Write: count,
	}
	var begun atomic.Int64 // number of splits begun
	for range work.Cores() {
		pool.Readers = append(pool.Readers, func(ctx context.Context, put func(func(*block) error) error) error {
			for {
				number := int(begun.Add(1)) - 1
				if number >= len(inputs.Splits) {
					return nil
				}
				reader := newSplitReader(s.Reading, inputs.Files, inputs.Splits[number], surveyAhead)
				err := putAll(ctx, reader, put)
				if reader.close(); err != nil {
					return err
				}
			}
		})
	}
	if _, err := pool.Run(ctx); err != nil {
		return findings.Counts{}, findings.Texts{}, err
	}
	return total, texts, nil
}

func hashOf(content corpus.Record) uint64 {
	hash := uint64(0)
	for _, text := range content.Texts {
		hash = asmkernels.SplitMix(hash ^ xxh3.Hash(text))
	}
	for _, feature := range content.Features {
		hash = asmkernels.SplitMix(hash ^ binary.LittleEndian.Uint64(feature.Hash[:]) ^
			math.Float64bits(feature.Weight))
	}
	return hash
}

// sampledPortions is the number of portions of half a million bytes that are read for an estimate.
const sampledPortions = 8

// BlockShare returns about how many bytes the sketch blocks take for each byte of input, 0 without documents. It
// fingerprints one portion each of up to eight splits, evenly spread over the corpus.
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

// CountDocuments returns about how many documents the inputs have, by the first records of up to eight files, which are
// evenly spread. It depends on the files only. It returns 0 if they cannot be read.
func (r Reading) CountDocuments(inputs *Inputs) float64 {
	var documents, read float64
	taken := min(sampledPortions, len(inputs.Files))
	for i := range taken {
		number := (2*i + 1) * len(inputs.Files) / (2 * taken)
		for batch, err := range formats.Batches(inputs.Files[number], number, r.LineLimits(), r.Wanted()) {
			if err != nil {
				break
			}
			for _, record := range batch.Records() {
				documents, read = documents+1, read+float64(len(record))
			}
			break
		}
	}
	return documents / max(read, 1) * float64(inputs.TextBytes())
}

// firstBlock returns the block of the first portion of a split, or io.EOF if the split is empty.
func (f *Fingerprinting) firstBlock(ctx context.Context, worker *fingerprinter, inputs *Inputs,
	split int,
) (*block, error) {
	reader := newSplitReader(f.Reading, inputs.Files, inputs.Splits[split], 0)
	defer reader.close()
	b := f.block()
	defer b.part.release()
	if err := reader.fill(ctx, &b.part); err != nil {
		return nil, err
	}
	early := func(*block) error { return nil } // a rare large block only shows less
	return b, worker.fingerprint(ctx, b, turn{func() error { return nil }, early})
}
