package candidates

import (
	"cmp"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
)

// Grouper finds the candidate pairs of groups. A group is the documents under one key.
//
// A group with more than MaxComparisons pairs is oversized. Whether all its pairs can be compared depends on the other
// oversized groups. So Groups passes it on. When all oversized groups are known, OversizedGroup compares those that are
// not dense. Again compares, in other groups, the pairs that have met under dense keys only.
type Grouper struct {
	// Threshold is the least Jaccard similarity of interest, from 0 to 1. A pair whose sizes rule it out is dropped.
	Threshold float64
	// MaxComparisons bounds the pairs of one group that have not met before.
	MaxComparisons int64
	// Exact says that the keys are made by PrefixKeyOf.
	Exact bool
	// FirstInput is the first document that is not of the reference. Two classes of equal documents are not compared if
	// all documents of both are before it, nor if all documents of both are of one side.
	FirstInput docref.Ref
	// Candidate receives each pair of different documents that may reach the threshold, in either order. A pair may
	// come again under a later key, if its documents share none of the MaxPrevious keys before that, or only dense
	// ones. One document stands for all that are equal to it, as [Ends] says.
	Candidate func(a, b *Record)
	// Identical receives a document and the first document of equal digest. Both may be of the reference. If documents
	// have sides, it receives the first one of another side. Only where all equal documents are of one side, both are.
	Identical func(first, other *Record)
	// Oversized receives each oversized group and the number of its pairs. One record stands for a class of equal
	// documents. None of the pairs has been compared.
	Oversized func(group []Record, pairs int64)

	// Stopped, if not nil, reports that nobody wants further pairs. It is asked before each group and in large ones.
	Stopped func() bool

	// DenseKeys holds the keys of all dense groups, by [Grouper.KeyID]. OversizedGroup and Again need it.
	DenseKeys graphs.Numbering[uint32]

	others  []int // by class of a group: the next one that is not [Apart] from it
	befores []uint64
	sided   []sidedKey
	rows    bitmapRows
	order   ranking
}

// Groups goes through sorted records and handles every group of two or more. It reorders some records.
func (g *Grouper) Groups(records []Record) {
	g.eachGroup(records, func(group []Record) {
		if group[0].Side != 0 {
			g.starsAcross(group)
		} else {
			g.stars(group)
		}
		if group = g.distinct(group); len(group) < 2 {
			return
		}
		if len(group) <= fewDocuments {
			g.compare(group, g.wanted)
			return
		}
		major, pairs := g.unmet(group)
		if pairs > g.MaxComparisons {
			g.Oversized(group, pairs)
			return
		}
		g.compareAcross(group, major, g.wanted)
	})
}

func (g *Grouper) stars(group []Record) {
	for i, first := 1, 0; i < len(group); i++ {
		if group[i].Digest != group[first].Digest {
			first = i
		} else if group[i].First {
			g.Identical(&group[first], &group[i])
		}
	}
}

// OversizedGroup compares a group that Oversized has received, except the pairs that have met before. It also compares
// pairs that have met under dense keys only, if this is no more work. It reorders the group.
func (g *Grouper) OversizedGroup(group []Record) {
	major, pairs := g.unmet(group)
	wanted := func(a, b *Record) bool { return g.wanted(a, b) || !g.Exact && g.metDense(a, b) }
	if _, isDense := g.DenseKeys.Find(major); isDense && PairsOf(int64(len(group)), 0) <= 2*pairs {
		g.compare(group, wanted)
		return
	}
	g.compareAcross(group, major, wanted)
}

// OversizedWithout returns the pairs of what is left of an oversized group without the classes that the function names;
// 0 if what is left is not oversized.
func (g *Grouper) OversizedWithout(group []Record, isOut func(*Record) bool) int64 {
	left := slices.DeleteFunc(slices.Clone(group), func(r Record) bool { return isOut(&r) })
	if len(left) < 2 {
		return 0
	}
	if _, pairs := g.unmet(left); pairs > g.MaxComparisons {
		return pairs
	}
	return 0
}

func (g *Grouper) stopped() bool { return g.Stopped != nil && g.Stopped() }

func (g *Grouper) eachGroup(records []Record, visit func([]Record)) {
	for start := 0; start < len(records) && !g.stopped(); {
		end := start + 1
		for end < len(records) && records[end].Key == records[start].Key {
			end++
		}
		if end-start > 1 {
			visit(records[start:end])
		}
		start = end
	}
}

// wanted reports whether two records of a group that is not dense are compared there.
func (g *Grouper) wanted(a, b *Record) bool {
	if g.Exact {
		return !a.metBefore(b) && g.reach(a, b)
	}
	return !a.met(b)
}

// distinct returns one record for each class of equal documents of a group: the record of the first document. Equal
// documents share all keys. A document without shingles is like equal documents only: if no document has shingles,
// distinct returns none.
func (g *Grouper) distinct(group []Record) []Record {
	n, most := 0, uint32(0)
	for _, r := range group {
		most = max(most, r.Size)
		if n == 0 || group[n-1].Digest != r.Digest {
			r.Second = r.Ref
			group[n] = r
			n++
		} else if first := &group[n-1]; first.Second == first.Ref &&
			(first.Side != r.Side || first.Ref < g.FirstInput && r.Ref >= g.FirstInput) {
			first.Second = r.Ref
		}
	}
	if most == 0 {
		return nil
	}
	return group[:n]
}

