package methods

// Scorer says what pairs are scored by, and what their rows say therefore. All that depends on how documents are compared
// asks it. Whether common shingles are left out, or rarity is told, are variants of a scorer.
type Scorer struct {
	// Reads is what the scorer reads of both documents.
	Reads Evidence
	// IsDistance says that a score is the Hamming distance of two SimHash fingerprints. Otherwise it is a similarity.
	IsDistance bool
	// HasClusters says that pairs join documents to clusters, where each is kept or removed. Otherwise pairs are all
	// there is: a common passage does not make two documents one.
	HasClusters bool
	// IsExact says that full sets are compared. Otherwise the smallest hashes of both are, and similarities are estimates.
	IsExact bool
	// AcceptsAll takes every candidate pair for an edge.
	AcceptsAll bool
}

// Evidence is what a scorer reads of both documents of a pair.
type Evidence int

const (
	// Sets are the shingle sets of both documents.
	Sets Evidence = iota
	// Texts are sequences, for the passages that both documents have.
	Texts
	// Nothing means that Group has written edges.
	Nothing
)

// TellsWhole reports whether a score has a second figure, by all shingles, where common ones are left out of the first.
func (s Scorer) TellsWhole() bool { return s.HasClusters && !s.IsDistance }

func bySets(p *Parameters) Scorer {
	return Scorer{Reads: Sets, HasClusters: true, IsExact: p.Verify == VerifyExact, AcceptsAll: p.Verify == VerifyNone}
}
