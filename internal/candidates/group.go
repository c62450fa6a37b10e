package candidates

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"mirrorbeam/internal/docref"
)

// Grouper finds the candidate pairs of the groups of documents under one key.
//
// A group of more than MaxComparisons pairs is crowded: whether it can be compared
// fully depends on all the others. Groups passes it on. When all groups are known,
// Crowds compares the crowded ones up to a higher bound. What is above that is dense,
// and Again compares what has met under dense keys only, in other groups of the
// documents.
type Grouper struct {
	// Threshold is the least Jaccard similarity of interest: a pair whose sizes
	// rule it out is dropped.
	Threshold float64
	// MaxComparisons bounds the pairs of one group that have not met before.
	MaxComparisons int64
	// Exact says that keys are those of PrefixKeyOf.
	Exact bool
	// FirstInput is the first document that is not of the reference corpus. Two
	// classes of equal documents, all of them before it, are not compared.
	FirstInput docref.Ref
	// Candidate receives a pair of different documents that may reach the
	// threshold, in any order. A pair may come again under a later key if it has
	// had no key in common among the MaxPrevious before that, or dense ones only.
	// Of equal documents it receives one, as [Ends] says.
	Candidate func(a, b *Record)
	// Identical receives a document and an earlier one of equal digest, the
	// first of all that are equal to it. Both may be of the reference.
	Identical func(first, other *Record)

	// Crowded receives each group with too many pairs, ordered by size, and how many
	// these are. None of them has been compared.
	Crowded func(group []Record, pairs int64)

	// DenseKeys are those of all dense groups, as [PreviousOf] gives them; for Crowds
	// and Again.
	DenseKeys map[uint32]bool

	inputs []int // where in a group classes stand that have a document of the input
	// seconds are the first documents of the input in those classes of a group that
	// the reference begins, by digest.
	seconds []Record
}

// Groups goes through sorted records, some of which it reorders, and handles every
// group of two or more.
func (g *Grouper) Groups(records []Record) {
	eachGroup(records, func(group []Record) {
		for i, first := 1, 0; i < len(group); i++ {
			if group[i].Digest != group[first].Digest {
				first = i
			} else if group[i].First {
				g.Identical(&group[first], &group[i])
			}
		}
		if group = g.distinct(group); group != nil {
			g.group(group, g.wanted)
		}
	})
}

// Crowds goes through the sorted records of crowded groups, as Groups does, but for
// identical documents.
func (g *Grouper) Crowds(records []Record) {
	eachGroup(records, func(group []Record) {
		if group = g.distinct(group); group != nil {
			g.group(group, func(a, b *Record) bool { return g.wanted(a, b) || !g.Exact && g.metDense(a, b) > 0 })
		}
	})
}

// Copies returns the documents of the input that stand for a class which the reference
// begins, beside those of the group that was passed on last.
func (g *Grouper) Copies() []Record { return g.seconds }

