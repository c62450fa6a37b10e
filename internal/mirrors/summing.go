package mirrors

import (
	"context"
	"math"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/webtext"
	"mirrorbeam/internal/work"
)

// Summing is the work of the stage site. A task sums up, for the clusters of an output shard, what each site has in common
// with each other one.
type Summing struct {
	// Limits hold the largest number of sites that have a page.
	Limits Limits
	// Ranges is the number of ranges of hashes of sites that the sums are written for.
	Ranges int
}

// Delivery returns the delivery of its tasks.
func (Summing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.ShardPages}, Extra: []runfile.Kind{records.ShardEdges}}
}

// Task sums up an output shard.
func (s Summing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	// The largest cluster may need all the memory there is, so the task drops the buffers of earlier tasks.
	*w.Memory = work.Memory{Figures: w.Figures, Run: w.Run}
	pages, err := records.ReadShardPages(&w.Reader, w.Pieces)
	if err != nil {
		return err
	}
	edges, err := records.ReadEdges(&w.Reader, w.Pieces)
	if err != nil {
		return err
	}
	w.Figures.Records += int64(len(pages) + len(edges))
	sums := &sums{limits: s.Limits, ranges: s.Ranges, rarities: rarities(s.Limits.Sites), run: &w.Run}
	sums.reset()
	shard := newShard(pages, edges)
	shard.countSites(s.Limits.Sites)
	for i := range shard.classes {
		if err := sums.class(shard, i); err != nil {
			return err
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	w.Outcome.Skipped.SpreadPages += sums.spread
	return sums.flush()
}

// sums adds up what sites have in common.
type sums struct {
	limits   Limits
	ranges   int
	rarities []int64
	run      *runfile.Writer
	spread   int64 // pages that too many sites have

	bySite map[uint64]*records.SiteSum
	byPair map[[2]uint64]*records.Link
}

func (s *sums) reset() {
	s.bySite, s.byPair = map[uint64]*records.SiteSum{}, map[[2]uint64]*records.Link{}
}

// mostHeld is the number of pairs of sites whose sums are held in memory.
const mostHeld = 1 << 16

// flush writes the sums.
func (s *sums) flush() error {
	for _, sum := range s.bySite {
		if err := records.WriteSiteSum(s.run, records.ShardOf(sum.Site, s.ranges), *sum); err != nil {
			return err
		}
	}
	for _, link := range s.byPair {
		if err := records.WriteLink(s.run, records.ShardOf(link.Site, s.ranges), link); err != nil {
			return err
		}
	}
	s.reset()
	return nil
}

// class adds what the pages of a class have to do with other sites.
func (s *sums) class(shard *shard, number int) error {
	c := &shard.classes[number]
	isSpread := c.sites > s.limits.Sites
	rarity := int64(0)
	if !isSpread {
		rarity = s.rarities[c.sites]
	}
	for _, own := range c.holdings {
		sum := s.bySite[own.site]
		if sum == nil {
			sum = &records.SiteSum{Site: own.site}
			s.bySite[own.site] = sum
		}
		sum.Repeats += own.repeats
		sum.RepeatedText += own.repeatedText
		sum.CommonText += int64(own.pages[0].Size) * (fullRarity - rarity)
		if isSpread {
			s.spread++
		}
	}
	if isSpread || c.sites < 2 {
		return nil
	}
	near := shard.copies(number, s.limits.Sites)
	for i := range c.holdings {
		for _, copies := range near {
			if copies[0].site != c.holdings[i].site {
				s.add(c, &c.holdings[i], copies, rarity)
			}
		}
		if len(s.byPair) >= mostHeld {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a page of a site, and its copies on another site.
func (s *sums) add(c *class, own *holding, copies []copyOf, rarity int64) {
	key := [2]uint64{own.site, copies[0].site}
	link := s.byPair[key]
	if link == nil {
		link = &records.Link{Site: key[0], Other: key[1]}
		s.byPair[key] = link
	}
	page, similarity := &own.pages[0], int64(math.Round(copies[0].similarity*records.Unit))
	weight := int64(page.Size) * rarity
	link.Pages++
	link.Text += weight
	link.Similarity += similarity
	link.Spread += int64(c.sites)
	addEntrance(link, own, copies)
	if page.Original == key[1] {
		link.Originals++
	}
	// Pages at one path tell the most.
	shown, isSame := samePath(own, copies)
	if !isSame {
		shown = [2]*records.ShardPage{page, &copies[0].pages[0]}
	} else {
		link.SamePath++
	}
	if none := [3]byte{}; shown[0].Language != none && shown[1].Language != none {
		link.LanguagePages++
		if shown[0].Language == shown[1].Language {
			link.SameLanguage++
		}
	}
	if shown[0].Markup != nil && shown[1].Markup != nil {
		link.MarkupPages++
		link.Markup += int64(math.Round(webtext.MarkupSimilarity(shown[0].Markup, shown[1].Markup) * records.Unit))
	}
	// The examples of a pair are those of its first site.
	if key[0] < key[1] && link.Examples.Wants(weight) {
		link.Examples.Add(records.Example{
			Weight: weight, Similarity: similarity, Page: string(shown[0].Address), Copy: string(shown[1].Address),
		})
	}
}

// samePath returns a page of a site and a copy on another site at the same path. Of several it takes the first page, and
// its best copy.
func samePath(own *holding, copies []copyOf) (pages [2]*records.ShardPage, is bool) {
	for i := range own.pages {
		for _, of := range copies {
			for j := range of.pages {
				if own.pages[i].Path == of.pages[j].Path {
					return [2]*records.ShardPage{&own.pages[i], &of.pages[j]}, true
				}
			}
		}
	}
	return pages, false
}
