package transforms

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&scoreFn{})
}

// Score computes the similarity of the pairs of each place and keeps those at
// or above the threshold as edges: PCollection<[]byte> of gather outcomes to one
// of outcomes with edges.
func Score(s beam.Scope, job Job, gathered beam.PCollection) beam.PCollection {
	s = s.Scope("score")
	d := work.Delivery{Needed: []runfile.Kind{records.PlacePairs, records.Blocks}, Extra: []runfile.Kind{records.PlaceSets}}
	tasks := exchange(s, job, d, gathered)
	return sideBySide(s, &scoreFn{Job: job, bundle: newBundle(job)}, tasks)
}

var scoreStage = newStage(work.Score)

type scoreFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *scoreFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *scoreFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, scoreStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		switch {
		case f.Job.Similarity == methods.Containment:
			return f.passages(ctx, t.Number, w)
		case w.Has(records.Blocks):
			return f.block(ctx, t, w)
		}
		return f.place(ctx, t.Number, w)
	})
}

// part returns the part of the similarity graph that a task makes. They have even
// numbers behind those that Group made of identical documents.
func (f *scoreFn) part(number int) edgeWriter { return edgeWriter{number: f.Job.Shards + 2*number} }

// place scores the pairs of a place.
func (f *scoreFn) place(ctx context.Context, number int, w *work.Place) error {
	sets, err := readSets(ctx, w, &w.Hashes)
	if err != nil {
		return err
	}
	graph := f.part(number)
	counts := &w.Outcome.Counts
	err = visitPairs(w, sets, int(f.Job.PlaceBytes/8), func(pairs []uint64) error {
		counts.Candidates += int64(len(pairs))
		for i, pair := range pairs {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x, y := &sets.sets[pair>>32], &sets.sets[uint32(pair)]
			e, ok := f.Job.score(x, y)
			if !ok {
				continue
			}
			if err := graph.add(&w.Run, x, y, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.Figures.Records += counts.Candidates
	return records.WritePart(&w.Run, records.EdgeNodes, graph.number, graph.part)
}

// visitPairs visits the pairs of the task in order, each once, as the numbers of
// their documents in two halves of a word, so many at a time or fewer, mostly. A
// dense component has many times the pairs that its sets would let expect.
func visitPairs(w *work.Place, sets *gatheredSets, atATime int, visit func([]uint64) error) error {
	total := 0
	for _, piece := range w.Pieces {
		if piece.Kind == records.PlacePairs {
			total += int(piece.Length) / (2 * records.RefSize)
		}
	}
	parts := 1
	if total > atATime {
		// Where all are pairs, the first documents have twice as many as others.
		parts = 2*total/max(atATime, 1) + 1
	}
	w.Pairs = slices.Grow(w.Pairs[:0], min(total, atATime))
	for part := range parts {
		first, end := len(sets.sets)*part/parts, len(sets.sets)*(part+1)/parts
		pairs, err := readPairs(w, sets, uint32(first), uint32(end))
		if err != nil {
			return err
		}
		if err := visit(pairs); err != nil {
			return err
		}
	}
	return nil
}

// readPairs returns the pairs whose first document has a number from first to
// before end. Pairs that share several keys have come more than once.
func readPairs(w *work.Place, sets *gatheredSets, first, end uint32) ([]uint64, error) {
	pairs := w.Pairs[:0]
	for _, piece := range w.Pieces {
		if piece.Kind != records.PlacePairs {
			continue
		}
		buffer, err := w.ReadPiece(0, piece)
		if err != nil {
			return nil, err
		}
		for b := buffer; len(b) > 0; b = b[2*records.RefSize:] {
			x, err := sets.number(records.GetRef(b))
			if err != nil {
				return nil, err
			}
			if x < first || x >= end {
				continue
			}
			y, err := sets.find(records.GetRef(b[records.RefSize:]))
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, uint64(x)<<32|uint64(y))
		}
	}
	w.Pairs = pairs
	return distinct(pairs), nil
}

// score compares two documents and reports whether they are joined by an edge.
func (j *Job) score(a, b *gatheredSet) (records.Edge, bool) {
	if j.Verify == methods.VerifyExact {
		need := asmkernels.Required(j.Threshold, a.size, b.size)
		shared := asmkernels.Intersect(a.set, b.set, need)
		return records.NewEdge(shared, a.size+b.size-shared, false), shared >= need
	}
	shared, union, exact := sketch.Overlap(a.set, b.set, a.size, b.size, bottomK)
	return records.NewEdge(shared, union, !exact), j.Verify == methods.VerifyNone || float64(shared)/float64(union) >= j.Threshold
}

// gatheredSet is a document at the place where it is scored.
type gatheredSet struct {
	ref  docref.Ref
	size int      // distinct shingles of the document
	set  []uint64 // their hashes, or the smallest of them
	node uint32   // number among the nodes with an edge, plus 1
	// input is the equal document of the input, see want, or nil.
	input *gatheredSet
}

// class returns the documents that the set stands for.
func (s *gatheredSet) class() candidates.Class {
	if s.input == nil {
		return candidates.Class{First: s.ref, Input: s.ref}
	}
	return candidates.Class{First: s.ref, Input: s.input.ref}
}

// of returns the document of that name among those that the set stands for.
func (s *gatheredSet) of(ref docref.Ref) *gatheredSet {
	if ref == s.ref {
		return s
	}
	return s.input
}

// gatheredSets are the documents of a place.
type gatheredSets struct {
	sets    []gatheredSet
	numbers numbering.Set // of their refs
	last    uint32        // number that was asked for last
}

// readSets reads the sets of a place. Their hashes go to memory, which grows as
// it must.
func readSets(ctx context.Context, w *work.Place, memory *[]uint64) (*gatheredSets, error) {
	total := 0
	for _, piece := range w.Pieces {
		if piece.Kind == records.PlaceSets {
			total += int(piece.Length)
		}
	}
	// A document takes at least its header, so this is room enough for all.
	*memory = slices.Grow((*memory)[:0], total/sketchblock.HashSize)
	hashes := *memory
	g := &gatheredSets{}
	for _, piece := range w.Pieces {
		if piece.Kind != records.PlaceSets {
			continue
		}
		buffer, err := w.ReadPiece(0, piece)
		if err != nil {
			return nil, err
		}
		w.Figures.Bytes += int64(len(buffer))
		for b := buffer; len(b) > 0; {
			ref, size := records.GetRef(b), int(binary.LittleEndian.Uint32(b[8:]))
			end := records.SetHeader + sketchblock.HashSize*int(binary.LittleEndian.Uint32(b[12:]))
			start := len(hashes)
			hashes = sketchblock.AppendSet(hashes, b[records.SetHeader:end])
			g.numbers.Add(uint64(ref))
			set := gatheredSet{ref: ref, size: size, set: hashes[start:len(hashes):len(hashes)]}
			if input := records.GetRef(b[16:]); input != 0 {
				set.input = &gatheredSet{ref: input, size: size}
			}
			g.sets = append(g.sets, set)
			b = b[end:]
		}
	}
	return g, nil
}

// find returns the number of a document.
func (g *gatheredSets) find(ref docref.Ref) (uint32, error) {
	number, found := g.numbers.Find(uint64(ref))
	if !found {
		return 0, fmt.Errorf("the set of document %d is missing", ref)
	}
	return number, nil
}

// number is find for the first document of a pair: the pairs of a document mostly
// come one after the other.
func (g *gatheredSets) number(ref docref.Ref) (number uint32, err error) {
	if len(g.sets) == 0 || g.sets[g.last].ref != ref {
		if number, err = g.find(ref); err != nil {
			return 0, err
		}
		g.last = number
	}
	return g.last, nil
}

// edgeWriter writes the edges of a part and collects its nodes.
type edgeWriter struct {
	number int // of the part
	part   components.Part
}

func (w *edgeWriter) add(run *runfile.Writer, a, b *gatheredSet, e records.Edge) error {
	e.A, e.B = w.node(a), w.node(b)
	w.part.Parents.Union(e.A, e.B)
	record, err := run.Record(records.Edges, w.number, records.EdgeSize)
	if err == nil {
		records.PutEdge(record, e)
	}
	return err
}

func (w *edgeWriter) node(s *gatheredSet) uint32 {
	if s.node == 0 {
		w.part.Refs = append(w.part.Refs, s.ref)
		w.part.Weights = append(w.part.Weights, uint32(s.size))
		w.part.Parents = append(w.part.Parents, uint32(len(w.part.Parents)))
		s.node = uint32(len(w.part.Refs))
	}
	return s.node - 1
}
