package mirrors

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/records"
)

// comparison compares the sites of a range with all others. It holds the classes that matter to them, and figures of
// one site at a time with all others: never of all pairs.
type comparison struct {
	limits  Limits
	sites   map[uint64]*records.Site // of the range
	classes []records.PageClass
	near    [][]link               // of each class, by number
	others  map[uint64]uint32      // the numbers of all sites in the classes
	tallies []tally                // by these numbers
	own     map[uint64][][2]uint32 // of each site of the range: numbers of classes, and of its holdings in these
	marks   uint64                 // classes of sites that were seen so far
	// redirects counts those from one site to another, of sites in the classes.
	redirects map[[2]uint64]int64
}

// link leads from a class to one with copies of its pages. The first link of a class leads to itself.
type link struct {
	to         uint32
	similarity float64
}

// tally is just enough of what one site has in common with another to tell whether the pair is wanted.
type tally struct {
	site  uint64
	mark  uint64 // of the class that was counted last
	begun uint64 // the first mark of the site that has the other pages
	link  records.Link
	near  bool // some of the pages are not equal, so the other site may have another number of them
}

func newComparison(l Limits, sites map[uint64]*records.Site, classes []records.PageClass) *comparison {
	c := &comparison{
		limits:    l,
		sites:     sites,
		classes:   classes,
		near:      make([][]link, len(classes)),
		others:    map[uint64]uint32{},
		own:       map[uint64][][2]uint32{},
		redirects: map[[2]uint64]int64{},
	}
	// Ids of the classes of a component are in the order of documents. Classes of a task are by id.
	slices.SortStableFunc(classes, func(a, b records.PageClass) int { return cmp.Compare(a.ID, b.ID) })
	for i := range classes {
		of := &classes[i]
		isHere := false
		for j := range of.Holdings {
			h := &of.Holdings[j]
			if _, known := c.others[h.Site]; !known {
				c.others[h.Site] = uint32(len(c.tallies))
				c.tallies = append(c.tallies, tally{site: h.Site})
			}
			if sites[h.Site] != nil {
				isHere = true
				c.own[h.Site] = append(c.own[h.Site], [2]uint32{uint32(i), uint32(j)})
			}
		}
		if !isHere {
			continue
		}
		c.near[i] = append(c.near[i], link{uint32(i), 1})
		for _, to := range of.Copies {
			if at, is := slices.BinarySearchFunc(classes, to.Class, func(c records.PageClass, id uint64) int {
				return cmp.Compare(c.ID, id)
			}); is {
				c.near[i] = append(c.near[i], link{uint32(at), to.Similarity})
			}
		}
	}
	return c
}

// addRedirect takes in redirects from a site to another one. Only those between sites that have pages in common matter.
func (c *comparison) addRedirect(r records.Redirect) {
	_, isKnown := c.others[r.Site]
	if _, is := c.others[r.Other]; is && isKnown {
		c.redirects[[2]uint64{r.Site, r.Other}] += r.Pages
	}
}

// addVotes adds the redirects from a site to another one to the pages that say that they belong there. It adds no more
// than the sites have pages in common: a redirect costs nothing, so who writes more of them must not gain by it.
func (c *comparison) addVotes(l *records.Link) {
	l.Originals = min(l.Originals+c.redirects[[2]uint64{l.Site, l.Other}], l.Pages)
}

type match struct {
	other      uint32 // number of the other site
	class      uint32
	near       uint32 // the class of the copy
	own, copy  *records.Holding
	similarity float64
}

