package audit

import "mirrorbeam/internal/ground/docref"

// Shares says which share of the documents an audit looks at. These documents are set aside when they are
// fingerprinted. The zero Shares means no audit.
type Shares struct {
	// Sampled is the share of the input from which the sample is drawn. Probed is the share of all documents
	// among which partners are looked for. A share of 1 means all documents.
	Sampled, Probed float64

	scale float64 // by which all bounds are multiplied
}

// NewShares returns the shares for a sample of about the given number of documents from a corpus of textBytes
// bytes. A sample of 0 means no audit. Up to 64 MiB of text the audit looks at all documents, beyond that at
// a tenth of them or more. Up to 8 MiB it may draw any document. Beyond that it draws from a share a little
// larger than what the sample holds.
func NewShares(sample int, textBytes int64) Shares {
	if sample == 0 {
		return Shares{}
	}
	bytes := float64(textBytes) + 1
	s := Shares{scale: max(float64(sample)/UsualSample, 1)}
	s.Probed = min(max(0.1, 64<<20/bytes)*s.scale, 1)
	s.Sampled = min(max(1./12, 4<<20/bytes), 32<<20/bytes) * s.scale
	if bytes <= 8<<20 {
		s.Sampled = 1
	}
	s.Sampled = min(s.Sampled, s.Probed)
	return s
}

// Elements returns how many shingles a sample holds at most if the corpus has the given number: all shingles
// of a small corpus, else a sixteenth. In memory each takes 8 bytes, and up to 36 in the index.
func (s Shares) Elements(all int64) int {
	most := min(max(all/16, 1<<18), 1<<21)
	if all <= 1<<19 {
		most = all
	}
	return int(float64(most) * s.scale)
}

// Budget returns the bound of the comparisons.
func (s Shares) Budget() Budget {
	return Budget{Pairs: 1 << 18 * s.scale, Elements: 1 << 26 * s.scale}
}

// DocumentHash returns the hash that decides whether a document is chosen: it is if the hash is below the
// [Limit] of a share. Equal documents of the reference are chosen together, since only the first of them can
// be in a pair of the job.
func DocumentHash(ref docref.Ref, digest uint64, isReference bool) uint64 {
	if isReference {
		return Hash(digest)
	}
	return Hash(uint64(ref))
}
