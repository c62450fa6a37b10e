package groups

import (
	"cmp"
	"encoding/binary"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Pairs writes the candidate pairs of a shard, a part of the candidate graph: a document is one node in all its groups.
type Pairs struct {
	run   *runfile.Writer
	shard int
	nodes *graphs.Numbering[graphs.Node]
	part  graphs.Part
	// reused says which pairs are not written: cached.Pairs writes the similar ones of two unchanged documents.
	reused documents.Unchanged
}

// NewPairs begins the pairs of a shard, in the memory of the task.
func NewPairs(w *work.TaskContext, shard int) Pairs {
	w.Nodes.Reset()
	return Pairs{run: &w.Run, shard: shard, nodes: &w.Nodes}
}

// Add writes a pair, unless an incremental run has its like from the last run.
func (p *Pairs) Add(a, b *candidates.Record) error {
	if p.reused.Both(a.Ref, b.Ref) {
		return nil
	}
	x, y := p.node(a), p.node(b)
	p.part.Parents.Union(x, y)
	return records.WriteFixed(p.run, records.NodePairs, p.shard, records.NodePair{A: x, B: y})
}

// node returns the node of a record's document. The mark of the record is then this node plus 1.
func (p *Pairs) node(r *candidates.Record) graphs.Node {
	if r.Mark > 0 && p.part.Refs[r.Mark-1] == r.Ref {
		return graphs.Node(r.Mark - 1)
	}
	node, isNew := p.nodes.Add(uint64(r.Ref))
	if isNew {
		p.part.Add(r.Ref, r.Size)
	}
	r.Mark = uint32(node) + 1
	return node
}

// Finish writes the documents of the pairs.
func (p *Pairs) Finish() error { return records.WritePart(p.run, records.Nodes, p.shard, p.part) }

// Edges writes edges of a shard: pairs whose score is known. They are a part of the similarity graph.
type Edges struct {
	run   *runfile.Writer
	shard int
	nodes graphs.Numbering[graphs.Node]
	part  graphs.Part
}

// NewEdges begins the edges of a shard.
func NewEdges(w *work.TaskContext, shard int) Edges { return Edges{run: &w.Run, shard: shard} }

// Add writes the edge between two documents with that score.
func (w *Edges) Add(a, b *candidates.Record, score records.Score) error {
	x, y := w.node(a), w.node(b)
	w.part.Parents.Union(x, y)
	return records.WriteEdge(w.run, records.Edges, w.shard, records.Edge[graphs.Node]{A: x, B: y, Score: score})
}

// AddSpans writes the edge between two documents whose pair the last run has found, and the spans of the pair.
func (w *Edges) AddSpans(a, b *candidates.Record, pair *records.KeptPair) error {
	if err := w.Add(a, b, pair.Score); err != nil {
		return err
	}
	x, y := w.node(a), w.node(b)
	for _, span := range pair.Spans {
		of := records.Span[graphs.Node]{A: x, B: y, Span: span, More: pair.More}
		if err := records.WriteFixed(w.run, records.Spans, w.shard, of); err != nil {
			return err
		}
	}
	return nil
}

func (w *Edges) node(r *candidates.Record) graphs.Node {
	node, isNew := w.nodes.Add(uint64(r.Ref))
	if isNew {
		w.part.Add(r.Ref, r.Size)
	}
	return node
}

// Finish writes the documents of the edges.
func (w *Edges) Finish() error { return records.WritePart(w.run, records.EdgeNodes, w.shard, w.part) }

// MostParts is the largest number of parts of the similarity graph that the tasks of a job's shards make whose edges
// are few, and the part of cached.Pairs. The numbers of these parts are below it.
func MostParts(shards int) int { return 2*shards + 1 }

// Stars writes the edges from the first of equal documents to the others. The documents of one star come one after the
// other. The first part has the number of the shard. If there are very many documents, further parts follow it.
type Stars struct {
	run    *runfile.Writer
	part   int // number of the part
	center Center

	shard, shards int
	parts         int // that are full
	nodes         int // of the part
	tellsLasting  bool
	large
}

// NewStars begins the stars of a shard whose equal documents are very many: all are in further parts.
func NewStars(run *runfile.Writer, shard, shards int) *Stars {
	return &Stars{run: run, shard: shard, shards: shards, nodes: largePart}
}

// Center is the first of equal documents.
type Center struct {
	Ref     docref.Ref
	isKnown bool
	part    int // number of its last part, plus 1
	node    graphs.Node
}

func (w *Stars) add(first, other *candidates.Record) error {
	if !w.center.isKnown || w.center.Ref != first.Ref {
		w.center = Center{Ref: first.Ref, isKnown: true}
		if err := w.tellLasting(other.Key); err != nil {
			return err
		}
	}
	return w.Join(&w.center, other, sameSet(other))
}

// tellLasting writes a key that the next run needs to know, if any is.
func (w *Stars) tellLasting(key uint64) error {
	if !w.tellsLasting {
		return nil
	}
	short := candidates.PreviousOf(key)
	return records.Write(w.run, records.LastingKeys, 0, &short)
}

// sameSet returns the score of two documents with the set of one of them.
func sameSet(r *candidates.Record) records.Score {
	return records.NewScore(int(r.Size), int(r.Size), false)
}

// Join writes the edge from a center to a document that is equal to it, with that score.
func (w *Stars) Join(c *Center, other *candidates.Record, score records.Score) error {
	if w.nodes+2 > cmp.Or(w.large.nodes, largePart) {
		// Scoring has two of three numbers from there on.
		w.part, w.nodes = MostParts(w.shards)+3*(w.parts*w.shards+w.shard)+2, 0
		w.parts++
	}
	if c.part != w.part+1 {
		c.part, c.node = w.part+1, graphs.Node(w.nodes)
		if err := w.node(c.Ref, other.Size, c.node); err != nil {
			return err
		}
	}
	node := graphs.Node(w.nodes)
	if err := w.node(other.Ref, other.Size, c.node); err != nil {
		return err
	}
	return records.WriteEdge(w.run, records.Edges, w.part, records.Edge[graphs.Node]{A: c.node, B: node, Score: score})
}

func (w *Stars) node(ref docref.Ref, size uint32, parent graphs.Node) error {
	w.nodes++
	return records.WriteFixed(w.run, records.EdgeNodes, w.part, records.Node{Ref: ref, Weight: size, Parent: parent})
}

const (
	// LargeShard is the usual size of a large shard, in bytes of packed records: its records take some 70 MB.
	LargeShard = 32 << 20
	// largePart is the usual size of a large part. A task holds the nodes of a part.
	largePart = 1 << 20
)

// large says what of a shard is large. Only tests have a value other than 0, which stands for what is usual.
type large struct {
	bytes int64 // of packed key records of a shard, from which on equal documents are merged early
	nodes int   // of a part of the graph of equal documents
	// records is how many key records a task sorts at a time.
	records int
}

// premerger merges equal documents early while the key records of a shard are read: a document becomes an edge from the
// first of its class, and no task holds its record. All documents of a corpus may be equal, and they have one key. The
// first time that records are read, a vote finds the classes of very many documents. Only these matter.
type premerger struct {
	stars      *Stars
	firstInput docref.Ref
	votes      graphs.Votes
	classes    map[uint64]*premergedClass // by the first word of the digest; nil before the vote is over
}

// premergedClass is a class of equal documents. It is known when its first record is read.
type premergedClass struct {
	digest digest.Digest
	key    uint64
	first  Center
	side   uint64 // of the first document
	// other is the first document of another side. Documents of the side of the first one are joined to it; see
	// [candidates.Grouper]. It is known once all records were read.
	other Center
	// hasInput and hasOther say that a document of the input, and one of another side, was read. The first of these
	// stands for the class in pairs that its first document cannot make.
	hasInput, hasOther bool
	isTold             bool // to the next run
}

func (a *premerger) vote(packed []byte) {
	if records.IsFirstKey(packed) {
		a.votes.Add(digest.Get(packed[16:])[0])
	}
}

// begin lets the records be read from the beginning. It reports whether some of them are merged early.
func (a *premerger) begin() bool {
	before := a.classes
	a.classes = map[uint64]*premergedClass{}
	for hash := range a.votes.Frequent() {
		a.classes[hash] = &premergedClass{}
		if class := before[hash]; class != nil {
			a.classes[hash].other = Center{Ref: class.other.Ref, isKnown: class.other.isKnown}
		}
	}
	return len(a.classes) > 0
}

// takes reports whether a packed record is merged early, and the class. Only the first record of a document is. Records
// come in document order: the first one of a class is not, nor are the first one of the input and the first one of
// another side.
func (a *premerger) takes(packed []byte) (*premergedClass, bool) {
	if a == nil || !records.IsFirstKey(packed) {
		return nil, false
	}
	d := digest.Get(packed[16:])
	class := a.classes[d[0]]
	if class == nil {
		return nil, false
	}
	ref, key := records.GetRef(packed[8:]), binary.LittleEndian.Uint64(packed)
	if !class.first.isKnown {
		*class = premergedClass{
			digest:   d,
			key:      key,
			first:    Center{Ref: ref, isKnown: true},
			side:     records.SideOf(packed),
			other:    class.other,
			hasInput: ref >= a.firstInput,
		}
		return nil, false
	}
	if d != class.digest || key != class.key || ref <= class.first.Ref {
		return nil, false
	}
	isInput, isOther := ref >= a.firstInput, records.SideOf(packed) != class.side
	if isOther && !class.other.isKnown {
		class.other = Center{Ref: ref, isKnown: true}
	}
	isFirst := isInput && !class.hasInput || isOther && !class.hasOther
	class.hasInput, class.hasOther = class.hasInput || isInput, class.hasOther || isOther
	return class, !isFirst
}

func (a *premerger) put(class *premergedClass, packed []byte) error {
	var r candidates.Record
	records.GetKey(packed, &r)
	if !class.isTold {
		class.isTold = true
		if err := a.stars.tellLasting(class.key); err != nil {
			return err
		}
	}
	center := &class.first
	if class.side != 0 && r.Side == class.side && class.other.isKnown {
		center = &class.other
	}
	return a.stars.Join(center, &r, sameSet(&r))
}
