package groups

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/state"
)

// Known writes the edges between documents of unchanged files that have no keys in this run: the last run has found them equal, or
// similar. Documents that have keys meet under them, so between two of these it writes no edge.
type Known struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Verdicts is the path of a table of the similar pairs of the last run.
	Verdicts work.Path
	// Shards is the number of shards over which keys are spread.
	Shards int
	// SimHashBits is the length of the fingerprints, if a score is the distance of two; 0 if sets are compared.
	SimHashBits int

	layout documents.Layout // read in Setup
}

// KnownDelivery makes the task of [Known]. There is one at most.
func KnownDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.Known}} }

// Setup reads the list of inputs.
func (k *Known) Setup() error { return k.layout.Read(string(k.Inputs)) }

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
	classes, err := k.classes(&edges, readKnown(packed))
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

// knownDocuments are packed documents in the order of digests, scopes and refs.
type knownDocuments struct {
	packed []byte
	order  []knownOrder
}

// knownOrder is the place of a packed document, and the leading bits of its digest.
type knownOrder struct{ lead, at uint32 }

// readKnown orders packed documents. They stay where they are, since they are many.
func readKnown(packed []byte) knownDocuments {
	k := knownDocuments{packed, make([]knownOrder, len(packed)/records.KnownSize)}
	for i := range k.order {
		k.order[i] = knownOrder{uint32(digest.Get(packed[i*records.KnownSize:])[0] >> 32), uint32(i)}
	}
	k.order = graphs.RadixSort(k.order, make([]knownOrder, len(k.order)), func(o *knownOrder) uint64 { return uint64(o.lead) })
	for start := 0; start < len(k.order); {
		end := start + 1
		for end < len(k.order) && k.order[end].lead == k.order[start].lead {
			end++
		}
		if end > start+1 { // mostly equal documents
			slices.SortFunc(k.order[start:end], func(x, y knownOrder) int {
				a, b := k.get(x), k.get(y)
				return cmp.Or(digest.Compare(a.Digest, b.Digest), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Ref, b.Ref))
			})
		}
		start = end
	}
	return k
}

// get returns a document.
func (k *knownDocuments) get(o knownOrder) records.KnownDocument {
	return records.GetKnown(k.packed[int(o.at)*records.KnownSize:])
}

// classes writes the edges between equal documents, and returns the classes.
func (k *Known) classes(edges *Edges, all knownDocuments) (*knownClasses, error) {
	var failed error
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64, FirstInput: k.layout.FirstInput,
		Candidate: func(_, _ *candidates.Record) {},
		Identical: func(first, other *candidates.Record) {
			score := records.NewScore(int(first.Size), int(first.Size), false)
			if k.SimHashBits > 0 {
				score = records.HammingScore(0, k.SimHashBits)
			}
			failed = cmp.Or(failed, edges.Add(first, other, score))
		},
	}
	var equal []candidates.Record
	classes := make([]knownClass, 0, len(all.order))
	for start := 0; start < len(all.order); {
		first, end := all.get(all.order[start]), start+1
		class := knownClass{KnownDocument: first, second: first.Ref}
		equal = equal[:0]
		for ; end < len(all.order) && all.order[end].lead == all.order[start].lead; end++ {
			d := all.get(all.order[end])
			if d.Digest != first.Digest || d.Scope != first.Scope {
				break
			}
			if class.second == first.Ref && (d.Side != first.Side || first.Ref < k.layout.FirstInput && d.Ref >= k.layout.FirstInput) {
				class.second = d.Ref
			}
			equal = append(equal, recordOf(&d))
		}
		if classes = append(classes, class); len(equal) > 0 && !first.Keyed { // else they meet
			g.Groups(slices.Insert(equal, 0, recordOf(&first)))
		}
		start = end
	}
	return newKnownClasses(classes, k.layout.FirstInput), failed
}

// recordOf returns the record of a document of a group of equal ones.
func recordOf(d *records.KnownDocument) candidates.Record {
	return candidates.Record{Digest: d.Digest, Ref: d.Ref, Size: d.Size, Side: d.Side, First: true}
}

// knownClass is a class of equal documents of one scope: its first document and, as in [candidates.Class], the second one.
type knownClass struct {
	records.KnownDocument
	second docref.Ref
}

// knownClasses finds classes by their digests.
type knownClasses struct {
	// all are the classes in the order of digests and scopes.
	all []knownClass
	// starts says, for the leading bits of a digest, which is the first class whose digest does not have lesser ones.
	starts     []uint32
	shift      int
	firstInput docref.Ref
}

// newKnownClasses returns the given classes, which are in order. A digest is a hash, so hardly more than one class has its leading bits.
func newKnownClasses(all []knownClass, firstInput docref.Ref) *knownClasses {
	width := bits.Len(uint(len(all)))
	c := &knownClasses{all: all, starts: make([]uint32, 1<<width+1), shift: 64 - width, firstInput: firstInput}
	at := 0
	for lead := range c.starts {
		for at < len(all) && all[at].Digest[0]>>c.shift < uint64(lead) {
			at++
		}
		c.starts[lead] = uint32(at)
	}
	return c
}

// from returns the classes whose digests are not before the given one.
func (c *knownClasses) from(d digest.Digest) []knownClass {
	lead := d[0] >> c.shift
	start := int(c.starts[lead])
	few := c.all[start:c.starts[lead+1]]
	return c.all[start+sort.Search(len(few), func(i int) bool { return digest.Compare(few[i].Digest, d) >= 0 }):]
}

// join writes the edges that a verdict is about: one for each scope that has documents of both digests, if these are compared.
func (c *knownClasses) join(edges *Edges, v state.Verdict) error {
	if v.A == v.B {
		return nil
	}
	a, b := c.from(v.A), c.from(v.B)
	for len(a) > 0 && len(b) > 0 && a[0].Digest == v.A && b[0].Digest == v.B {
		x, y := &a[0], &b[0]
		order := cmp.Compare(x.Scope, y.Scope)
		if order == 0 && !(x.Keyed && y.Keyed) {
			first, second, ok := candidates.Ends(x.class(), y.class(), c.firstInput)
			if ok {
				if err := edges.Add(&candidates.Record{Ref: first, Size: x.Size}, &candidates.Record{Ref: second, Size: y.Size}, v.Score); err != nil {
					return err
				}
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

func (k *knownClass) class() candidates.Class {
	return candidates.Class{First: k.Ref, Second: k.second, Side: k.Side}
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
