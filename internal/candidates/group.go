package candidates

import (
	"cmp"
	"slices"
	"sort"

	"mirrorbeam/internal/docref"
)

// Grouper finds the candidate pairs of the groups of documents under one key.
//
// A group of more than MaxComparisons pairs is dense: too large for all of them.
// Groups compares only some there and names its key. When the dense keys of all
// groups are known, Again compares what has met under dense keys only, in the
// other groups of the documents.
type Grouper struct {
	// Threshold is the least Jaccard similarity of interest: a pair whose sizes
	// rule it out is dropped.
	Threshold float64
	// MaxComparisons bounds the pairs of one group.
	MaxComparisons int
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

	// Dense receives each dense group, ordered by size of the documents, and how
	// many of its pairs were skipped by Groups.
	Dense func(records []Record, skipped int64)

	// DenseKeys are those of all dense groups, as [PreviousOf] gives them; for
	// Again.
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
			g.group(group)
		}
	})
}

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

// isDense reports whether the group has too many pairs, without those of which
// both are of the reference only.
func (g *Grouper) isDense(group []Record) bool {
	n, references := len(group), g.splitReference(group)
	return n*(n-1)/2-references*(references-1)/2 > g.MaxComparisons
}

// group handles the distinct records of one key, ordered by size. A pair that
// agrees in one of the keys known before has met in that group and is not looked
// at again.
//
// In a dense group each document is compared with the first one, and with as many
// neighbours in the order of sizes as the bound allows: near-duplicates have nearly
// the same size, so the star and the chains of neighbours hold together what
// belongs together.
func (g *Grouper) group(group []Record) {
	if g.isDense(group) && (!g.Exact || g.unmet(group) > g.MaxComparisons) {
		g.dense(group)
		return
	}
	for i := range group {
		a := &group[i]
		limit := g.limit(group, i)
		if !a.onlyReference {
			for j := i + 1; j < limit; j++ {
				if b := &group[j]; g.wanted(a, b) {
					g.pair(a, b)
				}
			}
			continue
		}
		// Of the reference: only what is in the input is of interest.
		next, _ := slices.BinarySearch(g.inputs, i+1)
		for ; next < len(g.inputs) && g.inputs[next] < limit; next++ {
			if b := &group[g.inputs[next]]; g.wanted(a, b) {
				g.pair(a, b)
			}
		}
	}
}

// dense handles a dense group.
func (g *Grouper) dense(group []Record) {
	first := g.star(group, g.wanted)
	// A quarter of the bound: such a group may be one heap of similar documents,
	// every pair of which is kept and written.
	window := max(g.MaxComparisons/len(group)/4-1, 1)
	skipped := int64(0)
	for i := range group {
		if i == first {
			continue
		}
		a := &group[i]
		limit := g.limit(group, i)
		bound := min(limit, i+1+window)
		for j := i + 1; j < bound; j++ {
			if b := &group[j]; j != first && !ofReference(a, b) && g.wanted(a, b) {
				g.pair(a, b)
			}
		}
		if a.onlyReference {
			from, _ := slices.BinarySearch(g.inputs, bound)
			to, _ := slices.BinarySearch(g.inputs, limit)
			skipped += int64(to - from)
		} else {
			skipped += int64(limit - bound)
		}
		if bound <= first && first < limit && !ofReference(a, &group[first]) {
			skipped-- // the star has compared them
		}
	}
	g.Dense(group, skipped)
}

// limit returns the end of the records behind record i whose sizes allow the
// threshold.
func (g *Grouper) limit(group []Record, i int) int {
	rest := group[i+1:]
	return i + 1 + sort.Search(len(rest), func(k int) bool {
		return float64(group[i].Size)/float64(rest[k].Size) < g.Threshold
	})
}

// star compares the first document of a group with those others that are wanted,
// and returns where it stands.
func (g *Grouper) star(group []Record, wanted func(first, other *Record) bool) int {
	at := 0
	for i := range group {
		if group[i].Ref < group[at].Ref {
			at = i
		}
	}
	first := &group[at]
	for i := range group {
		other := &group[i]
		low, high := min(first.Size, other.Size), max(first.Size, other.Size)
		if i != at && !ofReference(first, other) && float64(low)/float64(high) >= g.Threshold && wanted(first, other) {
			g.pair(first, other)
		}
	}
	return at
}

// splitReference notes which of the classes have a document of the input, if there
// is a reference, and returns how many have none.
func (g *Grouper) splitReference(records []Record) int {
	if g.FirstInput == 0 {
		return 0
	}
	g.inputs = g.inputs[:0]
	for i := range records {
		if !records[i].onlyReference {
			g.inputs = append(g.inputs, i)
		}
	}
	return len(records) - len(g.inputs)
}
