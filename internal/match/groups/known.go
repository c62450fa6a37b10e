package groups

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// Known writes the edges between documents of unchanged files that have no keys in this run: the last run has found them equal, or
// similar. Documents that have keys meet under them, so between two of these it writes no edge.
type Known struct {
	// Verdicts is the path of a table of the similar pairs of the last run.
	Verdicts work.Path
	// Shards is the number of shards over which keys are spread.
	Shards int
}

// KnownDelivery makes the task of [Known]. There is one at most.
func KnownDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.Known}} }

// Task writes the edges, as a part of the similarity graph behind the parts of all shards and crowds.
func (k *Known) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Known)
	if err != nil {
		return err
	}
	verdicts, err := OpenVerdicts(string(k.Verdicts))
	if err != nil {
		return err
	}
	w.Hold(verdicts)
	edges := NewEdges(w, 2*k.Shards)
	classes, err := writeStars(&edges, readKnown(packed))
	if err != nil {
		return err
	}
	for i := range verdicts.Len() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := classes.join(&edges, verdicts.At(i)); err != nil {
			return err
		}
	}
	return edges.Finish()
}

// readKnown returns documents in the order of digests, scopes and refs.
func readKnown(packed []byte) []records.KnownDocument {
	all := make([]records.KnownDocument, len(packed)/records.KnownSize)
	for i := range all {
		all[i] = records.GetKnown(packed[i*records.KnownSize:])
	}
	all = graphs.RadixSort(all, make([]records.KnownDocument, len(all)), func(d *records.KnownDocument) uint64 { return d.Digest[0] })
	slices.SortFunc(all, func(a, b records.KnownDocument) int { // little is left to sort
		return cmp.Or(digest.Compare(a.Digest, b.Digest), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Ref, b.Ref))
	})
	return all
}

// knownClasses are the first documents of classes, in the order of digests and scopes. Equal documents of one scope are a class.
type knownClasses []records.KnownDocument

// writeStars writes the edges from the first document of each class to the others, and returns the first ones, which take the place
// of all.
func writeStars(edges *Edges, all []records.KnownDocument) (knownClasses, error) {
	firsts := all[:0]
	for i := range all {
		d := all[i]
		if len(firsts) == 0 || d.Digest != firsts[len(firsts)-1].Digest || d.Scope != firsts[len(firsts)-1].Scope {
			firsts = append(firsts, d)
			continue
		}
		if d.Keyed { // then the whole class is
			continue
		}
		size := int(d.Size)
		if err := edges.Add(nodeOf(&firsts[len(firsts)-1]), nodeOf(&d), records.NewScore(size, size, false)); err != nil {
			return nil, err
		}
	}
	return firsts, nil
}

// from returns the classes whose digests are not before the given one.
func (c knownClasses) from(d digest.Digest) knownClasses {
	return c[sort.Search(len(c), func(i int) bool { return digest.Compare(c[i].Digest, d) >= 0 }):]
}

// join writes the edges that a verdict is about: one for each scope that has documents of both digests.
func (c knownClasses) join(edges *Edges, v state.Verdict) error {
	if v.A == v.B {
		return nil
	}
	a, b := c.from(v.A), c.from(v.B)
	for len(a) > 0 && len(b) > 0 && a[0].Digest == v.A && b[0].Digest == v.B {
		x, y := &a[0], &b[0]
		order := cmp.Compare(x.Scope, y.Scope)
		if order == 0 && !(x.Keyed && y.Keyed) {
			if err := edges.Add(nodeOf(x), nodeOf(y), v.Score); err != nil {
				return err
			}
		}
		if order <= 0 {
			a = a[1:]
		}
		if order >= 0 {
			b = b[1:]
		}
	}
	return nil
}

// nodeOf returns the record of a document as [Edges] takes it.
func nodeOf(d *records.KnownDocument) *candidates.Record {
	return &candidates.Record{Ref: d.Ref, Size: d.Size}
}

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
