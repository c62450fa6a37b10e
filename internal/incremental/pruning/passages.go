package pruning

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/incremental/cached"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// Where passages are looked for, a key is touched if a document that has come or gone has it, or if it is a lasting
// key: of an oversized group, or of equal documents. All documents that have a touched key get all their keys. So the
// group of a touched key is whole. Under any other key lie the documents that lay there in the last run, and no others.
// So a pair of which one document has no touched key is a pair of the last run's, and meets as it did then.

func touch(short uint32) uint64 { return asmkernels.SplitMix(uint64(short)) }

// digestTouch is the hash of the key that brings document i of a block together with equal ones.
func digestTouch(block *sketchblock.Block, i int) uint64 {
	return touch(fingerprints.ShortKey(candidates.KeyOf(block.DigestLead(i), 0), block.Scope(i)))
}

// sparse is how many times as many marks as there are keys a filter has room for. A document has some forty keys, and
// each of them must not seem to be touched.
const sparse = 4

// addTouched adds the touched keys to a filter, and the documents that the last run has found in a pair.
func (n *Pruning) addTouched(ctx context.Context, f *Filter, made []work.Outcome, p *work.Planning) error {
	past := &n.layout.Inputs.Past
	keys := int64(0)
	count := func(uint64) { keys++ }
	if err := n.eachTouched(ctx, past, made, p.Memory, count); err != nil {
		return err
	}
	f.bands = NewMarks(sparse * keys)
	if err := n.eachTouched(ctx, past, made, p.Memory, f.bands.Add); err != nil {
		return err
	}
	var paired []docref.Ref
	err := cached.EachPassages(ctx, string(n.Paired), past, p.Memory, func(pair *records.KeptPair) error {
		paired = append(paired, pair.A, pair.B)
		return nil
	})
	f.digests = NewMarks(int64(len(paired)))
	for _, ref := range paired {
		f.digests.Add(asmkernels.SplitMix(uint64(ref)))
	}
	return err
}

func (n *Pruning) eachTouched(
	ctx context.Context, past *documents.Past, made []work.Outcome, m *work.Memory, visit func(uint64),
) error {
	reading := touchedReading{passages: fingerprints.NewPassages(n.PassageShingles()), visit: visit}
	err := eachSegment(past.Gone, made, func(pieces []runfile.Piece) error {
		w := work.TaskContext{Memory: m, Pieces: pieces}
		defer w.Reader.Close()
		return reading.segment(ctx, &w)
	})
	if err != nil {
		return fmt.Errorf("read documents that have come or gone: %w", err)
	}
	return eachLasting(string(n.Paired), m, visit)
}

// eachSegment visits the pieces of the segments of documents that have come or gone, by run file.
func eachSegment(gone []documents.Segment, made []work.Outcome, visit func(pieces []runfile.Piece) error) error {
	runs := map[string]map[int]bool{} // shards of these segments; nil: all shards
	for _, o := range made {
		runs[string(o.Kept)] = nil
	}
	for _, segment := range gone {
		if runs[segment.Run] == nil {
			runs[segment.Run] = map[int]bool{}
		}
		runs[segment.Run][segment.Shard] = true
	}
	for run, shards := range runs {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			return err
		}
		if shards != nil {
			pieces = slices.DeleteFunc(pieces, func(piece runfile.Piece) bool { return !shards[piece.Shard] })
		}
		if err := visit(pieces); err != nil {
			return err
		}
	}
	return nil
}

// eachLasting visits the hashes of lasting keys in the run file that the last run has left.
func eachLasting(path string, m *work.Memory, visit func(uint64)) error {
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	m.Buffers[0], err = reader.ReadKind(m.Buffers[0][:0], pieces, records.LastingKeys)
	for packed := m.Buffers[0]; err == nil && len(packed) > 0; packed = packed[records.LastingKeySize:] {
		visit(touch(binary.LittleEndian.Uint32(packed)))
	}
	return err
}

type touchedReading struct {
	passages *fingerprints.Passages
	visit    func(uint64)
}

