package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
)

// joinedBytes is about how large the run files become that Compact writes. It leaves those alone that have half of it.
const joinedBytes = 256 << 20

// heldBytes is how many bytes of records a writer of segments holds. It writes whole sections, and holds none.
const heldBytes = 1 << 20

// mostSmall is how many small run files there may be: a run joins more of them into large ones.
const mostSmall = 32

// Compact copies the segments of small run files into large ones, and leaves out segments of files that have gone or
// changed. The result is the next generation; earlier ones go. Compact returns the bytes of the state before and after.
func (s *State) Compact(ctx context.Context) (before, after int64, err error) {
	return s.compact(ctx, joinedBytes)
}

func (s *State) compact(ctx context.Context, joined int64) (before, after int64, err error) {
	if before, err = s.bytes(); err != nil {
		return 0, 0, err
	}
	runs, _, err := s.runsToCompact(&s.Last, joined, 1)
	if err == nil && len(runs) > 0 {
		var next Content
		if next, err = s.rewrite(ctx, s.Last, runs, joined); err == nil {
			err = s.Commit(next)
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("compact the state: %w", err)
	}
	_, after, err = s.Prune()
	return before, after, err
}

// Compacted returns the content of the next generation with the segments of wasteful run files in new ones, and all
// segments of small run files once there are many. So a state does not grow with the number of its runs. Where the disk
// has no room for the copies, the content stays as it is.
func (s *State) Compacted(ctx context.Context, next Content) (Content, error) {
	runs, bytes, err := s.runsToCompact(&next, joinedBytes, mostSmall)
	if free, isKnown := storage.Free(s.Segments()); err == nil && len(runs) > 0 && (!isKnown || free > 2*bytes) {
		next, err = s.rewrite(ctx, next, runs, joinedBytes)
	}
	if err != nil {
		return next, fmt.Errorf("compact the state: %w", err)
	}
	return next, nil
}

// runsToCompact returns the run files whose segments are to be copied, relative to the folder, and how many bytes these
// have at most: files with a fifth that nobody needs any more, and small files if all are more than many.
func (s *State) runsToCompact(c *Content, joined int64, many int) (runs map[string]bool, bytes int64, err error) {
	runs, small := map[string]bool{}, map[string]bool{}
	for run, shards := range c.segments() {
		pieces, err := runfile.Pieces(s.Path(run))
		if err != nil {
			return nil, 0, err
		}
		var all, used int64
		for _, piece := range pieces {
			all += piece.Length
			if shards[piece.Shard] {
				used += piece.Length
			}
		}
		switch {
		case 5*used < 4*all:
			runs[run] = true
		case all < joined/2:
			small[run] = true
		default:
			continue
		}
		bytes += used
	}
	if len(runs)+len(small) > many {
		maps.Copy(runs, small)
	}
	return runs, bytes, nil
}

// rewrite copies the segments of run files, in document order. It returns the content with their new places.
func (s *State) rewrite(ctx context.Context, next Content, runs map[string]bool, joined int64) (Content, error) {
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
				return next, err
			}
			if err := c.segment(stretch); err != nil {
				return next, err
			}
			if c.run.Written() >= joined {
				if err := c.end(); err != nil {
					return next, err
				}
			}
		}
	}
	return next, c.end()
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

// keptGenerations is the number of the newest generations whose files stay.
const keptGenerations = 2