// ofReference reports whether all documents of a class are of the reference. Two such classes are not compared.
func (g *Grouper) ofReference(r *Record) bool { return r.Second < g.FirstInput }

func (g *Grouper) apart(a, b *Record) bool { return Apart(a.Class(), b.Class(), g.FirstInput) }

// pair passes on a pair of classes as a pair of the documents that [Ends] returns, and reports whether there is one.
func (g *Grouper) pair(a, b *Record) bool {
	x, y, ok := Ends(a.Class(), b.Class(), g.FirstInput)
	if ok {
		g.Candidate(a.Of(x), b.Of(y))
	}
	return ok
}

// fewDocuments is the largest number of documents of a group that is compared without counting the pairs that have met.
const fewDocuments = 64

// compare passes on all wanted pairs of a group, except pairs that have met under a known previous key.
func (g *Grouper) compare(group []Record, wanted func(a, b *Record) bool) {
	g.order.bySize(group)
	g.noteOthers(group)
	g.rows.read(group)
	var before []uint64
	if g.Exact && len(group) > tinyGroup {
		before = g.previousKeys(group)
	}
	for i := range group {
		if len(group) > fewDocuments && g.stopped() {
			return
		}
		a := &group[i]
		limit := g.limit(group, i)
		row := g.rows.row(group, i, limit)
		for j := i + 1; j < limit; j++ {
			if before != nil && before[j] == before[i] {
				continue // most pairs of much alike documents
			}
			b := &group[j]
			if g.others != nil && g.apart(a, b) {
				j = g.others[j] - 1
				continue
			}
			if !wanted(a, b) ||
				row != nil && b.HasBitmap && !mayDiffer(int(row[j-i-1]), int(a.Size)+int(b.Size), g.Threshold) {
				continue
			}
			g.pair(a, b)
		}
	}
}

// previousKeys returns the previous keys of the records of a group, which are exact. Two records of one previous key
// have met. A record without one has a number of its own.
func (g *Grouper) previousKeys(group []Record) []uint64 {
	g.befores = g.befores[:0]
	for i := range group {
		if r := &group[i]; !r.First {
			g.befores = append(g.befores, PreviousShingle(r.Previous[0], r.Previous[1]))
		} else {
			g.befores = append(g.befores, 1<<63|uint64(i))
		}
	}
	return g.befores
}

// compareAcross is compare for a large group. Two documents that both have the major key before have met there. So it
// looks only at pairs with another document: some twice as many pairs as have not met.
func (g *Grouper) compareAcross(group []Record, major uint64, wanted func(a, b *Record) bool) {
	others := 0 // number of documents without the major key, which are brought to the front
	for i := range group {
		if r := &group[i]; r.First || g.previousID(r, 0) != major {
			group[i], group[others] = group[others], group[i]
			others++
		}
	}
	bySide(group[:others])
	bySide(group[others:])
	g.noteOthers(group)
	g.rows.read(group)
	for i := range others {
		if g.stopped() {
			return
		}
		a := &group[i]
		row := g.rows.row(group, i, len(group))
		for j := i + 1; j < len(group); j++ {
			b := &group[j]
			if row != nil && b.HasBitmap && !mayDiffer(int(row[j-i-1]), int(a.Size)+int(b.Size), g.Threshold) {
				continue
			}
			if g.others != nil && g.apart(a, b) {
				j = g.others[j] - 1
				continue
			}
			low, high := a, b
			if a.Size > b.Size || a.Size == b.Size && a.Ref > b.Ref {
				low, high = b, a
			}
			if float64(low.Size)/float64(high.Size) < g.Threshold {
				continue
			}
			if wanted(low, high) {
				g.pair(low, high)
			}
		}
	}
}

// Star passes on the pairs of the first document with each other document, for a group that Oversized has received. If
// documents have sides, those that are not compared with the first one are paired with the first one of another side.
func (g *Grouper) Star(group []Record) {
	first := 0
	for i := range group {
		if group[i].Ref < group[first].Ref {
			first = i
		}
	}
	second := first
	for i := range group {
		if group[first].Side != 0 && !g.apart(&group[first], &group[i]) && i != first &&
			(second == first || group[i].Ref < group[second].Ref) {
			second = i
		}
	}
	for i := range group {
		if i != first && !g.pair(&group[first], &group[i]) && second != first {
			g.pair(&group[second], &group[i])
		}
	}
}

// limit returns the end of the records after record i whose sizes allow the threshold.
func (g *Grouper) limit(group []Record, i int) int {
	rest := group[i+1:]
	return i + 1 + sort.Search(len(rest), func(k int) bool {
		return float64(group[i].Size)/float64(rest[k].Size) < g.Threshold
	})
}

