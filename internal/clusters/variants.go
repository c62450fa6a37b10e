package clusters

import (
	"slices"

	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
)

// withWords returns a capture with the words of its text in place of the text.
func withWords(capture []byte) []byte {
	rest, text, has := records.CutText(capture)
	if !has {
		return capture
	}
	words := variants.AppendWords(nil, text)
	return records.AppendText(slices.Clone(rest), len(words), words)
}

// setVariantsApart marks the edges of variants, and makes clusters of documents that other edges join.
func (s *Shard) setVariantsApart(rule variants.Rule) {
	if !rule.Keeps() {
		return
	}
	store := s.store.Beside()
	defer store.Close()
	pairs := variants.Pairs{
		Rule:      rule,
		Store:     store,
		Documents: s.members.Len(),
		Words:     func(i int) string { return s.members.Capture(records.Number(i)).Words },
		Len:       s.edges.Len(),
		At: func(i int) (a, b int) {
			if e := s.edges.At(i); !e.Identical() {
				return int(e.A), int(e.B)
			}
			return 0, 0
		},
	}
	pairs.Judge(func(i int) {
		e := s.edges.At(i)
		e.Total |= records.VariantMark
		s.edges.Set(i, e)
		s.hasVariants = true
	})
	if !s.hasVariants {
		return
	}
	joined, hasPair := newForest(store, s.members.Len()), listIn[bool](store, s.end())
	for e := range s.withDuplicates(s.edges) {
		if !e.Variant() {
			joined.union(e.A, e.B)
		}
	}
	for e := range s.withDuplicates(s.edges) {
		if !e.Variant() && (s.members.Sides() == nil || !s.isWithinSide(e)) {
			hasPair.Set(joined.find(e.A), true)
		}
	}
	for i := range s.end() {
		first := joined.find(i)
		if !hasPair.At(first) {
			first = i // it equals documents of its own side only
		}
		s.members.SetFirst(i, first)
	}
}
