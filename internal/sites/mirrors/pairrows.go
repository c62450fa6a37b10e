package mirrors

import (
	"context"
	"errors"
	"maps"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// pairRows sorts the pairs of a task by name. It holds a part of them at a time.
type pairRows struct {
	pairs map[string]int // by the name of the first site
	// most is about how many pairs are held.
	most int
}

// parts cuts the names into parts, and returns the part of each.
func (r *pairRows) parts() (of map[string]int, parts int) {
	of, held := make(map[string]int, len(r.pairs)), 0
	for _, name := range slices.Sorted(maps.Keys(r.pairs)) {
		if held > 0 && held+r.pairs[name] > r.most {
			parts, held = parts+1, 0
		}
		held += r.pairs[name]
		of[name] = parts
	}
	return of, parts + 1
}

// each visits the mirrors that were counted, by name. If there are many, it writes them to a file by part first.
func (r *pairRows) each(ctx context.Context, w *work.Desk, l Limits, visit func(*pair) error) (err error) {
	partOf, parts := r.parts()
	if parts == 1 {
		var all []pair
		if err := eachPair(ctx, w, func(p pair) error {
			if p.isMirror(l) {
				all = append(all, p)
			}
			return nil
		}); err != nil {
			return err
		}
		return visitSorted(ctx, all, visit)
	}
	run := runfile.NewWriter(string(w.Runs.Folder), heldBytes)
	defer run.Abort()
	if err := eachPair(ctx, w, func(p pair) error {
		if !p.isMirror(l) {
			return nil
		}
		return records.Write(run, records.Mirrored, partOf[p.sides[0].Of.Name], &records.MirroredSites{One: p.sides[0], Other: p.sides[1]})
	}); err != nil {
		return err
	}
	path, err := run.Close()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Remove(path)) }()
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	byPart := make([][]runfile.Piece, parts)
	for _, piece := range pieces {
		byPart[piece.Shard] = append(byPart[piece.Shard], piece)
	}
	for _, part := range byPart {
		packed, err := w.Reader.ReadKind(w.Buffers[2][:0], part, records.Mirrored)
		w.Buffers[2] = packed
		if err != nil {
			return err
		}
		var all []pair
		for both := range records.All[records.MirroredSites](packed) {
			all = append(all, newPair(both.One, both.Other))
		}
		if err := visitSorted(ctx, all, visit); err != nil {
			return err
		}
	}
	return nil
}

// heldBytes is how much of the pairs is held until it is written to a file.
const heldBytes = 16 << 20

// visitSorted visits pairs by name.
func visitSorted(ctx context.Context, all []pair, visit func(*pair) error) error {
	slices.SortFunc(all, func(a, b pair) int { return a.compare(&b) })
	for i := range all {
		if err := errors.Join(visit(&all[i]), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}
