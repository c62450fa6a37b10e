package mirrors

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

// Totalling is the first step of the stage mirror. A task adds up the sums of the sites in a range of hashes, and compares these with all
// others. It sends each site to its output shard, and each pair that may matter to the output shard of its second site. There are as
// many of these shards as of clusters.
type Totalling struct{ Limits Limits }

// Delivery returns the delivery of its tasks.
func (Totalling) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.SiteCounts}, Extra: []runfile.Kind{records.SiteSums, records.PageClasses, records.Redirects}}
}

// Task adds up the sums of a range.
func (l Totalling) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	shards := work.OutputShards(findings.Counts{Documents: t.Documents})
	sites, err := readSites(ctx, w)
	if err != nil {
		return err
	}
	order := slices.Sorted(maps.Keys(sites))
	for _, hash := range order {
		if err := records.Write(&w.Run, records.Sites, records.ShardOf(hash, shards), sites[hash]); err != nil {
			return err
		}
	}
	packed, err := w.Read(0, records.PageClasses)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(packed))
	var classes []records.PageClass
	for len(packed) > 0 && ctx.Err() == nil {
		var c records.PageClass
		c, packed = records.NextPageClass(packed)
		classes = append(classes, c)
	}
	w.Figures.Records += int64(len(classes))
	comparison := newComparison(l.Limits, sites, classes)
	if err := eachRecord(ctx, w, records.Redirects, func(one *records.Redirect) error {
		comparison.addRedirect(*one)
		return nil
	}); err != nil {
		return err
	}
	for _, hash := range order {
		if err := comparison.site(ctx, sites[hash], func(pair *records.SitePair) error {
			return records.Write(&w.Run, records.SitePairs, records.ShardOf(pair.Second.Site, shards), pair)
		}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func readSites(ctx context.Context, w *work.Desk) (map[uint64]*records.Site, error) {
	counts, err := w.Read(0, records.SiteCounts)
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += int64(len(counts))
	sites := map[uint64]*records.Site{}
	for c := range records.All[records.SiteCount](counts) {
		w.Figures.Records++
		if s := sites[c.Site]; s != nil {
			s.Add(c)
		} else {
			sites[c.Site] = &records.Site{SiteCount: c}
		}
	}
	sums, err := w.Read(0, records.SiteSums)
	if err != nil {
		return nil, err
	}
	for sum := range records.All[records.SiteSum](sums) {
		s := sites[sum.Site]
		s.Repeats, s.RepeatedText = s.Repeats+sum.Repeats, s.RepeatedText+sum.RepeatedText
		s.Alike += sum.Alike
		s.Rarity, s.Weight = s.Rarity-sum.Common, s.Weight-sum.CommonText
	}
	for _, s := range sites { // so far, what they lack to the highest
		s.Rarity, s.Weight = s.Rarity+s.Distinct()*fullRarity, s.Weight+s.DistinctText()*fullRarity
	}
	return sites, ctx.Err()
}

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
