package mirrors

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/measure/documents"
)

// Judging is what the steps know that see pairs of sites.
type Judging struct {
	// Inputs is the path of the list of inputs, which holds the lists of sites that the user has given.
	Inputs work.Path
	Limits Limits

	lists *lists // read in Setup
}

// allLists are the lists of the jobs at work in this process.
var allLists work.Shared[lists]

// Setup reads the lists of sites.
func (j *Judging) Setup() (err error) {
	j.lists, err = allLists.Get(string(j.Inputs), func(path string) (*lists, error) {
		inputs, err := documents.OpenInputs(path)
		if err != nil {
			return nil, err
		}
		l, err := newLists(inputs.Sites.Rank, inputs.Sites.Protected, inputs.Sites.Allowed)
		return &l, err
	})
	return err
}

// Pairing is the second step of the stage mirror. A task adds the second site to the pairs of an output shard. It passes
// on the pairs that are mirrors, and those that make one of the two sites a suspect.
type Pairing struct{ Judging }

// Delivery returns the delivery of its tasks.
func (*Pairing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.SitePairs}, Extra: []runfile.Kind{records.Sites}}
}

// Task judges the pairs of an output shard.
func (p *Pairing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Sites)
	if err != nil {
		return err
	}
	sites := map[uint64]records.Site{}
	for one := range records.All[records.Site](packed) {
		sites[one.Site] = one
	}
	of := p.lists.known()
	return eachRecord(ctx, w, records.SitePairs, func(found *records.SitePair) error {
		return p.judge(w, of, &found.First, &records.Half{Link: found.Second, Of: sites[found.Second.Site]})
	})
}

// judge passes a pair on if it matters. A pair that both sites make mirrors comes twice, and counts where its first site has the smaller
// hash.
func (p *Pairing) judge(w *work.Desk, of *known, one, other *records.Half) error {
	pair := newPair(one, other)
	isWatched, isSuspect := of.areWatched(&pair), false
	if isWatched {
		_, isSuspect = suspect(pair, p.lists, p.Limits)
	}
	isKnown := !isWatched && one.Site > other.Site && p.Limits.wants(other)
	if isKnown || !isSuspect && !pair.isMirror(p.Limits) {
		return nil
	}
	return records.Write(&w.Run, records.Mirrored, 0, &records.MirroredSites{One: one, Other: other})
}

// eachRecord visits the records of a kind, one piece after the other, so that only one is held.
func eachRecord[T any, R records.LaidOut[T]](ctx context.Context, w *work.Desk, kind runfile.Kind, visit func(R) error) error {
	for _, piece := range w.Pieces {
		if piece.Kind != kind {
			continue
		}
		packed, err := w.ReadPiece(1, piece)
		w.Figures.Bytes += int64(len(packed))
		if err != nil {
			return err
		}
		for record := range records.All[T, R](packed) {
			w.Figures.Records++
			if err := cmp.Or(visit(&record), ctx.Err()); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPair visits the pairs that [Pairing] has passed on, in no order.
func eachPair(ctx context.Context, w *work.Desk, visit func(pair) error) error {
	return eachRecord(ctx, w, records.Mirrored, func(both *records.MirroredSites) error {
		return visit(newPair(both.One, both.Other))
	})
}

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
