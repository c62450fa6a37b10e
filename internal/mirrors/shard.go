package mirrors

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/unionfind"
)

// shard holds the pages and edges of an output shard of clusters.
type shard struct {
	classes []class
	of      []uint32 // the class of each document, by number; noClass if none of its class is a page
	edges   []edge
}

// noClass stands for documents that are no pages.
const noClass = ^uint32(0)

// class holds the pages that are identical.
type class struct {
	holdings []holding // ordered by site
	// sites is the number of sites that have a page of the class or a copy of it; if it is above the limit, it may be less than
	// the true number.
	sites int
	from  int // place of its first edge
}

// holding holds the pages of a class on one site.
type holding struct {
	site uint64
	// pages are the first pages in document order, at most pathsSeen.
	pages []records.ShardPage
	// repeats is the number of pages without the first, and repeatedText the number of their shingles.
	repeats, repeatedText int64
}

// pathsSeen is how many identical pages of a site, and how many of their copies on another one, are looked at for their
// paths.
const pathsSeen = 8

// asksPassword reports whether one of the pages does.
func (h *holding) asksPassword() bool {
	return slices.ContainsFunc(h.pages, func(p records.ShardPage) bool { return p.Login })
}

// edge leads from a class to another one with copies of its pages.
type edge struct {
	from, to   uint32
	similarity float64
	isHeap     bool
}

// copyOf is what another site, or the same one, has of copies of the pages of a class.
type copyOf struct {
	*holding
	similarity float64
}

// newShard sorts pages into classes. The pages are in any order, and change it.
func newShard(pages []records.ShardPage, edges []records.Edge[records.Number]) *shard {
	n := records.Number(0)
	for _, p := range pages {
		n = max(n, p.Number+1)
	}
	for _, e := range edges {
		n = max(n, e.A+1, e.B+1)
	}
	first := unionfind.New[records.Number](int(n))
	for _, e := range edges {
		if e.Identical() {
			first.Union(e.A, e.B)
		}
	}
	first.Flatten()
	slices.SortFunc(pages, func(a, b records.ShardPage) int {
		return cmp.Or(cmp.Compare(first[a.Number], first[b.Number]), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Number, b.Number))
	})
	s := &shard{of: slices.Repeat([]uint32{noClass}, int(n))}
	for i, p := range pages {
		leader := first[p.Number]
		if s.of[leader] == noClass {
			s.of[leader] = uint32(len(s.classes))
			s.classes = append(s.classes, class{})
		}
		c := &s.classes[len(s.classes)-1]
		if last := len(c.holdings) - 1; last >= 0 && c.holdings[last].site == p.Site {
			h := &c.holdings[last]
			h.repeats, h.repeatedText = h.repeats+1, h.repeatedText+int64(p.Size)
			if len(h.pages) < pathsSeen {
				h.pages = pages[i-len(h.pages) : i+1]
			}
			continue
		}
		c.holdings = append(c.holdings, holding{site: p.Site, pages: pages[i : i+1]})
	}
	s.join(edges, first)
	return s
}

// join takes in the edges between classes, both ways.
func (s *shard) join(edges []records.Edge[records.Number], first unionfind.Forest[records.Number]) {
	for _, e := range edges {
		a, b := s.of[first[e.A]], s.of[first[e.B]]
		if a == b || a == noClass || b == noClass {
			continue
		}
		s.edges = append(s.edges, edge{a, b, e.Similarity(), e.Heap()}, edge{b, a, e.Similarity(), e.Heap()})
	}
	slices.SortFunc(s.edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	at := 0
	for i := range s.classes {
		s.classes[i].from = at
		for at < len(s.edges) && s.edges[at].from == uint32(i) {
			at++
		}
	}
}

// around returns the edges of a class.
func (s *shard) around(number int) []edge {
	if number+1 < len(s.classes) {
		return s.edges[s.classes[number].from:s.classes[number+1].from]
	}
	return s.edges[s.classes[number].from:]
}

// countSites counts the sites that have the pages of each class, up to one more than a limit. Documents of a heap were
// compared with its leader only. So they have as many sites as the leader has.
func (s *shard) countSites(limit int) {
	seen := map[uint64]struct{}{}
	for i := range s.classes {
		clear(seen)
		see := func(c *class) {
			for _, h := range c.holdings {
				if len(seen) > limit {
					return
				}
				seen[h.site] = struct{}{}
			}
		}
		see(&s.classes[i])
		for _, e := range s.around(i) {
			see(&s.classes[e.to])
		}
		s.classes[i].sites = len(seen)
	}
	of := make([]int, len(s.classes))
	for i := range s.classes {
		of[i] = s.classes[i].sites
	}
	for _, e := range s.edges {
		if e.isHeap {
			s.classes[e.from].sites = max(s.classes[e.from].sites, of[e.to])
		}
	}
}

// copies returns the holdings of a class, and of those that edges join to it: a list for each site, the most similar first.
// Classes that more sites have than the limit are left out.
func (s *shard) copies(number, limit int) (bySite [][]copyOf) {
	var all []copyOf
	add := func(c *class, similarity float64) {
		for i := range c.holdings {
			all = append(all, copyOf{&c.holdings[i], similarity})
		}
	}
	add(&s.classes[number], 1)
	for _, e := range s.around(number) {
		if c := &s.classes[e.to]; c.sites <= limit {
			add(c, e.similarity)
		}
	}
	slices.SortFunc(all, func(a, b copyOf) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.pages[0].Number, b.pages[0].Number))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].site == all[0].site {
			n++
		}
		bySite, all = append(bySite, all[:min(n, pathsSeen)]), all[n:]
	}
	return bySite
}
