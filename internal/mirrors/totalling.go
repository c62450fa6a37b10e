package mirrors

import (
	"context"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Totalling is the first step of the stage mirror. A task adds up the sums of the sites in a range of hashes. It sends each
// site to its output shard, of which there are as many as of clusters, and what the site has in common with another one to the output shard of the pair.
type Totalling struct{}

// Delivery returns the delivery of its tasks.
func (Totalling) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.SiteCounts}, Extra: []runfile.Kind{records.SiteSums, records.Links}}
}

// Task adds up the sums of a range.
func (Totalling) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	shards := work.OutputShards(work.Counts{Documents: t.Documents})
	sites, err := readSites(ctx, w)
	if err != nil {
		return err
	}
	for _, s := range sites {
		if err := records.WriteSite(&w.Run, records.ShardOf(s.Site, shards), *s); err != nil {
			return err
		}
	}
	links, err := readLinks(ctx, w)
	if err != nil {
		return err
	}
	for key, link := range links {
		if err := ctx.Err(); err != nil {
			return err
		}
		half := records.Half{Link: *link, Of: *sites[key[0]]}
		if err := records.WriteHalf(&w.Run, records.Halves, pairShard(link, shards), &half); err != nil {
			return err
		}
	}
	return nil
}

// pairShard returns the output shard of the pair of a link: that of its first site.
func pairShard(l *records.Link, shards int) int { return records.ShardOf(min(l.Site, l.Other), shards) }

// readSites returns the sites of a range, by hash.
func readSites(ctx context.Context, w *work.Desk) (map[uint64]*records.Site, error) {
	counts, err := w.Read(0, records.SiteCounts)
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += int64(len(counts))
	sites := map[uint64]*records.Site{}
	for len(counts) > 0 && ctx.Err() == nil {
		var c records.SiteCount
		c, counts = records.NextSiteCount(counts)
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
	for len(sums) > 0 && ctx.Err() == nil {
		var sum records.SiteSum
		sum, sums = records.NextSiteSum(sums)
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

// readLinks returns what the sites of a range have in common with others.
func readLinks(ctx context.Context, w *work.Desk) (map[[2]uint64]*records.Link, error) {
	packed, err := w.Read(0, records.Links)
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += int64(len(packed))
	links := map[[2]uint64]*records.Link{}
	for len(packed) > 0 && ctx.Err() == nil {
		var l records.Link
		l, packed = records.NextLink(packed)
		w.Figures.Records++
		if known := links[[2]uint64{l.Site, l.Other}]; known != nil {
			known.Add(l)
		} else {
			links[[2]uint64{l.Site, l.Other}] = &l
		}
	}
	return links, ctx.Err()
}
