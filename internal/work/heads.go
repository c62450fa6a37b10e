package work

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/sketch"
)

// HasHeads reports whether all sketch blocks among pieces have heads. Where a method needs none, segments have none.
func HasHeads(pieces []runfile.Piece) bool {
	blocks, heads := 0, 0
	for _, piece := range pieces {
		switch piece.Kind {
		case records.Documents:
			blocks++
		case records.Heads:
			heads++
		}
	}
	return blocks > 0 && blocks == heads
}

// EachHead visits the sketch blocks of a split in order, as [TaskContext.EachBlock] does, with the heads of the sets.
// All blocks must have heads. These lie in the third buffer. Seed is the seed of the digests.
func (w *TaskContext) EachHead(ctx context.Context, seed uint64, visit func(*sketchblock.Block, *Heads) error) error {
	pieces := slices.Collect(records.Heads.Of(w.Pieces))
	var heads Heads
	digester := sketch.NewDigester(seed)
	return w.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		packed, err := w.ReadPiece(2, pieces[0])
		if err == nil {
			pieces = pieces[1:]
			heads.Sets = w.SetsOf(block, sets, HasDigest(block, digester))
			heads.list, err = block.Heads(heads.list[:0], packed)
		}
		if err != nil {
			return err
		}
		return visit(block, &heads)
	})
}

// Heads are the heads of the sets of a block. They also read some of the sets.
type Heads struct {
	Sets
	list []sketchblock.Head
}

// Head returns the head of the set of document i.
func (h *Heads) Head(i int) sketchblock.Head { return h.list[i] }

// Sets read some of the sets of a block, which are few. A storage behind a network is asked for all sets at once.
type Sets struct {
	taskContext *TaskContext
	block       *sketchblock.Block
	piece       runfile.Piece
	// isOf reports whether the bytes are the set of a document. The checksum of the piece covers only all sets.
	isOf func(i int, set []byte) bool

	next, offset int    // the document behind the last one that was read, and where its set begins
	whole        []byte // all sets, if they were read together
}

// HasDigest returns a function that reports whether bytes are the set of all shingles of document i, by its digest.
func HasDigest(block *sketchblock.Block, digester *sketch.Digester) func(i int, set []byte) bool {
	var hashes []uint64
	return func(i int, set []byte) bool {
		if len(set) == 0 {
			return true
		}
		hashes = sketchblock.AppendSet(hashes[:0], set)
		return sketchblock.InScope(digester.Set(hashes), block.Scope(i)) == block.Digest(i)
	}
}

// SetsOf returns the sets of a block, given the piece that has them. IsOf reports whether bytes that were read alone
// are the set of document i, as its digest or a check sum tells.
func (w *TaskContext) SetsOf(block *sketchblock.Block, piece runfile.Piece, isOf func(i int, set []byte) bool) Sets {
	return Sets{taskContext: w, block: block, piece: piece, isOf: isOf}
}

// Set returns the set of document i, which must not be below the last one. It is in the second buffer.
func (s *Sets) Set(i int) ([]byte, error) {
	for ; s.next < i; s.next++ {
		s.offset += sketchblock.HashSize * s.block.Stored(s.next)
	}
	size := sketchblock.HashSize * s.block.Stored(i)
	if storage.Scheme(s.piece.Path) != "" && s.whole == nil {
		var err error
		if s.whole, err = s.taskContext.ReadPiece(1, s.piece); err != nil {
			return nil, err
		}
	}
	if s.whole != nil {
		return s.whole[s.offset : s.offset+size], nil
	}
	set, err := s.taskContext.Reader.ReadStretch(s.taskContext.Buffers[1][:0], s.piece, s.offset, size)
	s.taskContext.Buffers[1] = set
	if err == nil && !s.isOf(i, set) {
		err = &storage.DamagedError{
			Op:   "read",
			Path: s.piece.Path,
			Err:  fmt.Errorf("a set at %d is damaged (check sum)", s.piece.Offset+int64(s.offset)),
		}
	}
	return set, err
}