// eachGroup visits the groups of two or more.
func eachGroup(records []Record, visit func([]Record)) {
	for start := 0; start < len(records); {
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

// wanted reports whether two records of a group that is not dense are to be
// compared there.
func (g *Grouper) wanted(a, b *Record) bool {
	if g.Exact {
		return !a.metBefore(b) && g.reach(a, b)
	}
	return !a.met(b)
}

// distinct returns a group ordered by size in which the first of equal documents
// stands for its class, as they share all keys. It returns nil if there is nothing
// to compare. What it notes of the classes holds until it is called again.
func (g *Grouper) distinct(group []Record) []Record {
	g.seconds = g.seconds[:0]
	n := 0
	for _, r := range group {
		if n == 0 || group[n-1].Digest != r.Digest {
			r.onlyReference = r.Ref < g.FirstInput
			group[n] = r
			n++
		} else if first := &group[n-1]; first.onlyReference && r.Ref >= g.FirstInput {
			first.onlyReference = false
			g.seconds = append(g.seconds, r)
		}
	}
	group = group[:n]
	if len(group) < 2 || group[0].Size == 0 && group[len(group)-1].Size == 0 {
		return nil
	}
	slices.SortFunc(group, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	return group
}

// ofReference reports whether two classes have no document of the input: these are
// not compared.
func ofReference(a, b *Record) bool { return a.onlyReference && b.onlyReference }

// pair passes on a pair of two classes by the documents that [Ends] gives.
func (g *Grouper) pair(a, b *Record) {
	if max(a.Ref, b.Ref) < g.FirstInput {
		if a.Ref > b.Ref {
			a, b = b, a
		}
		if b.onlyReference {
			a = g.second(a)
		} else {
			b = g.second(b)
		}
	}
	g.Candidate(a, b)
}

// second returns the first document of the input in a class that the reference
// begins.
func (g *Grouper) second(first *Record) *Record {
	at, _ := slices.BinarySearchFunc(g.seconds, first.Digest, func(r Record, digest uint64) int { return cmp.Compare(r.Digest, digest) })
	return &g.seconds[at]
}

// group handles the distinct records of one key, ordered by size.
func (g *Grouper) group(group []Record, wanted func(a, b *Record) bool) {
	if len(group) <= fewDocuments {
		g.compare(group, wanted)
		return
	}
	major, pairs := g.unmet(group)
	if pairs > g.MaxComparisons {
		g.Crowded(group, pairs)
		return
	}
	g.compareAcross(group, major, wanted)
}

// fewDocuments is up to how many documents of a group it is not worth to know which of
// them have the same key before.
const fewDocuments = 64

// compareAcross is compare for a large group that has few pairs which have not met:
// nearly all documents have the major key before, and have met there.
func (g *Grouper) compareAcross(group []Record, major uint64, wanted func(a, b *Record) bool) {
	var others []int
	for i := range group {
		if g.before(&group[i]) != major {
			others = append(others, i)
		}
	}
	for n, i := range others {
		from := sort.Search(i, func(k int) bool { return float64(group[k].Size)/float64(group[i].Size) >= g.Threshold })
		end := g.limit(group, i)
		done := others[:n] // which have been compared with this one
		for j := from; j < end; j++ {
			if len(done) > 0 && j > done[len(done)-1] {
				done = nil
			}
			if _, before := slices.BinarySearch(done, j); before || j == i {
				continue
			}
			if a, b := &group[min(i, j)], &group[max(i, j)]; !ofReference(a, b) && wanted(a, b) {
				g.pair(a, b)
			}
		}
	}
}

// before returns what tells the documents of a group apart that have another key before
// it.
func (g *Grouper) before(r *Record) uint64 {
	switch {
	case r.First:
		return bits.RotateLeft64(uint64(r.Ref), 32) // nobody else's
	case g.Exact:
		return uint64(r.Previous[0])<<32 | uint64(r.Previous[1])
	}
	return uint64(r.Previous[0])
}

// compare passes on all wanted pairs of a group that is ordered by size. A pair that
// agrees in one of the keys known before has met in that group and is not looked at
// again.
func (g *Grouper) compare(group []Record, wanted func(a, b *Record) bool) {
	g.splitReference(group)
	for i := range group {
		a := &group[i]
		limit := g.limit(group, i)
		if !a.onlyReference {
			for j := i + 1; j < limit; j++ {
				if b := &group[j]; wanted(a, b) {
					g.pair(a, b)
				}
			}
			continue
		}
		// Of the reference: only what is in the input is of interest.
		next, _ := slices.BinarySearch(g.inputs, i+1)
		for ; next < len(g.inputs) && g.inputs[next] < limit; next++ {
			if b := &group[g.inputs[next]]; wanted(a, b) {
				g.pair(a, b)
			}
		}
	}
}

// Star passes on the pairs of the first document of a group that Crowded has received
// with the others.
func (g *Grouper) Star(group []Record) {
	first := 0
	for i := range group {
		if group[i].Ref < group[first].Ref {
			first = i
		}
	}
	for i := range group {
		if i != first && !ofReference(&group[first], &group[i]) {
			g.pair(&group[first], &group[i])
		}
	}
}

// limit returns the end of the records behind record i whose sizes allow the
// threshold.
func (g *Grouper) limit(group []Record, i int) int {
	rest := group[i+1:]
	return i + 1 + sort.Search(len(rest), func(k int) bool {
		return float64(group[i].Size)/float64(rest[k].Size) < g.Threshold
	})
}

// splitReference notes which of the classes have a document of the input, if there
// is a reference.
func (g *Grouper) splitReference(records []Record) {
	g.inputs = g.inputs[:0]
	if g.FirstInput == 0 {
		return
	}
	for i := range records {
		if !records[i].onlyReference {
			g.inputs = append(g.inputs, i)
		}
	}
}

// unmet returns how many pairs of a group have another key before, without those of
// which both are of the reference only, and the key that most documents have before.
func (g *Grouper) unmet(group []Record) (major uint64, pairs int64) {
	type class struct{ all, references int64 }
	classes := map[uint64]class{}
	var sum class
	for i := range group {
		before := g.before(&group[i])
		c := classes[before]
		c.all++
		sum.all++
		if group[i].onlyReference {
			c.references++
			sum.references++
		}
		classes[before] = c
	}
	count := func(c class) int64 { return c.all*(c.all-1)/2 - c.references*(c.references-1)/2 }
	pairs = count(sum)
	for before, c := range classes {
		pairs -= count(c)
		if most := classes[major].all; c.all > most || c.all == most && before < major {
			major = before
		}
	}
	return major, pairs
}
