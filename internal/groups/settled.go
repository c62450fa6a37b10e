package groups

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/verdicts"
	"mirrorbeam/internal/work"
)

// Settled knows which pairs the last run of a scheduled job has compared, so that nobody needs to compare them again. The
// last run has compared all candidate pairs of its documents. So a pair of documents of unchanged files is similar if that
// run has said so, and otherwise it is not.
type Settled struct {
	// Verdicts are the similar pairs of the last run.
	Verdicts *verdicts.Table
	// Unchanged says, for each file by its number, whether the last run knew it as it is.
	Unchanged []bool
}

// allVerdicts are the tables of the jobs at work in this process.
var allVerdicts work.Shared[verdicts.Table]

// NewSettled returns what is settled, given the path of a table of verdicts; nil for the path "".
func NewSettled(path string, unchanged []bool) (*Settled, error) {
	if path == "" {
		return nil, nil
	}
	table, err := allVerdicts.Get(path, verdicts.Read)
	return &Settled{table, unchanged}, err
}

// score returns the score of a pair that is settled, and whether it is similar.
func (s *Settled) score(a, b *candidates.Record) (score records.Score, isSimilar, isSettled bool) {
	if s == nil || !s.Unchanged[a.Ref.File()] || !s.Unchanged[b.Ref.File()] {
		return score, false, false
	}
	score, isSimilar = s.Verdicts.Find(a.Digest, b.Digest)
	return score, isSimilar, true
}

// settledEdges collects the edges of settled pairs. They share a part of the similarity graph with the stars of a shard.
type settledEdges struct {
	nodes numbering.Set[components.Node]
	part  components.Part
	edges []records.Edge[components.Node]
}

// add adds an edge.
func (s *settledEdges) add(a, b *candidates.Record, score records.Score) {
	s.edges = append(s.edges, records.Edge[components.Node]{A: s.node(a.Ref, a.Size), B: s.node(b.Ref, b.Size), Score: score})
}

// node returns the node of a document, counted from the first that is not of a star.
func (s *settledEdges) node(ref docref.Ref, size uint32) components.Node {
	node, isNew := s.nodes.Add(uint64(ref))
	if isNew {
		s.part.Add(ref, size)
	}
	return node
}
