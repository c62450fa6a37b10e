package transforms

import (
	"context"

	"github.com/zeebo/xxh3"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

const (
	// passageWords is how many words in a row a key is a hash of, unless a shingle
	// has more: fewer are found in too many documents that have nothing to do with
	// each other.
	passageWords = 6

	// passageWindow is of how many such passages in a row the least one is a key.
	passageWindow = 4
)

// FoundWords returns how many words in a row two documents must have in common to
// be compared for certain, where shingles have so many: every such run has a key in
// common. Shorter ones have one with less probability.
func FoundWords(shingle int) int { return passageWindow + max(passageWords, shingle) - 1 }

// passageKeys writes the key records of documents by the passages that winnowing
// selects of them.
type passageKeys struct {
	job      Job
	combined int // shingles in a passage
	sequence sketchblock.Sequence
	passages []uint64
	selected []uint32
	seen     map[uint64]struct{}
	known    documents.Repeats
}

func newPassageKeys(job Job, firstInput docref.Ref) *passageKeys {
	return &passageKeys{
		job: job, combined: max(passageWords-job.Measure.Shingle+1, 1), seen: map[uint64]struct{}{},
		known: documents.Repeats{FirstInput: firstInput},
	}
}

// split writes the key records of the documents of one split.
func (k *passageKeys) split(ctx context.Context, w *work.Place) error {
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		w.Figures.Records += int64(block.Len())
		packed, err := w.ReadPiece(1, setsPiece)
		if err != nil {
			return err
		}
		for i := range block.Len() {
			size := sketchblock.HashSize * block.Stored(i)
			if err := k.document(&w.Run, block, i, packed[:size]); err != nil {
				return err
			}
			packed = packed[size:]
		}
		return nil
	})
}

// document writes the records of one document: one by its digest, which brings
// identical documents together, and one for each of its keys. Each of these knows
// the key before it, so that two documents with both in common meet once.
func (k *passageKeys) document(run *runfile.Writer, block *sketchblock.Block, i int, packed []byte) (err error) {
	record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
	if err := writeDigest(run, k.job, record); err != nil {
		return err
	}
	if err := writeID(run, k.job, block, i); err != nil {
		return err
	}
	if k.known.Has(record.Ref, record.Digest, xxh3.Hash(packed)) {
		return nil
	}
	if k.sequence, err = sketchblock.ParseSequence(k.sequence, packed); err != nil {
		return err
	}
	sequence := sketch.Sequence(k.sequence)
	k.passages = sequence.Passages(k.passages[:0], k.combined)
	k.selected = sketch.Winnow(k.selected[:0], k.passages, passageWindow)
	clear(k.seen)
	// What no other document has before its first key.
	record.Previous[0] = candidates.PreviousOf(asmkernels.SplitMix(uint64(record.Ref)))
	for _, at := range k.selected {
		passage := k.passages[at]
		if _, repeated := k.seen[passage]; repeated {
			continue
		}
		k.seen[passage] = struct{}{}
		record.Key = candidates.KeyOf(asmkernels.SplitMix(passage), 1)
		b, err := run.Record(records.Keys, records.ShardOf(record.Key, k.job.Shards), records.KeySize+4)
		if err != nil {
			return err
		}
		records.PutKey(b, record)
		record.Previous[0] = candidates.PreviousOf(record.Key)
	}
	return nil
}

// packSequence returns a sequence as a sketch block takes it in, in the memory of b.
func packSequence(b []byte, s sketch.Sequence) []byte {
	return sketchblock.AppendSequence(b[:0], sketchblock.Sequence(s))
}