// sweep removes all listed files that the newest generations, kept in number, do not need, and older damaged ones.
//
// A run in a bucket that has lost its lease, and does not know it yet, may still be about to write a generation that
// names what is swept. So sweep first takes that number, with a generation of the same content.
func (s *State) sweep(all listed, kept int) error {
	if err := s.removeUnfinished(); err != nil {
		return err
	}
	old := all.generations[:max(len(all.generations)-kept, 0)]
	needed := s.Last.names()
	for _, g := range all.generations[len(old):] {
		if g.number == s.Last.Number {
			continue
		}
		content, err := g.read(s.Folder)
		if _, isBroken := errors.AsType[brokenError](err); isBroken {
			old = append(old, g) // nobody can read it, and no run needs it
			continue
		}
		if err != nil {
			return err
		}
		for name := range content.names() {
			needed[name] = true
		}
	}
	unneeded := slices.DeleteFunc(all.others, func(name string) bool { return needed[name] })
	if len(unneeded) > 0 && s.Last.Number > 0 && storage.Scheme(s.Folder) != "" {
		if err := s.Commit(s.Last); err != nil {
			return err
		}
	}
	for _, g := range old {
		if err := storage.Remove(generationName(s.Folder, g.number)); err != nil {
			return err
		}
	}
	for _, name := range unneeded {
		if err := storage.Remove(s.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeUnfinished removes the files that a killed run was writing on the local disk.
func (s *State) removeUnfinished() error {
	if storage.Scheme(s.Folder) != "" {
		return nil
	}
	return errors.Join(storage.RemoveUnfinished(s.Folder), storage.RemoveUnfinished(s.Segments()))
}

// Prune removes all generations but the newest one. It returns the bytes of the state before and after.
func (s *State) Prune() (before, after int64, err error) {
	if before, err = s.bytes(); err != nil {
		return 0, 0, err
	}
	all, err := list(s.Folder)
	if err == nil {
		err = s.sweep(all, 1)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("prune the state: %w", err)
	}
	after, err = s.bytes()
	return before, after, err
}

func (s *State) bytes() (sum int64, err error) {
	for info, err := range infos(s.Folder) {
		if err != nil {
			return 0, err
		}
		sum += info.Size
	}
	return sum, nil
}

// Verify reads all that the newest generation of the state in a folder needs, and older generations, and checks them.
// It returns the number of bytes. It needs no lease.
func Verify(ctx context.Context, folder string) (bytes int64, err error) {
	content, err := Read(folder)
	if err != nil {
		return 0, err
	}
	segments := content.segments()
	if content.Kept != "" {
		segments[content.Kept] = nil // no segment, but all of it is read
	}
	var reader runfile.Reader
	defer reader.Close()
	var buffer []byte
	for _, name := range slices.Sorted(maps.Keys(segments)) {
		pieces, err := runfile.Pieces(storage.Join(folder, name))
		if err != nil {
			return 0, err
		}
		counted := map[int]bool{}
		for _, piece := range pieces {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return 0, err
			}
			counted[piece.Shard] = counted[piece.Shard] || piece.Kind == records.StretchFigures
			bytes += piece.Length
		}
		for shard := range segments[name] {
			if !counted[shard] {
				return 0, &storage.DamagedError{
					Op:   "verify",
					Path: storage.Join(folder, name),
					Err:  fmt.Errorf("it lacks segment %d", shard),
				}
			}
		}
	}
	if err := content.verifyOthers(folder); err != nil {
		return 0, err
	}
	return bytes, VerifyOlder(folder)
}

// VerifyOlder returns an error if a generation before the newest one is damaged. Runs do without it.
func VerifyOlder(folder string) error {
	all, err := list(folder)
	if err != nil {
		return err
	}
	for _, g := range all.generations[:max(len(all.generations)-1, 0)] {
		_, err := g.read(folder)
		if _, isBroken := errors.AsType[brokenError](err); isBroken {
			return fmt.Errorf(
				"%w: it is not the newest generation, which is whole, so no run needs it: "+
					"'runjob state prune' removes it", err)
		}
	}
	return nil
}

func (c *Content) verifyOthers(folder string) error {
	for _, of := range []struct {
		name string
		read func(path string) error
	}{
		{c.Clusters, fault(ReadGroups)},
		{c.Mirrors, fault(ReadGroups)},
		{c.Suspects, fault(ReadAlerts)},
		{c.Notifications, fault(ReadNotifications)},
		{c.Pairs, fault(ReadCachedPairs)},
	} {
		if of.name == "" {
			continue
		}
		if err := of.read(storage.Join(folder, of.name)); err != nil {
			return err
		}
	}
	return nil
}

// fault returns read without what it reads.
func fault[T any](read func(path string) (T, error)) func(path string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}
