package state

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/records/runfile"
)

// joinedBytes is about how large the run files become that Compact writes. It leaves those alone that have half of it.
const joinedBytes = 256 << 20

// heldBytes is how many bytes of records a writer of segments holds. It writes whole sections, and holds none.
const heldBytes = 1 << 20

// Compact copies the segments of small run files into large ones, and leaves out segments of files that have gone or
// changed. The result is the next generation; earlier ones go. Compact returns the bytes of the state before and after.
func (s *State) Compact(ctx context.Context) (before, after int64, err error) {
	return s.compact(ctx, joinedBytes)
}

func (s *State) compact(ctx context.Context, joined int64) (before, after int64, err error) {
	if before, err = s.bytes(); err != nil {
		return 0, 0, err
	}
	runs, err := s.runsToCompact(joined)
	if err == nil && len(runs) > 0 {
		err = s.rewrite(ctx, runs, joined)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("compact the state: %w", err)
	}
	_, after, err = s.Prune()
	return before, after, err
}

// runsToCompact returns the run files whose segments are to be copied, relative to the folder: small ones, if there are
// several, and files with a half that nobody needs any more.
func (s *State) runsToCompact(joined int64) (runs map[string]bool, err error) {
	runs, wasteful := map[string]bool{}, false
	for run, shards := range s.Last.segments() {
		pieces, err := runfile.Pieces(s.Path(run))
		if err != nil {
			return nil, err
		}
		var all, used int64
		for _, piece := range pieces {
			all += piece.Length
			if shards[piece.Shard] {
				used += piece.Length
			}
		}
		if isWasteful := 2*used < all; isWasteful || all < joined/2 {
			runs[run], wasteful = true, wasteful || isWasteful
		}
	}
	if len(runs) == 1 && !wasteful {
		return nil, nil
	}
	return runs, nil
}

// rewrite copies the segments of run files, in document order, and makes the result the next generation.
func (s *State) rewrite(ctx context.Context, runs map[string]bool, joined int64) error {
	next := s.Last
	next.Files = slices.Clone(next.Files)
	c := copying{state: s, run: runfile.NewWriter(s.Segments(), heldBytes)}
	c.run.Durable = true
	defer c.reader.Close()
	defer func() { c.run.Abort() }()
	for i := range next.Files {
		next.Files[i].Stretches = slices.Clone(next.Files[i].Stretches)
		for k := range next.Files[i].Stretches {
			stretch := &next.Files[i].Stretches[k]
			if !runs[stretch.Run] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.segment(stretch); err != nil {
				return err
			}
			if c.run.Written() >= joined {
				if err := c.end(); err != nil {
					return err
				}
			}
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	return s.Commit(next)
}

type copying struct {
	state  *State
	run    *runfile.Writer
	moved  []*Stretch // whose segments it has, by shard
	reader runfile.Reader
	buffer []byte

	from   string // the run file whose pieces are known
	pieces map[int][]runfile.Piece
}

func (c *copying) segment(stretch *Stretch) error {
	if c.from != stretch.Run {
		pieces, err := runfile.Pieces(c.state.Path(stretch.Run))
		if err != nil {
			return err
		}
		c.from, c.pieces = stretch.Run, map[int][]runfile.Piece{}
		for _, piece := range pieces {
			c.pieces[piece.Shard] = append(c.pieces[piece.Shard], piece)
		}
	}
	for _, piece := range c.pieces[stretch.Shard] {
		var err error
		if c.buffer, err = c.reader.Read(c.buffer[:0], piece); err != nil {
			return err
		}
		if err := c.run.Section(piece.Kind, len(c.moved), c.buffer); err != nil {
			return err
		}
	}
	c.moved = append(c.moved, stretch)
	return nil
}

// end finishes the run file, moves the stretches there, and begins another one.
func (c *copying) end() error {
	path, err := c.run.Close()
	if err != nil {
		return err
	}
	for shard, stretch := range c.moved {
		stretch.Run, stretch.Shard = relative(c.state.Folder, path), shard
	}
	c.moved = nil
	c.run.Reset(c.state.Segments(), heldBytes)
	return nil
}
