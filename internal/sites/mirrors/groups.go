package mirrors

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
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

// mirrorGraph holds the sites that are mirrors, and says which mirror which.
type mirrorGraph struct {
	nodes map[uint64]uint32 // number of each site
	sites []*records.Site   // by number
	edges []mirrorEdge
	// votes counts, by site, the pages of its mirrors that name it as their original, and redirects to it.
	votes map[uint64]int64
}

// mirrorEdge joins two sites that are mirrors, by their numbers.
type mirrorEdge struct {
	a, b     uint32
	isParked bool
}

func newMirrorGraph() *mirrorGraph {
	return &mirrorGraph{nodes: map[uint64]uint32{}, votes: map[uint64]int64{}}
}

func (g *mirrorGraph) add(p *pair) {
	for _, h := range p.sides {
		g.votes[h.Other] += h.Originals
	}
	g.edges = append(g.edges, mirrorEdge{g.node(&p.sides[0].Of), g.node(&p.sides[1].Of), p.isParked()})
}

func (g *mirrorGraph) node(of *records.Site) uint32 {
	node, known := g.nodes[of.Site]
	if !known {
		node = uint32(len(g.sites))
		g.nodes[of.Site] = node
		g.sites = append(g.sites, of)
	}
	return node
}

type groups struct {
	*mirrorGraph
	known *known
	of    [2][]*group // of each site: among mirrors, and among parked sites; nil for none
	count int64
}

// newGroups finds the groups of some mirrors. Parked sites make groups of their own.
func newGroups(graph *mirrorGraph, of *known) *groups {
	g := &groups{mirrorGraph: graph, known: of}
	for among := range g.of {
		g.join(among)
	}
	return g
}

// among returns in which of the two graphs mirrors are.
func among(isParked bool) int {
	if isParked {
		return 1
	}
	return 0
}

// join makes the groups of one of the graphs.
func (g *groups) join(of int) {
	first := graphs.NewForest[uint32](len(g.sites))
	for _, e := range g.edges {
		if among(e.isParked) == of {
			first.Union(e.a, e.b)
		}
	}
	first.Flatten()
	all := make([]*group, len(g.sites))
	g.of[of] = make([]*group, len(g.sites))
	for _, e := range g.edges {
		if among(e.isParked) != of {
			continue
		}
		for _, node := range []uint32{e.a, e.b} {
			if g.of[of][node] != nil {
				continue
			}
			if all[first[node]] == nil {
				all[first[node]] = &group{}
				g.count++
			}
			in := all[first[node]]
			g.of[of][node] = in
			if in.sites++; in.primary == nil || g.compare(g.sites[node], in.primary) < 0 {
				in.primary = g.sites[node]
			}
		}
		all[first[e.a]].pairs++
	}
}

// compare orders sites, the more likely original first: a protected one, then the one with the better rank, the one that more
// pages of its mirrors name as their original, the one that was seen first, the one with the most pages, and the one whose name comes first.
func (g *groups) compare(a, b *records.Site) int {
	ofA, ofB := g.known.of(a), g.known.of(b)
	return cmp.Or(
		-compareBool(ofA.isProtected, ofB.isProtected),
		cmp.Compare(uint64(ofA.rank-1), uint64(ofB.rank-1)), // no rank comes last
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

func (g *groups) ofPair(p *pair) *group {
	return g.of[among(p.isParked())][g.nodes[p.sides[0].Of.Site]]
}

// ofSite returns the group of a site by its number: the one of mirrors, or else the one of parked sites.
func (g *groups) ofSite(node int) *group {
	if in := g.of[0][node]; in != nil {
		return in
	}
	return g.of[1][node]
}

// writeForNext writes the groups of mirrors and their sites, in the order of names. Groups of parked sites say nothing that
// is worth following.
func (g *groups) writeForNext(run *runfile.Writer) error {
	var order []*group
	members := map[*group][]state.Member{}
	nodes := slices.SortedFunc(maps.Values(g.nodes), func(a, b uint32) int { return strings.Compare(g.sites[a].Name, g.sites[b].Name) })
	for _, node := range nodes {
		in := g.of[0][node]
		if in == nil {
			continue
		}
		if members[in] == nil {
			order = append(order, in)
		}
		hash := xxh3.HashString128(g.sites[node].Name)
		members[in] = append(members[in], state.Member{hash.Hi, hash.Lo})
	}
	var packed []byte
	for _, in := range order {
		packed = state.AppendGroup(packed[:0], in.primary.Name, members[in])
		if err := writePacked(run, records.SiteGroups, packed); err != nil {
			return err
		}
	}
	return nil
}
