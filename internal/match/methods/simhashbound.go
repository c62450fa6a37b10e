package methods

import (
	"slices"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/ground/graphs"
)

// groupPairs chooses the pairs of a large group that are listed. It sees each once. A group of few pairs lists all.
// Of another one the documents that are like no leader before them are its leaders. A document that is like leaders has a
// pair with each of these that is noted, so it may be removed for one of them. Further pairs hold the group
// together. So clusters are whole, and few pairs are listed, however many there are.
type groupPairs struct {
	isSmall bool // all pairs are listed, however many there are

	all    int64 // number of pairs that are listed whatever they are
	noted  int   // the number of documents noted for each one that is like them
	listed graphs.Forest[uint32]
	joined graphs.Forest[uint32]
	// holding are pairs that join two documents which no pair before has joined.
	holding [][2]uint32
	// alike holds, for each document, the first noted ones before it that are like it, each as twice its
	// place in the group, and one more if the pair is listed.
	alike   []uint32
	missing []uint32 // by document: its pairs that are not listed
	skipped int64
}

// nobody stands in place of a document that is alike, where there is none.
const nobody = ^uint32(0)

// reset begins a group of the given number of documents.
func (g *groupPairs) reset(documents int, all int64, noted int) {
	g.skipped = 0
	if g.isSmall = candidates.PairsOf(int64(documents), 0) <= all; g.isSmall {
		return
	}
	*g = groupPairs{
		all: all, noted: max(noted, 1), listed: graphs.NewForest[uint32](documents), joined: graphs.NewForest[uint32](documents),
		alike: g.alike, missing: slices.Grow(g.missing[:0], documents)[:documents], holding: g.holding[:0],
	}
	g.alike = slices.Grow(g.alike[:0], g.noted*documents)[:g.noted*documents]
	clear(g.missing)
	for i := range g.alike {
		g.alike[i] = nobody
	}
}

// add takes a pair i < j, and reports whether it is listed at once.
func (g *groupPairs) add(i, j int) (isListed bool) {
	if g.isSmall {
		return true
	}
	a, b := uint32(i), uint32(j)
	mark := uint32(0)
	if isListed = g.all > 0; isListed {
		g.all--
		mark = 1
		g.listed.Union(a, b)
	} else {
		g.skipped++
		g.missing[i]++
		g.missing[j]++
	}
	if x, y := g.joined.Find(a), g.joined.Find(b); x != y {
		g.joined.Union(x, y)
		g.holding = append(g.holding, [2]uint32{a, b})
	}
	g.note(j, 2*a|mark)
	return isListed
}

// note notes a document that is like document j, if it is one of the first.
func (g *groupPairs) note(j int, document uint32) {
	alike := g.alike[j*g.noted:][:g.noted]
	at := len(alike)
	for at > 0 && alike[at-1] > document {
		at--
	}
	if at < len(alike) {
		copy(alike[at+1:], alike[at:])
		alike[at] = document
	}
}

// rest visits the pairs that are listed beyond those that add has listed. With allNoted these are all pairs with documents
// that are noted, else the pairs with leaders.
func (g *groupPairs) rest(allNoted bool, visit func(i, j int)) {
	if g.skipped == 0 {
		return
	}
	list := func(i, j uint32) {
		g.skipped--
		g.missing[i]--
		g.missing[j]--
		g.listed.Union(i, j)
		visit(int(i), int(j))
	}
	leads := make([]bool, len(g.missing))
	for j := range leads {
		leads[j] = true
		for _, document := range g.alike[j*g.noted:][:g.noted] {
			if document == nobody {
				break
			}
			i, isListed := document/2, document%2 == 1
			if !allNoted && !leads[i] {
				continue
			}
			if leads[j] = false; !isListed {
				list(i, uint32(j))
			}
		}
	}
	for _, pair := range g.holding {
		if g.listed.Find(pair[0]) != g.listed.Find(pair[1]) {
			list(pair[0], pair[1])
		}
	}
}
