package mirrors

import (
	"context"
	"maps"
	"slices"

	"mirrorbeam/internal/carry/findings"
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