// unmet returns the number of pairs of a group with different previous keys. It does not count pairs of classes of the
// reference. It also returns the major key: the previous key of most documents.
func (g *Grouper) unmet(group []Record) (major uint64, pairs int64) {
	if group[0].Side != 0 {
		return g.unmetAcross(group)
	}
	var all, ofReference, most int64
	g.befores = g.befores[:0]
	for i := range group {
		r := &group[i]
		all++
		isReference := uint64(0)
		if g.ofReference(r) {
			ofReference++
			isReference = 1
		}
		if !r.First { // a document without a previous key has met no other
			g.befores = append(g.befores, g.previousID(r, 0)<<1|isReference)
		}
	}
	pairs = PairsOf(all, ofReference)
	slices.Sort(g.befores)
	for rest := g.befores; len(rest) > 0; {
		before, n, references := rest[0]>>1, int64(0), int64(0)
		for ; len(rest) > 0 && rest[0]>>1 == before; rest = rest[1:] {
			n++
			references += int64(rest[0] & 1)
		}
		pairs -= PairsOf(n, references)
		if n > most {
			major, most = before, n
		}
	}
	return major, pairs
}

// PairsOf returns the number of pairs of classes, but for the pairs of the given number of classes of the reference.
func PairsOf(all, ofReference int64) int64 {
	return all*(all-1)/2 - ofReference*(ofReference-1)/2
}

// starsAcross passes on the equal documents of a group whose documents have sides. Each is joined to the first document
// of its class that is of another side. So each is joined to one with which it makes a pair. Where a class has one side
// only, its documents are joined to the first of them: that is no pair, but says that they belong together.
func (g *Grouper) starsAcross(group []Record) {
	for class := range graphs.Runs(group, func(a, b *Record) bool { return a.Digest == b.Digest }) {
		second := 0 // the first document of another side than the first
		for i := 1; i < len(class) && second == 0; i++ {
			if class[i].Side != class[0].Side {
				second = i
			}
		}
		// The documents of one star must come one after the other.
		for i := 1; i < len(class); i++ {
			if class[i].First && (second == 0 || class[i].Side != class[0].Side) {
				g.Identical(&class[0], &class[i])
			}
		}
		for i := 1; i < len(class) && second > 0; i++ {
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
		slices.SortFunc(group, func(a, b Record) int {
			return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Ref, b.Ref))
		})
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

// KeyID returns an id of 48 bits that distinguishes the key of a record from other keys. [Grouper.DenseKeys] holds such
// ids. Two hashed keys may have the same id by chance.
func (g *Grouper) KeyID(r *Record) uint64 {
	if g.Exact {
		return r.Key >> 16
	}
	return bandID(int(r.Position), PreviousOf(r.Key))
}

// bandID returns the id of the key of a band, of 48 bits. Keys of different bands have different ids. Keys that have no
// bands are all at position 0, so the key before one is of band -1.
func bandID(band int, hash uint32) uint64 { return uint64(uint16(band))<<32 | uint64(hash) }

// previousID returns the KeyID of an earlier key of a record's document; 0 before is the latest one.
func (g *Grouper) previousID(r *Record, before int) uint64 {
	if g.Exact {
		return PreviousShingle(r.Previous[0], r.Previous[1])
	}
	return bandID(int(r.Position)-1-before, r.Previous[before])
}

// DenseBefore returns the id of a dense key that the record's document has had before, if there is one.
func (g *Grouper) DenseBefore(r *Record) (id uint64, has bool) {
	known := r.Known()
	if g.Exact {
		known = 1 // the two words are one shingle
	}
	if r.First {
		known = 0
	}
	for i := range known {
		id := g.previousID(r, i)
		if _, has := g.DenseKeys.Find(id); has {
			return id, true
		}
	}
	return 0, false
}

// Again goes through sorted records once more, when DenseKeys is known. Not all pairs that have met under a dense key
// are compared there. So Again compares the pairs of a group that have met under dense keys only. A group in which such
// pairs may be more than four times MaxComparisons is left to the hot groups of its documents. Exact keys do not need
// Again: the keys after a dense key are denser.
func (g *Grouper) Again(records []Record) {
	g.eachGroup(records, func(group []Record) {
		if _, isDense := g.DenseKeys.Find(g.KeyID(&group[0])); isDense {
			return
		}
		// Only documents with a dense key before can have met under one.
		n := 0
		for i := range group {
			if _, has := g.DenseBefore(&group[i]); has {
				group[n] = group[i]
				n++
			}
		}
		if n < 2 {
			return
		}
		if group = g.distinct(group[:n]); PairsOf(int64(len(group)), 0) <= 4*g.MaxComparisons {
			g.compare(group, g.metDense)
		}
	})
}

// metDense reports whether two records have earlier keys in common, and all of these are dense.
func (g *Grouper) metDense(a, b *Record) bool {
	has := false
	for i := range a.Known() {
		if a.Previous[i] != b.Previous[i] {
			continue
		}
		if _, has = g.DenseKeys.Find(g.previousID(a, i)); !has {
			return false
		}
	}
	return has
}
