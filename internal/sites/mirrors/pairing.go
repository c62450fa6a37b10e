package mirrors

import (
	"cmp"
	"context"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
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
