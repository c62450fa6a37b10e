package gathering

import (
	"context"
	"fmt"
	"math"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Where many tasks join the parts of the candidate graph, each places the components that begin in a range of document
// order. The places of range 5 of 128 are 5, 133, 261 and so on, so no task needs to know how many another one makes.

// strideOf returns the distance of the places of a range.
func strideOf(ranges int) graphs.Place { return graphs.Place(max(ranges, 1)) }

// Uniting joins trees of the candidate graph; see [union.Uniting].
type Uniting struct {
	union.Uniting
	// Bounds are as in [Components].
	Bounds groups.Bounds
}

// Plan tells the tasks of [PlacingRange] which stars are not compared, and joins trees.
func (u *Uniting) Plan(ctx context.Context, p *work.Planning) error {
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Fingerprint, work.Strip, work.Prune)
	stars, err := readStars(runs, u.Bounds, p.Counts.Documents+p.Counts.ReferenceDocuments, p.Memory)
	if err == nil {
		err = stars.write(string(p.Runs.Folder))
	}
	if err != nil {
		return err
	}
	return u.Uniting.Plan(ctx, p)
}

// PlacingRange places the components that begin in a range, and writes the locations of their nodes.
type PlacingRange struct {
	union.Finishing
	// PlaceBytes is as in [Components].
	PlaceBytes int64
}

// Task places the components of a range. Its outcome says how many places there are, if all ranges have as many.
func (r *PlacingRange) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	stars, err := openStars(string(w.Runs.Folder))
	if err != nil {
		return err
	}
	graph, err := r.Graph(w)
	if err != nil {
		return err
	}
	of := &placing{
		run:    &w.Run,
		layout: r.Layout(),
		stars:  stars,
		packer: graphs.NewPacker(r.PlaceBytes / hashBytes),
		number: graphs.Place(t.Number),
		stride: strideOf(r.Count),
	}
	if err := joining.Label(graph, of); err != nil {
		return err
	}
	places := of.packer.Places() * r.Count
	if places > math.MaxUint32 {
		return fmt.Errorf("place components: more than %d places", int64(math.MaxUint32))
	}
	w.Outcome.Places = places
	return nil
}

type starred struct {
	Ref  docref.Ref
	Star records.StarNumber
}

func starsPath(folder string) string { return storage.Join(folder, "stars") }

func (s *stars) write(folder string) error {
	var b []byte
	for document, ref := range s.documents.Keys {
		if star := s.of[document]; star != 0 {
			b = records.Append(b, &starred{docref.Ref(ref), star})
		}
	}
	if err := storage.WriteFile(starsPath(folder), b); err != nil {
		return fmt.Errorf("write stars: %w", err)
	}
	return nil
}

func openStars(folder string) (*stars, error) {
	b, err := storage.ReadFile(starsPath(folder))
	if err != nil {
		return nil, fmt.Errorf("read stars: %w", err)
	}
	s := &stars{}
	for one := range records.All[starred](b) {
		s.documents.Add(uint64(one.Ref))
		s.of = append(s.of, one.Star)
	}
	return s, nil
}
