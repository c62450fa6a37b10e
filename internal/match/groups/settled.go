package groups

import (
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/settle/state"
)

// Settled knows which pairs the last run of a scheduled job has compared, so that nobody needs to compare them again. The
// last run has compared all candidate pairs of its documents. So a pair of documents of unchanged files is similar if that
// run has said so, and otherwise it is not.
type Settled struct {
	// Verdicts are the similar pairs of the last run.
	Verdicts *state.Verdicts
	// Unchanged says, for each file by its number, whether the last run knew it as it is.
	Unchanged []bool
}

// allVerdicts are the tables of the jobs at work in this process.
var allVerdicts work.Shared[state.Verdicts]

// OpenVerdicts returns the table of verdicts in a file. Tasks of this process share it while one of them holds it.
func OpenVerdicts(path string) (*state.Verdicts, error) {
	return allVerdicts.Get(path, state.ReadVerdicts)
}

// NewSettled returns what is settled, given the path of a table of verdicts; nil for the path "".
func NewSettled(path string, unchanged []bool) (*Settled, error) {
	if path == "" {
		return nil, nil
	}
	table, err := OpenVerdicts(path)
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
	nodes graphs.Numbering[graphs.Node]
	part  graphs.Part
	edges []records.Edge[graphs.Node]
}

// add adds an edge.
func (s *settledEdges) add(a, b *candidates.Record, score records.Score) {
	s.edges = append(s.edges, records.Edge[graphs.Node]{A: s.node(a.Ref, a.Size), B: s.node(b.Ref, b.Size), Score: score})
}

// node returns the node of a document, counted from the first that is not of a star.
func (s *settledEdges) node(ref docref.Ref, size uint32) graphs.Node {
	node, isNew := s.nodes.Add(uint64(ref))
	if isNew {
		s.part.Add(ref, size)
	}
	return node
}
