package mirrors

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
)

type shard struct {
	number  int
	classes []class
	of      []uint32 // the class of each document, by number; noClass if none of its class is a page
	edges   []edge
}

const noClass = ^uint32(0)

type class struct {
	holdings []holding // ordered by site
	// sites is the number of sites that have a page of the class or a copy of it, and domains the number of their
	// registered domains. If sites is above the limit, both may be less than the true numbers.
	sites, domains int
	isSpread       bool // sites is above the limit
	from           int  // place of its first edge
	rarity         int64
}

type holding struct {
	site uint64
	owner
	// pages are the first pages in document order, at most pathsSeen.
	pages []records.ShardPage
	// repeats is the number of pages without the first, and repeatedText the number of their shingles.
	repeats, repeatedText int64
}

// owner is what the address of a page tells of its site.
type owner struct {
	domain      uint64 // hash of the registered domain
	isProtected bool
}

// pathsSeen bounds the identical pages of a site, and their copies on another, that are looked at for their paths.
const pathsSeen = 8

// edge leads from a class to another one with copies of its pages.
type edge struct {
	from, to   uint32
	similarity float64
	isHotGroup bool
}

// newShard sorts pages into classes, given what tells the owners of pages. The pages are in any order, and change it.
func newShard(pages []records.ShardPage, edges []records.Edge[records.Number],
	ownerOf func(*records.ShardPage) owner,
) *shard {
	n := records.Number(0)
	for _, p := range pages {
		n = max(n, p.Number+1)
	}
	for _, e := range edges {
		n = max(n, e.A+1, e.B+1)
	}
	first := graphs.NewForest[records.Number](int(n))
	for _, e := range edges {
		if e.Identical() {
			first.Union(e.A, e.B)
		}
	}
	first.Flatten()
	sortPages(pages, first)
	inClass := func(a, b *records.ShardPage) bool { return first[a.Number] == first[b.Number] }
	inHolding := func(a, b *records.ShardPage) bool { return a.Site == b.Site && inClass(a, b) }
	s := &shard{classes: make([]class, 0, stretches(pages, inClass)), of: slices.Repeat([]uint32{noClass}, int(n))}
	holdings := make([]holding, 0, stretches(pages, inHolding))
	for len(pages) > 0 {
		rest := pages[stretch(pages, inClass):]
		s.of[first[pages[0].Number]] = uint32(len(s.classes))
		from := len(holdings)
		for len(pages) > len(rest) {
			same := stretch(pages, inHolding)
			holdings = append(holdings, newHolding(pages[:same:same], ownerOf))
			pages = pages[same:]
		}
		s.classes = append(s.classes, class{holdings: holdings[from:len(holdings):len(holdings)]})
	}
	s.join(edges, first)
	return s
}

// sortPages sorts pages by class, given its first document, then by site and by number. A page is large: it moves once.
func sortPages(pages []records.ShardPage, first graphs.Forest[records.Number]) {
	type place struct{ class, at uint32 }
	order := make([]place, len(pages))
	for i := range pages {
		order[i] = place{uint32(first[pages[i].Number]), uint32(i)}
	}
	order = graphs.RadixSort(order, make([]place, len(order)), func(p *place) uint64 { return uint64(p.class) })
	for from, to := 0, 0; from < len(order); from = to {
		for to = from + 1; to < len(order) && order[to].class == order[from].class; to++ {
		}
		slices.SortFunc(order[from:to], func(a, b place) int {
			p, q := &pages[a.at], &pages[b.at]
			return cmp.Or(cmp.Compare(p.Site, q.Site), cmp.Compare(p.Number, q.Number))
		})
	}
	for i := range order {
		moved, to := pages[i], i
		for from := int(order[to].at); from != i; from = int(order[to].at) {
			pages[to], order[to].at = pages[from], uint32(to)
			to = from
		}
		pages[to], order[to].at = moved, uint32(to)
	}
}

// stretch returns how many elements at the beginning are the same as the first.
func stretch[T any](all []T, isSame func(a, b *T) bool) int {
	n := 1
	for n < len(all) && isSame(&all[0], &all[n]) {
		n++
	}
	return n
}

// stretches returns how many such stretches there are.
func stretches(pages []records.ShardPage, isSame func(a, b *records.ShardPage) bool) (n int) {
	for ; len(pages) > 0; n++ {
		pages = pages[stretch(pages, isSame):]
	}
	return n
}

func newHolding(pages []records.ShardPage, ownerOf func(*records.ShardPage) owner) holding {
	h := holding{
		site:    pages[0].Site,
		owner:   ownerOf(&pages[0]),
		pages:   pages[:min(len(pages), pathsSeen)],
		repeats: int64(len(pages) - 1),
	}
	for i := range pages[1:] {
		h.repeatedText += int64(pages[1+i].Size)
	}
	return h
}

func (s *shard) join(edges []records.Edge[records.Number], first graphs.Forest[records.Number]) {
	for _, e := range edges {
		a, b := s.of[first[e.A]], s.of[first[e.B]]
		if a == b || a == noClass || b == noClass {
			continue
		}
		s.edges = append(s.edges, edge{a, b, e.Similarity(), e.HotGroup()},
			edge{b, a, e.Similarity(), e.HotGroup()})
	}
	slices.SortFunc(s.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	at := 0
	for i := range s.classes {
		s.classes[i].from = at
		for at < len(s.edges) && s.edges[at].from == uint32(i) {
			at++
		}
	}
}

// id returns a number that no other class of any shard has.
func (s *shard) id(number uint32) uint64 { return uint64(s.number)<<32 | uint64(number) }

func (s *shard) around(number int) []edge {
	if number+1 < len(s.classes) {
		return s.edges[s.classes[number].from:s.classes[number+1].from]
	}
	return s.edges[s.classes[number].from:]
}

// countSites counts the sites that have the pages of each class, up to one more than a limit, and their domains.
// Documents of a hot group were compared with its pivot only. So they have as many sites as the pivot has.
func (s *shard) countSites(limit int) {
	sites, domains := map[uint64]struct{}{}, map[uint64]struct{}{}
	for i := range s.classes {
		clear(sites)
		clear(domains)
		see := func(c *class) {
			for j := range c.holdings {
				if len(sites) > limit {
					return
				}
				h := &c.holdings[j]
				sites[h.site], domains[h.domain] = struct{}{}, struct{}{}
			}
		}
		see(&s.classes[i])
		for _, e := range s.around(i) {
			see(&s.classes[e.to])
		}
		s.classes[i].sites, s.classes[i].domains = len(sites), len(domains)
	}
	plain := slices.Clone(s.classes)
	for _, e := range s.edges {
		if c, pivot := &s.classes[e.from], &plain[e.to]; e.isHotGroup {
			c.sites, c.domains = max(c.sites, pivot.sites), max(c.domains, pivot.domains)
		}
	}
	for i := range s.classes {
		s.classes[i].isSpread = s.classes[i].sites > limit
	}
}

// isAlike reports whether a site has a page that is like the pages of a class, and not equal to them.
func (s *shard) isAlike(number int, site uint64) bool {
	return slices.ContainsFunc(s.around(number), func(e edge) bool {
		_, has := slices.BinarySearchFunc(s.classes[e.to].holdings, site, func(h holding, site uint64) int {
			return cmp.Compare(h.site, site)
		})
		return has
	})
}
