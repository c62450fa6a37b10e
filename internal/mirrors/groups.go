package mirrors

import (
	"cmp"
	"math"
	"strings"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/lineage"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/unionfind"
)

// group is a component of the graph of mirrors.
type group struct {
	primary *records.Site
	sites   int64
	pairs   int64 // pairs of its sites that are mirrors
}

// cohesion returns the share of the pairs of sites that are mirrors, in units of 1/[records.Unit].
func (g *group) cohesion() int64 {
	all := float64(g.sites) * float64(g.sites-1) / 2
	return int64(math.Round(float64(g.pairs) / all * records.Unit))
}

// groups are the groups of mirrors of a job.
type groups struct {
	lists *lists
	nodes map[uint64]uint32 // number of each site
	sites []*records.Site   // by number
	of    [2][]*group       // of each site: among mirrors, and among parked sites; nil for none
	count int64
	// votes counts, by site, the pages of its mirrors that name it as their original.
	votes map[uint64]int64
}

// newGroups finds the groups of some mirrors. Parked sites make groups of their own.
func newGroups(mirrors []pair, of *lists) *groups {
	g := &groups{lists: of, nodes: map[uint64]uint32{}, votes: map[uint64]int64{}}
	for _, p := range mirrors {
		for _, h := range p.sides {
			g.votes[h.Other] += h.Originals
			if _, known := g.nodes[h.Site]; !known {
				g.nodes[h.Site] = uint32(len(g.sites))
				g.sites = append(g.sites, &h.Of)
			}
		}
	}
	for among := range g.of {
		g.join(mirrors, among)
	}
	return g
}

// among returns in which of the two graphs a pair is.
func among(p *pair) int {
	if p.kind() == Parked {
		return 1
	}
	return 0
}

// join makes the groups of one of the graphs.
func (g *groups) join(mirrors []pair, of int) {
	first := unionfind.New[uint32](len(g.sites))
	for _, p := range mirrors {
		if among(&p) == of {
			first.Union(g.nodes[p.sides[0].Site], g.nodes[p.sides[1].Site])
		}
	}
	first.Flatten()
	all := make([]*group, len(g.sites))
	g.of[of] = make([]*group, len(g.sites))
	for _, p := range mirrors {
		if among(&p) != of {
			continue
		}
		for _, h := range p.sides {
			node := g.nodes[h.Site]
			if g.of[of][node] != nil {
				continue
			}
			if all[first[node]] == nil {
				all[first[node]] = &group{}
				g.count++
			}
			in := all[first[node]]
			g.of[of][node] = in
			if in.sites++; in.primary == nil || g.compare(&h.Of, in.primary) < 0 {
				in.primary = &h.Of
			}
		}
		all[first[g.nodes[p.sides[0].Site]]].pairs++
	}
}

// compare orders sites, the more likely original first: a protected one, then the one with the better rank, the one that more
// pages of its mirrors name as their original, the one that was seen first, the one with the most pages, and the one whose name comes first.
func (g *groups) compare(a, b *records.Site) int {
	return cmp.Or(
		-compareBool(g.lists.isProtected(a.Name), g.lists.isProtected(b.Name)),
		cmp.Compare(uint64(g.lists.rank(a.Name)-1), uint64(g.lists.rank(b.Name)-1)), // no rank comes last
		cmp.Compare(g.votes[b.Site], g.votes[a.Site]), cmp.Compare(a.First, b.First), cmp.Compare(b.Pages, a.Pages), strings.Compare(a.Name, b.Name),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// ofPair returns the group of two mirrors.
func (g *groups) ofPair(p *pair) *group { return g.of[among(p)][g.nodes[p.sides[0].Site]] }

// ofSite returns the group of a site by its number: the one of mirrors, or else that of parked sites.
func (g *groups) ofSite(node int) *group {
	if in := g.of[0][node]; in != nil {
		return in
	}
	return g.of[1][node]
}

// writeForNext writes the groups of mirrors and their sites, in the order of the rows. Groups of parked sites say nothing that
// is worth following.
func (g *groups) writeForNext(run *runfile.Writer) error {
	var order []*group
	members := map[*group][]lineage.Member{}
	for node, in := range g.of[0] {
		if in == nil {
			continue
		}
		if members[in] == nil {
			order = append(order, in)
		}
		hash := xxh3.HashString128(g.sites[node].Name)
		members[in] = append(members[in], lineage.Member{hash.Hi, hash.Lo})
	}
	var packed []byte
	for _, in := range order {
		packed = lineage.AppendGroup(packed[:0], in.primary.Name, members[in])
		if err := writePacked(run, records.SiteGroups, packed); err != nil {
			return err
		}
	}
	return nil
}
