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
	// FirstInput is the first document that is not of the reference corpus: two
	// documents before it are not compared.
	FirstInput docref.Ref
	// Candidate receives a pair of different documents that may reach the
	// threshold, in any order. A pair may come again under a later key if it has
	// had no key in common among the MaxPrevious before that, or dense ones only.
	Candidate func(a, b *Record)
	// Identical receives a document and an earlier one of equal digest, the
	// first of all that are equal to it.
	Identical func(first, other *Record)

	// Dense receives each dense group, ordered by size of the documents, and how
	// many of its pairs were skipped by Groups.
	Dense func(records []Record, skipped int64)

	// DenseKeys are those of all dense groups, as [PreviousOf] gives them; for
	// Again.
	DenseKeys map[uint32]bool

	inputs []int // where in a group documents stand that are not of the reference
}

// Groups goes through sorted records, some of which it reorders, and handles every
// group of two or more.
func (g *Grouper) Groups(records []Record) {
	eachGroup(records, func(group []Record) {
		for i, first := 1, 0; i < len(group); i++ {
			if group[i].Digest != group[first].Digest {
				first = i
			} else if group[i].First && group[i].Ref >= g.FirstInput {
				g.Identical(&group[first], &group[i])
			}
		}
		if group = distinct(group); group != nil {
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

// distinct returns a group ordered by size without documents that are identical to
// an earlier one: these stand as one, the first of them, as they share all keys.
// It returns nil if there is nothing to compare.
func distinct(group []Record) []Record {
	group = slices.CompactFunc(group, func(a, b Record) bool { return a.Digest == b.Digest })
	if len(group) < 2 || group[0].Size == 0 && group[len(group)-1].Size == 0 {
		return nil
	}
	slices.SortFunc(group, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	return group
}

// isDense reports whether the group has too many pairs, without those within the
// reference.
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
		if a.Ref >= g.FirstInput {
			for j := i + 1; j < limit; j++ {
				if b := &group[j]; g.wanted(a, b) {
					g.Candidate(a, b)
				}
			}
			continue
		}
		// Of the reference: only the documents of the input are of interest.
		next, _ := slices.BinarySearch(g.inputs, i+1)
		for ; next < len(g.inputs) && g.inputs[next] < limit; next++ {
			if b := &group[g.inputs[next]]; g.wanted(a, b) {
				g.Candidate(a, b)
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
			if b := &group[j]; j != first && (a.Ref >= g.FirstInput || b.Ref >= g.FirstInput) && g.wanted(a, b) {
				g.Candidate(a, b)
			}
		}
		switch {
		case a.Ref < g.FirstInput:
			from, _ := slices.BinarySearch(g.inputs, bound)
			to, _ := slices.BinarySearch(g.inputs, limit)
			skipped += int64(to - from)
		case bound <= first && first < limit: // the star has compared them
			skipped += int64(limit - bound - 1)
		default:
			skipped += int64(limit - bound)
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
		if i != at && other.Ref >= g.FirstInput && float64(low)/float64(high) >= g.Threshold && wanted(first, other) {
			g.Candidate(first, other)
		}
	}
	return at
}

// splitReference notes which of the records are not of the reference, if there
// is one, and returns how many are.
func (g *Grouper) splitReference(records []Record) int {
	if g.FirstInput == 0 {
		return 0
	}
	g.inputs = g.inputs[:0]
	for i := range records {
		if records[i].Ref >= g.FirstInput {
			g.inputs = append(g.inputs, i)
		}
	}
	return len(records) - len(g.inputs)
}
