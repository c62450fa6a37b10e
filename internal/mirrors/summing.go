// Package mirrors finds sites that have much in common, groups of these, and copies of protected sites.
//
// A page of a site is a document with an address. A copy of a page is a document that is identical to it, or that a
// verified edge joins to it or to a document that is identical to it: so nothing follows from chains of edges.
// Documents of a site that are identical count as one page.
//
// The work is in four steps over run files. [Summing] sees the documents and edges of an output shard of clusters,
// where the copies of a page are together, and sums up what each site has in common with each other one. [Totalling]
// adds the sums of the sites of a range of hashes. [Pairing] joins the two halves of a pair of sites, and passes on the
// pairs that have much in common. [Grouping] makes groups of these, and writes the rows of mirrors and suspects. Then
// [SiteRows] writes the rows of sites.
package mirrors

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Summing is the work of the stage site. A task sums up, for the clusters of an output shard, what each site has that
// others have, too, and sends pages that several sites have to the ranges of these.
type Summing struct {
	Judging
	Rule site.Rule
	// Ranges is the number of ranges of hashes of sites that the sums are written for.
	Ranges int
}

// Delivery returns the delivery of its tasks.
func (*Summing) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.ShardPages}, Extra: []runfile.Kind{records.ShardEdges}}
}

// Task sums up an output shard.
func (s *Summing) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
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
	countFromLowest(pages, edges)
	shard := newShard(pages, edges, s.owners())
	shard.number = t.Number
	shard.countSites(s.Limits.Sites)
	sums := &sums{
		ranges:   s.Ranges,
		rarities: rarities(s.Limits.Sites),
		run:      &w.Run,
		bySite:   map[uint64]*records.SiteSum{},
		wanted:   map[int]struct{}{},
	}
	for i := range shard.classes {
		if err := sums.class(ctx, shard, i); err != nil {
			return err
		}
	}
	w.Outcome.Skipped.SpreadPages += sums.spread
	return sums.flush()
}

// countFromLowest makes the numbers of a shard begin with 0. A document that is no page has an edge. Edges are sorted.
func countFromLowest(pages []records.ShardPage, edges []records.Edge[records.Number]) {
	lowest := ^records.Number(0)
	if len(edges) > 0 {
		lowest = edges[0].A
	}
	for i := range pages {
		lowest = min(lowest, pages[i].Number)
	}
	for i := range pages {
		pages[i].Number -= lowest
	}
	for i := range edges {
		edges[i].A, edges[i].B = edges[i].A-lowest, edges[i].B-lowest
	}
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

type sums struct {
	ranges   int
	rarities []int64
	run      *runfile.Writer
	spread   int64 // pages that too many sites have

	bySite map[uint64]*records.SiteSum
	wanted map[int]struct{} // ranges
	packed []byte
}

// mostHeld is the number of sites whose sums are held in memory.
const mostHeld = 1 << 16

func (s *sums) flush() error {
	for _, sum := range s.bySite {
		if err := records.Write(s.run, records.SiteSums, records.ShardOf(sum.Site, s.ranges), sum); err != nil {
			return err
		}
	}
	clear(s.bySite)
	return nil
}

// class adds what the pages of a class have to do with other sites, and sends the class to the ranges of these sites.
func (s *sums) class(ctx context.Context, shard *shard, number int) error {
	c := &shard.classes[number]
	if !c.isSpread {
		c.rarity = s.rarities[c.domains]
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
		sum.Common += fullRarity - c.rarity
		sum.CommonText += int64(own.pages[0].Size) * (fullRarity - c.rarity)
		if c.isSpread {
			s.spread++
		}
		if own.isProtected && shard.isAlike(number, own.site) {
			sum.Alike++
		}
	}
	if len(s.bySite) >= mostHeld {
		if err := s.flush(); err != nil {
			return err
		}
	}
	return errors.Join(s.send(shard, number), ctx.Err())
}

// send writes a class to the ranges of the sites that have its pages or copies, unless too many do.
func (s *sums) send(shard *shard, number int) error {
	c := &shard.classes[number]
	if c.sites < 2 {
		return nil
	}
	clear(s.wanted)
	want := func(of *class, isSpread bool) {
		for i := 0; i < len(of.holdings) && !isSpread; i++ {
			s.wanted[records.ShardOf(of.holdings[i].site, s.ranges)] = struct{}{}
		}
	}
	want(c, c.isSpread)
	for _, e := range shard.around(number) {
		near := &shard.classes[e.to]
		want(near, c.isSpread || near.isSpread)
	}
	if len(s.wanted) == 0 {
		return nil
	}
	sent := records.PageClass{
		ID:       shard.id(uint32(number)),
		Rarity:   c.rarity,
		Sites:    int64(c.sites),
		IsSpread: c.isSpread,
	}
	for i := range c.holdings {
		h := &c.holdings[i]
		sent.Holdings = append(sent.Holdings, records.Holding{
			Site:  h.site,
			Pages: h.pages,
		})
	}
	for _, e := range shard.around(number) {
		sent.Copies = append(sent.Copies, records.PageClassCopy{
			Class:      shard.id(e.to),
			Similarity: e.similarity,
		})
	}
	s.packed = records.Append(s.packed[:0], &sent)
	for to := range s.wanted {
		if err := records.WritePacked(s.run, records.PageClasses, to, s.packed); err != nil {
			return err
		}
	}
	return nil
}

// A page weighs its text, in shingles, times its rarity: whole numbers, whose sums do not depend on their order.
const (
	// fullRarity is the rarity of a page that one or two sites have.
	fullRarity = 1 << 10
	// mostSites is the largest number of sites that may be set as the largest number of sites that have a page.
	mostSites = 1000
)

// rarities returns the rarity of a page by the number of registered domains whose sites have it, up to most of them:
// full up to two, and then one over the binary logarithm. So of two sites that share a page with two others, and pages
// with nobody else, more than half has to be shared; and all of a site is all of it, whatever number of mirrors has it.
func rarities(most int) []int64 {
	all := make([]int64, most+1)
	for domains := range all {
		all[domains] = int64(math.Round(fullRarity / max(math.Log2(float64(domains)), 1)))
	}
	return all
}

// Totalling is the first step of the stage mirror. A task adds up the sums of the sites in a range of hashes, and
// compares them with all others. It sends sites to their output shards, and pairs that may matter to the shards of
// their second sites.
type Totalling struct{ Limits Limits }

// Delivery returns the delivery of its tasks.
func (Totalling) Delivery() work.Delivery {
	return work.Delivery{
		Needed: []runfile.Kind{records.SiteCounts},
		Extra:  []runfile.Kind{records.SiteSums, records.PageClasses, records.Redirects, records.Copies},
	}
}

// Task adds up the sums of a range.
func (l Totalling) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
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
		c, packed = records.Next[records.PageClass](packed)
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
	return eachCopier(ctx, w, sites, func(one *records.Copier) error {
		return records.Write(&w.Run, records.Copiers, records.ShardOf(one.Site, shards), one)
	})
}

func readSites(ctx context.Context, w *work.TaskContext) (map[uint64]*records.Site, error) {
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
func (s *SiteRows) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Sites)
	if err != nil {
		return err
	}
	sites := slices.SortedFunc(records.All[records.Site](packed), func(a, b records.Site) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Site, b.Site))
	})
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
				Site:       one.Name,
				Pages:      one.Pages,
				Duplicates: one.Repeats,
				First:      dateText(one.First),
				Rank:       s.lists.rank(one.Name),
				Protected:  s.lists.isProtected(one.Name),
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