// segment visits the keys of segments, given a task context with their pieces.
func (r *touchedReading) segment(ctx context.Context, w *work.TaskContext) error {
	return eachPassages(ctx, w, r.passages, func(block *sketchblock.Block, p *blockPassages) error {
		for i := range block.Len() {
			r.visit(digestTouch(block, i))
			keys, err := p.keys(i)
			if err != nil {
				return err
			}
			for ; len(keys) > 0; keys = keys[4:] {
				r.visit(touch(binary.LittleEndian.Uint32(keys)))
			}
		}
		return nil
	})
}

// blockPassages finds the short keys of the documents of a block: in heads, if the block has some of such passages, or
// else in the sequences.
type blockPassages struct {
	passages *fingerprints.Passages
	block    *sketchblock.Block
	heads    []fingerprints.PassageHead // nil if sequences are read
	sets     work.Sets                  // with heads

	sequences [][]byte // without heads
	short     []uint32
	packed    []byte
}

// keys returns the short keys of document i, 4 bytes each, valid until the next call.
func (p *blockPassages) keys(i int) (_ []byte, err error) {
	if p.heads != nil {
		return p.heads[i].Keys, nil
	}
	p.packed = p.packed[:0]
	if p.block.Size(i) == 0 {
		return nil, nil
	}
	if p.short, err = p.passages.ShortKeys(p.short[:0], p.sequences[i], p.block.Scope(i)); err != nil {
		return nil, err
	}
	for _, key := range p.short {
		p.packed = binary.LittleEndian.AppendUint32(p.packed, key)
	}
	return p.packed, nil
}

// sequence returns the packed sequence of document i, which must not be below the last one.
func (p *blockPassages) sequence(i int) ([]byte, error) {
	if p.heads != nil {
		return p.sets.Set(i)
	}
	return p.sequences[i], nil
}

func eachPassages(ctx context.Context, w *work.TaskContext, passages *fingerprints.Passages,
	visit func(*sketchblock.Block, *blockPassages) error,
) error {
	var heads []runfile.Piece
	if work.HasHeads(w.Pieces) {
		heads = slices.Collect(records.Heads.Of(w.Pieces))
	}
	p := blockPassages{passages: passages}
	return w.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		p.block, p.sets = block, w.SetsOf(block, sets, func(i int, set []byte) bool { return p.heads[i].IsOf(set) })
		hasHeads := len(heads) > 0
		if hasHeads {
			packed, err := w.ReadPiece(2, heads[0])
			if err == nil {
				heads = heads[1:]
				p.heads, hasHeads, err = passages.ReadHeads(p.heads[:0], packed, block.Len())
			}
			if err != nil {
				return err
			}
		}
		if !hasHeads {
			packed, err := w.ReadPiece(1, sets)
			if err != nil {
				return err
			}
			p.heads, p.sequences = nil, p.sequences[:0]
			for _, sequence := range block.Sets(packed) {
				p.sequences = append(p.sequences, sequence)
			}
		}
		return visit(block, &p)
	})
}

func (n *pruned) prunePassages(block *sketchblock.Block, p *blockPassages) error {
	for i := range block.Len() {
		if err := n.tellID(block, i); err != nil {
			return err
		}
	}
	for i := range block.Len() {
		keys, err := p.keys(i)
		if err != nil {
			return err
		}
		isTouched := n.filter.bands.Has(digestTouch(block, i))
		for ; len(keys) > 0 && !isTouched; keys = keys[4:] {
			isTouched = n.filter.bands.Has(touch(binary.LittleEndian.Uint32(keys)))
		}
		var sequence []byte
		if isTouched {
			if sequence, err = p.sequence(i); err != nil {
				return err
			}
		}
		if err := n.addText(block, i, sequence, isTouched); err != nil {
			return err
		}
	}
	return nil
}

// addText adds a document if it has a touched key, or was in a pair.
func (n *pruned) addText(block *sketchblock.Block, i int, sequence []byte, isTouched bool) error {
	n.taskContext.Figures.Records++
	if n.filter.digests.Has(asmkernels.SplitMix(uint64(block.Ref(i)))) {
		known := records.KnownDocument{Ref: block.Ref(i), Size: uint32(block.Size(i)), Keyed: isTouched}
		if err := records.WriteFixed(&n.taskContext.Run, records.Known, 0, known); err != nil {
			return err
		}
	} else if !isTouched {
		return nil
	}
	if isTouched {
		n.taskContext.Outcome.Shingles += int64(block.Stored(i))
	}
	return n.put(block, i, sequence, isTouched)
}
