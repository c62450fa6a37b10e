package mirrors

import (
	"context"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/site"
	"mirrorbeam/internal/webtext"
	"mirrorbeam/internal/work"
)

// Summing is the work of the stage site. A task sums up, for the clusters of an output shard, what each site has in common
// with each other one.
type Summing struct {
	Judging
	// Rule says which site a page belongs to.
	Rule site.Rule
	// Ranges is the number of ranges of hashes of sites that the sums are written for.
	Ranges int
}

// Delivery returns the delivery of its tasks.
func (*Summing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.ShardPages}, Extra: []runfile.Kind{records.ShardEdges}}
}

// Task sums up an output shard.
func (s *Summing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
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
	shard := newShard(pages, edges, s.owners())
	shard.countSites(s.Limits.Sites)
	sums := newSums(s.Limits.Sites, s.Ranges, &w.Run)
	for i := range shard.classes {
		if err := sums.class(ctx, shard, i); err != nil {
			return err
		}
	}
	w.Outcome.Skipped.SpreadPages += sums.spread
	return sums.flush()
}

// owners returns what tells the owner of a page. It looks at one address of each site.
func (s *Summing) owners() func(*records.ShardPage) owner {
	known := map[uint64]owner{}
	return func(p *records.ShardPage) owner {
		of, is := known[p.Site]
		if !is {
			of.domain = p.Site
			if address, ok := site.Parse(string(p.Address)); ok {
				name, _ := s.Rule.Of(address)
				of = owner{xxh3.HashString(site.Registered(address.Host)), s.lists.isProtected(name)}
			}
			known[p.Site] = of
		}
		return of
	}
}

// sums adds up what sites have in common.
type sums struct {
	ranges   int
	rarities []int64
	run      *runfile.Writer
	spread   int64 // pages that too many sites have

	bySite map[uint64]*records.SiteSum
	byPair map[[2]uint64]*records.Link
}

// newSums returns sums of pages that at most so many sites have.
func newSums(mostSites, ranges int, run *runfile.Writer) *sums {
	s := &sums{ranges: ranges, rarities: rarities(mostSites), run: run}
	s.reset()
	return s
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
func (s *sums) class(ctx context.Context, shard *shard, number int) error {
	c := &shard.classes[number]
	rarity := int64(0)
	if !c.isSpread {
		rarity = s.rarities[c.domains]
	}
	for i := range c.holdings {
		own := &c.holdings[i]
		sum := s.bySite[own.site]
		if sum == nil {
			sum = &records.SiteSum{Site: own.site}
			s.bySite[own.site] = sum
		}
		sum.Repeats += own.repeats
		sum.RepeatedText += own.repeatedText
		sum.Common += fullRarity - rarity
		sum.CommonText += int64(own.pages[0].Size) * (fullRarity - rarity)
		if c.isSpread {
			s.spread++
		}
		if own.isProtected && shard.isAlike(number, own.site) {
			sum.Alike++
		}
	}
	if c.sites < 2 {
		return ctx.Err()
	}
	near := shard.copies(number)
	watched := near
	if c.isSpread {
		watched = nil
		for _, copies := range near {
			if slices.ContainsFunc(copies, func(one copyOf) bool { return one.isWatched }) {
				watched = append(watched, copies)
			}
		}
	}
	var usable []copyOf
	for i := range c.holdings {
		own := &c.holdings[i]
		others := watched
		if own.isWatched {
			others = near
		}
		for _, copies := range others {
			usable = usable[:0]
			for _, one := range copies {
				if one.isFor(own) && len(usable) < pathsSeen {
					usable = append(usable, one)
				}
			}
			if len(usable) > 0 {
				s.add(c, own, usable, rarity)
			}
		}
		if len(s.byPair) >= mostHeld {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
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
	link.Text += int64(page.Size)
	link.Rarity += rarity
	link.Weight += weight
	link.Similarity += similarity
	link.Spread += int64(c.sites)
	if own.asksPassword() {
		link.Logins++
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
