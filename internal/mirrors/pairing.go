package mirrors

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
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

// Pairing is the second step of the stage mirror. A task puts the halves of the pairs of an output shard together. It passes
// on the pairs that are mirrors, and those that make one of the two sites a suspect.
type Pairing struct{ Judging }

// Delivery returns the delivery of its tasks.
func (*Pairing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Halves}}
}

// Task judges the pairs of an output shard.
func (p *Pairing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Halves)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(packed))
	halves := map[[2]uint64]*records.Half{}
	for len(packed) > 0 && ctx.Err() == nil {
		var h *records.Half
		h, packed = records.NextHalf(packed)
		w.Figures.Records++
		other := halves[[2]uint64{h.Other, h.Site}]
		if other == nil {
			halves[[2]uint64{h.Site, h.Other}] = h
			continue
		}
		delete(halves, [2]uint64{h.Other, h.Site})
		pair := newPair(h, other)
		if _, isSuspect := suspect(pair, p.lists, p.Limits); !isSuspect && !pair.isMirror(p.Limits) {
			continue
		}
		for _, half := range pair.sides {
			if err := records.WriteHalf(&w.Run, records.Mirrored, 0, half); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, half := range halves {
		return fmt.Errorf("site %s has pages in common with another, which has none in common with it", half.Of.Name)
	}
	return nil
}

// readPairs returns the pairs that [Pairing] has passed on, by the names of their sites.
func readPairs(ctx context.Context, w *work.Desk) ([]pair, error) {
	packed, err := w.Read(0, records.Mirrored)
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += int64(len(packed))
	var pairs []pair
	for len(packed) > 0 && ctx.Err() == nil {
		var one, other *records.Half
		one, packed = records.NextHalf(packed)
		other, packed = records.NextHalf(packed)
		pairs = append(pairs, newPair(one, other))
	}
	w.Figures.Records += int64(len(pairs))
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.sides[0].Of.Name, b.sides[0].Of.Name), cmp.Compare(a.sides[1].Of.Name, b.sides[1].Of.Name))
	})
	return pairs, ctx.Err()
}
