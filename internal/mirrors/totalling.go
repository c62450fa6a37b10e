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
func (Totalling) Task(_ context.Context, t work.Task, w *work.Desk) error {
	shards := work.OutputShards(work.Counts{Documents: t.Documents})
	sites, weights, err := readSites(w)
	if err != nil {
		return err
	}
	for _, s := range sites {
		if err := records.WriteSite(&w.Run, records.ShardOf(s.Site, shards), *s); err != nil {
			return err
		}
	}
	links, err := readLinks(w)
	if err != nil {
		return err
	}
	for key, link := range links {
		half := records.Half{Link: *link, Of: *sites[key[0]]}
		half.Of.Text = weights[key[0]]
		if err := records.WriteHalf(&w.Run, records.Halves, pairShard(link, shards), &half); err != nil {
			return err
		}
	}
	return nil
}

// pairShard returns the output shard of the pair of a link: that of its first site.
func pairShard(l *records.Link, shards int) int { return records.ShardOf(min(l.Site, l.Other), shards) }

// readSites returns the sites of a range, and the weight of the pages of each, by hash.
func readSites(w *work.Desk) (sites map[uint64]*records.Site, weights map[uint64]int64, err error) {
	counts, err := w.Read(0, records.SiteCounts)
	if err != nil {
		return nil, nil, err
	}
	w.Figures.Bytes += int64(len(counts))
	sites, weights = map[uint64]*records.Site{}, map[uint64]int64{}
	for len(counts) > 0 {
		var c records.SiteCount
		c, counts = records.NextSiteCount(counts)
		w.Figures.Records++
		if s := sites[c.Site]; s != nil {
			s.Add(c)
		} else {
			sites[c.Site] = &records.Site{SiteCount: c}
		}
	}
	for hash, s := range sites {
		weights[hash] = s.Text * fullRarity
	}
	sums, err := w.Read(0, records.SiteSums)
	if err != nil {
		return nil, nil, err
	}
	for len(sums) > 0 {
		var s records.SiteSum
		s, sums = records.NextSiteSum(sums)
		sites[s.Site].Repeats += s.Repeats
		weights[s.Site] -= s.RepeatedText*fullRarity + s.CommonText
	}
	return sites, weights, nil
}

// readLinks returns what the sites of a range have in common with others.
func readLinks(w *work.Desk) (map[[2]uint64]*records.Link, error) {
	packed, err := w.Read(0, records.Links)
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += int64(len(packed))
	links := map[[2]uint64]*records.Link{}
	for len(packed) > 0 {
		var l records.Link
		l, packed = records.NextLink(packed)
		w.Figures.Records++
		if known := links[[2]uint64{l.Site, l.Other}]; known != nil {
			known.Add(l)
		} else {
			links[[2]uint64{l.Site, l.Other}] = &l
		}
	}
	return links, nil
}
