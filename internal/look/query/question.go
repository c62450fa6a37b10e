package query

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/sketch"
)

// question is a document that is asked about, and then held.
type question struct {
	id, ref     []byte // JSON strings
	packed      []byte // its set
	digest      sketch.Digest
	fingerprint []uint64
	matches     []output.Match // in the index
}

// newQuestion keeps what is needed of a fingerprint.
func newQuestion(id, ref []byte, f sketch.Fingerprint, matches []output.Match) question {
	a := question{id: id, ref: ref, digest: f.Digest, matches: matches}
	a.packed = sketchblock.AppendPacked(make([]byte, 0, sketchblock.HashSize*len(f.Set)+2), f.Set)
	a.fingerprint = slices.Clone(f.SimHash)
	return a
}

// compareMatches compares two matches of a document. The better one comes first.
func compareMatches(a, b *output.Match) int {
	return cmp.Or(cmp.Compare(a.Hamming, b.Hamming), cmp.Compare(b.Jaccard, a.Jaccard))
}

// answer appends the rows of a document to those of a portion, and then holds the document.
func (h *added) answer(p *portion, a *question, top int) error {
	matches := h.search(a.matches, a, top)
	slices.SortStableFunc(matches, func(x, y output.Match) int { return compareMatches(&x, &y) })
	if top > 0 {
		matches = matches[:min(len(matches), top)]
	}
	p.add(matches)
	return h.add(a)
}