// each visits the pages of a site with their copies on other sites. Pages of very many sites are not compared.
func (c *comparison) each(ctx context.Context, site uint64, visit func(match)) error {
	for _, at := range c.own[site] {
		of := &c.classes[at[0]]
		own := &of.Holdings[at[1]]
		for _, to := range c.near[at[0]] {
			near := &c.classes[to.to]
			if of.IsSpread || near.IsSpread {
				continue
			}
			for i := range near.Holdings {
				h := &near.Holdings[i]
				if h.Site != site {
					visit(match{c.others[h.Site], at[0], to.to, own, h, to.similarity})
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// mostMatches is about how many matches of a site are held at a time.
const mostMatches = 1 << 19

// site finds the sites that have much in common with a site of the range. It hands each pair to emit.
func (c *comparison) site(ctx context.Context, of *records.Site, emit func(*records.SitePair) error) error {
	var met []uint32 // numbers of other sites
	begun, class := c.marks+1, ^uint32(0)
	if err := c.each(ctx, of.Site, func(m match) {
		if m.class != class {
			class = m.class
			c.marks++
		}
		t := &c.tallies[m.other]
		if t.mark == c.marks {
			return
		}
		if t.begun != begun {
			*t = tally{site: t.site, begun: begun}
			met = append(met, m.other)
		}
		t.mark = c.marks
		t.near = t.near || m.near != m.class
		rarity := c.classes[m.class].Rarity
		t.link.Pages++
		t.link.Rarity += rarity
		t.link.Weight += rarity * int64(m.own.Pages[0].Size)
	}); err != nil {
		return err
	}
	c.marks++ // the next site begins with another one
	met = slices.DeleteFunc(met, func(other uint32) bool {
		t := &c.tallies[other]
		if second := c.sites[t.site]; second != nil && !t.near && t.site < of.Site && c.limits.wants(&records.Half{
			Link: t.link,
			Of:   *second,
		}) {
			return true // it was found from the other site
		}
		return !c.limits.wants(&records.Half{Link: t.link, Of: *of})
	})
	slices.Sort(met)
	for len(met) > 0 {
		n, matches := 0, int64(0)
		for n < len(met) && matches < mostMatches {
			matches += c.tallies[met[n]].link.Pages
			n++
		}
		if err := c.describe(ctx, of, met[:n], emit); err != nil {
			return err
		}
		met = met[n:]
	}
	return nil
}

// wants reports whether two sites may be mirrors because of what the other one has of this site.
func (l Limits) wants(h *records.Half) bool { return h.Pages >= l.Pages && share(h) >= l.Score }

// describe finds all that a site has in common with some others, by number and ascending.
func (c *comparison) describe(ctx context.Context, of *records.Site, others []uint32,
	emit func(*records.SitePair) error,
) error {
	var all []match
	isWanted := make(map[uint32]bool, len(others))
	for _, other := range others {
		isWanted[other] = true
	}
	if err := c.each(ctx, of.Site, func(m match) {
		if isWanted[m.other] {
			all = append(all, m)
		}
	}); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.other, b.other), cmp.Compare(a.class, b.class),
			cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.near, b.near))
	})
	for len(all) > 0 {
		n := stretch(all, func(a, b *match) bool { return a.other == b.other })
		pair := records.SitePair{First: records.Half{Of: *of}}
		other := c.tallies[all[0].other].site
		pair.First.Site, pair.First.Other, pair.Second.Site, pair.Second.Other = of.Site, other, other, of.Site
		c.add(&pair.First.Link, all[:n])
		for i := range all[:n] {
			m := &all[i]
			m.class, m.near, m.own, m.copy = m.near, m.class, m.copy, m.own
		}
		slices.SortFunc(all[:n], func(a, b match) int {
			return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.similarity, a.similarity),
				cmp.Compare(a.near, b.near))
		})
		c.add(&pair.Second, all[:n])
		c.addVotes(&pair.First.Link)
		c.addVotes(&pair.Second)
		if err := emit(&pair); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (c *comparison) add(l *records.Link, all []match) {
	for len(all) > 0 {
		n := stretch(all, func(a, b *match) bool { return a.class == b.class })
		addPage(l, &c.classes[all[0].class], all[:min(n, pathsSeen)])
		all = all[n:]
	}
}

func addPage(l *records.Link, of *records.PageClass, copies []match) {
	own := copies[0].own
	page, similarity := &own.Pages[0], int64(math.Round(copies[0].similarity*records.Unit))
	weight := int64(page.Size) * of.Rarity
	l.Pages++
	l.Text += int64(page.Size)
	l.Rarity += of.Rarity
	l.Weight += weight
	l.Similarity += similarity
	l.Spread += of.Sites
	if page.Original == l.Other {
		l.Originals++
	}
	// Pages at one path tell the most.
	shown, isSame := samePath(copies)
	if !isSame {
		shown = [2]*records.ShardPage{page, &copies[0].copy.Pages[0]}
	} else {
		l.SamePath++
	}
	if none := [3]byte{}; shown[0].Language != none && shown[1].Language != none {
		l.LanguagePages++
		if shown[0].Language == shown[1].Language {
			l.SameLanguage++
		}
	}
	if shown[0].Markup != nil && shown[1].Markup != nil {
		l.MarkupPages++
		l.Markup += int64(math.Round(webtext.MarkupSimilarity(shown[0].Markup, shown[1].Markup) * records.Unit))
	}
	// Only the first site of a pair gives its examples.
	if l.Site < l.Other && l.Examples.Wants(weight) {
		l.Examples.Add(records.Example{
			Weight:     weight,
			Similarity: similarity,
			Page:       string(shown[0].Address),
			Copy:       string(shown[1].Address),
		})
	}
}

// samePath returns the first page of a site that has a copy at the same path on another site, and its best copy.
func samePath(copies []match) (pages [2]*records.ShardPage, is bool) {
	own := copies[0].own
	for i := range own.Pages {
		for _, of := range copies {
			for j := range of.copy.Pages {
				if own.Pages[i].Path == of.copy.Pages[j].Path {
					return [2]*records.ShardPage{&own.Pages[i], &of.copy.Pages[j]}, true
				}
			}
		}
	}
	return pages, false
}
