package narrowing

import (
	"fmt"

	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// setReader reads the sets of some documents of a block, which are few. A storage behind a network is asked for all at once.
type setReader struct {
	desk  *work.Desk
	block *sketchblock.Block
	piece runfile.Piece
	heads []sketchblock.Head

	next, offset int    // the document behind the last one that was read, and where its set begins
	whole        []byte // all sets, if they were read together
}

// read returns the set of document i; i ascends.
func (r *setReader) read(i int) ([]byte, error) {
	for ; r.next < i; r.next++ {
		r.offset += sketchblock.HashSize * r.block.Stored(r.next)
	}
	size := sketchblock.HashSize * r.block.Stored(i)
	if storage.Scheme(r.piece.Path) != "" && r.whole == nil {
		var err error
		if r.whole, err = r.desk.ReadPiece(1, r.piece); err != nil {
			return nil, err
		}
	}
	if r.whole != nil {
		return r.whole[r.offset : r.offset+size], nil
	}
	set, err := r.desk.Reader.ReadStretch(r.desk.Buffers[1][:0], r.piece, r.offset, size)
	r.desk.Buffers[1] = set
	if err == nil && !r.heads[i].IsOf(set) {
		err = &storage.DamagedError{Op: "read", Path: r.piece.Path, Err: fmt.Errorf("a set at %d is damaged (check sum)", r.piece.Offset+int64(r.offset))}
	}
	return set, err
}
