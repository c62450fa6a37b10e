package transforms

import (
	"context"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

// memory is what a task works in. It goes from one task of a stage to the next,
// since memory that a task would leave to the collector has to be mapped anew for
// the next, page by page.
type memory struct {
	stage   StageName
	figures figures // of the task at hand
	run     runfile.Writer
	buffers [3][]byte
	keys    []candidates.Record
	nodes   numbering.Set
	hashes  []uint64
	pairs   []uint64
}

// workplace is what a task that turns runs into a run has at hand: the pieces it
// is given and the run it writes.
type workplace struct {
	*memory
	Runs    Runs
	reader  runfile.Reader
	pieces  []runfile.Piece
	outcome *outcome
	// Hold keeps what tasks share until all tasks of the bundle have ended.
	Hold func(shared any)
}

// read returns all pieces of a kind, one behind the other, in one of the
// memory's buffers.
func (w *workplace) read(buffer int, kind runfile.Kind) ([]byte, error) {
	b, err := w.reader.ReadKind(w.buffers[buffer][:0], w.pieces, kind)
	w.buffers[buffer] = b
	return b, err
}

// has reports whether the task is given a piece of a kind.
func (w *workplace) has(kind runfile.Kind) bool {
	return slices.ContainsFunc(w.pieces, func(piece runfile.Piece) bool { return piece.Kind == kind })
}

// readPiece returns one piece in one of the memory's buffers.
func (w *workplace) readPiece(buffer int, piece runfile.Piece) ([]byte, error) {
	b, err := w.reader.Read(w.buffers[buffer][:0], piece)
	w.buffers[buffer] = b
	return b, err
}

// eachBlock visits the sketch blocks of a split in order, with the piece that
// holds the sets of the block. The block lies in the first buffer.
func (w *workplace) eachBlock(ctx context.Context, visit func(*sketchblock.Block, runfile.Piece) error) error {
	var documents, sets []runfile.Piece
	for _, piece := range w.pieces {
		switch piece.Kind {
		case records.Documents:
			documents = append(documents, piece)
		case records.Sets:
			sets = append(sets, piece)
		}
	}
	for i, piece := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		buffer, err := w.readPiece(0, piece)
		if err != nil {
			return err
		}
		block, err := sketchblock.Parse(buffer)
		if err != nil {
			return err
		}
		var setsPiece runfile.Piece
		if i < len(sets) {
			setsPiece = sets[i]
		}
		if err := visit(&block, setsPiece); err != nil {
			return err
		}
	}
	return nil
}
