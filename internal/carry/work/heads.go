package work

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// HasHeads reports whether all sketch blocks among pieces have heads. Where a method needs none, units have none.
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

// EachHead visits the sketch blocks of a split in order, as [Desk.EachBlock] does, with the heads of the sets. All blocks must
// have heads. These lie in the third buffer.
func (w *Desk) EachHead(ctx context.Context, visit func(*sketchblock.Block, *Heads) error) error {
	var pieces []runfile.Piece
	for _, piece := range w.Pieces {
		if piece.Kind == records.Heads {
			pieces = append(pieces, piece)
		}
	}
	return w.EachBlock(ctx, func(block *sketchblock.Block, sets runfile.Piece) error {
		heads, err := w.HeadsOf(block, sets, pieces[0])
		if err != nil {
			return err
		}
		pieces = pieces[1:]
		return visit(block, heads)
	})
}

// HeadsOf reads the heads of the sets of a block, given the pieces of the sets and the heads.
func (w *Desk) HeadsOf(block *sketchblock.Block, sets, heads runfile.Piece) (*Heads, error) {
	packed, err := w.ReadPiece(2, heads)
	if err != nil {
		return nil, err
	}
	list, err := block.Heads(packed)
	if err != nil {
		return nil, err
	}
	return &Heads{desk: w, block: block, sets: sets, list: list}, nil
}

// Heads are the heads of the sets of a block. They also read some of the sets, which are few. A storage behind a network is asked
// for all sets at once.
type Heads struct {
	desk  *Desk
	block *sketchblock.Block
	sets  runfile.Piece
	list  []sketchblock.Head

	next, offset int    // the document behind the last one that was read, and where its set begins
	whole        []byte // all sets, if they were read together
}

// Head returns the head of the set of document i.
func (h *Heads) Head(i int) sketchblock.Head { return h.list[i] }

// Set returns the set of document i, which must not be below the last one. It lies in the second buffer.
func (h *Heads) Set(i int) ([]byte, error) {
	for ; h.next < i; h.next++ {
		h.offset += sketchblock.HashSize * h.block.Stored(h.next)
	}
	size := sketchblock.HashSize * h.block.Stored(i)
	if storage.Scheme(h.sets.Path) != "" && h.whole == nil {
		var err error
		if h.whole, err = h.desk.ReadPiece(1, h.sets); err != nil {
			return nil, err
		}
	}
	if h.whole != nil {
		return h.whole[h.offset : h.offset+size], nil
	}
	set, err := h.desk.Reader.ReadStretch(h.desk.Buffers[1][:0], h.sets, h.offset, size)
	h.desk.Buffers[1] = set
	if err == nil && !h.list[i].IsOf(set) {
		err = &storage.DamagedError{Op: "read", Path: h.sets.Path, Err: fmt.Errorf("a set at %d is damaged (check sum)", h.sets.Offset+int64(h.offset))}
	}
	return set, err
}
