package mirrors

import (
	"cmp"
	"context"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

// SiteRows writes the rows of the sites of an output shard, by name.
type SiteRows struct {
	Judging
	Results
}

// Delivery returns the delivery of its tasks.
func (*SiteRows) Delivery() work.Delivery {
	return work.Delivery{Output: true, Extra: []runfile.Kind{records.Sites, records.Grouped}}
}

// Task writes the rows of an output shard.
func (s *SiteRows) Task(_ context.Context, t work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Sites)
	if err != nil {
		return err
	}
	sites := slices.SortedFunc(records.All[records.Site](packed), func(a, b records.Site) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Site, b.Site)) })
	if packed, err = w.Read(0, records.Grouped); err != nil {
		return err
	}
	groups := map[uint64]records.GroupedSite{}
	for one := range records.All[records.GroupedSite](packed) {
		groups[one.Site] = one
	}
	w.Figures.Records += int64(len(sites))
	found := &findings.Mirrors{Sites: int64(len(sites))}
	w.Outcome.Mirrors = found
	return writeRows(&s.Results, s.Name(output.Sites, t.Number, t.Shards), w, func(row func(output.Site) error) error {
		for _, one := range sites {
			of := output.Site{
				Site: one.Name, Pages: one.Pages, Duplicates: one.Repeats, First: dateText(one.First),
				Rank: s.lists.rank(one.Name), Protected: s.lists.isProtected(one.Name),
			}
			if of.Protected {
				found.Protected++
			}
			if in, is := groups[one.Site]; is {
				of.Group, of.Primary = in.Primary, in.Primary == one.Name
				of.GroupSites, of.Cohesion = in.Sites, rounded(float64(in.Cohesion)/records.Unit)
			}
			if err := row(of); err != nil {
				return err
			}
		}
		return nil
	})
}
