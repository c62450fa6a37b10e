package candidates

import (
	"cmp"
	"slices"
)

// starsAcross passes on the equal documents of a group whose documents have sides. Each is joined to the first document
// of its class that is of another side. So each is joined to one with which it makes a pair. Where a class has one side
// only, its documents are joined to the first of them: that is no pair, but says that they belong together.
func (g *Grouper) starsAcross(group []Record) {
	for len(group) > 0 {
		n, second := 1, 0 // second is the first document of another side than the first
		for ; n < len(group) && group[n].Digest == group[0].Digest; n++ {
			if second == 0 && group[n].Side != group[0].Side {
				second = n
			}
		}
		class := group[:n]
		group = group[n:]
		// The documents of one star must come one after the other.
		for i := 1; i < n; i++ {
			if class[i].First && (second == 0 || class[i].Side != class[0].Side) {
				g.Identical(&class[0], &class[i])
			}
		}
		for i := 1; i < n && second > 0; i++ {
			if class[i].First && class[i].Side == class[0].Side {
				g.Identical(&class[second], &class[i])
			}
		}
	}
}

// noteOthers notes for each class of a group the next one that is not apart from it, if some classes are not compared.
// If each class is apart from the next, all are apart from each other.
func (g *Grouper) noteOthers(group []Record) {
	if g.FirstInput == 0 && group[0].Side == 0 {
		g.others = nil
		return
	}
	g.others = slices.Grow(g.others[:0], len(group))[:len(group)]
	for i := len(group) - 1; i >= 0; i-- {
		if g.others[i] = i + 1; i+1 < len(group) && g.apart(&group[i], &group[i+1]) {
			g.others[i] = g.others[i+1]
		}
	}
}

// bySide brings the documents of one side together, if documents have sides.
func bySide(group []Record) {
	if len(group) > 0 && group[0].Side != 0 {
		slices.SortFunc(group, func(a, b Record) int { return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Ref, b.Ref)) })
	}
}

// sidedKey is a previous key of a class, and its side if all its documents are of one.
type sidedKey struct{ previous, side uint64 }

// unmetAcross is unmet for documents that have sides. It does not count pairs of classes that are apart.
func (g *Grouper) unmetAcross(group []Record) (major uint64, pairs int64) {
	sideOf := func(r *Record) uint64 {
		if r.Second != r.Ref {
			return 0
		}
		return r.Side
	}
	g.sided = g.sided[:0]
	for i := range group {
		g.sided = append(g.sided, sidedKey{side: sideOf(&group[i])})
	}
	pairs, _ = pairsAcross(g.sided)
	g.sided = g.sided[:0]
	for i := range group {
		if r := &group[i]; !r.First { // a document without a previous key has met no other
			g.sided = append(g.sided, sidedKey{g.previousID(r, 0), sideOf(r)})
		}
	}
	met, major := pairsAcross(g.sided)
	return major, pairs - met
}

// pairsAcross returns the number of pairs of classes that have one previous key and are not apart. It also returns the
// previous key of most classes. It sorts the classes.
func pairsAcross(classes []sidedKey) (pairs int64, major uint64) {
	slices.SortFunc(classes, func(a, b sidedKey) int {
		return cmp.Or(cmp.Compare(a.previous, b.previous), cmp.Compare(a.side, b.side))
	})
	most := int64(0)
	for len(classes) > 0 {
		previous, n := classes[0].previous, int64(0)
		for len(classes) > 0 && classes[0].previous == previous {
			side, ofSide := classes[0].side, int64(0)
			for ; len(classes) > 0 && classes[0] == (sidedKey{previous, side}); classes = classes[1:] {
				ofSide++
			}
			if side != 0 {
				pairs -= PairsOf(ofSide, 0)
			}
			n += ofSide
		}
		pairs += PairsOf(n, 0)
		if n > most {
			most, major = n, previous
		}
	}
	return pairs, major
}
