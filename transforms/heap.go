package transforms

import (
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn5x1[context.Context, int64, func(*[]byte) bool, func([]byte), func([]byte), error](&joinFn{})
}

// A heap is the documents of dense groups that have documents in common. Its pairs are
// too many to be compared. So its documents come to one place, in the order in which
// they are preferred, and are compared with a few leaders; see heapFn.

// heaps gathers and scores the heaps: it takes the outcomes of the groups and of
// Fingerprint, PCollection<[]byte> each, and returns one of outcomes with edges and
// stars.
func heaps(s beam.Scope, job Job, groups, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("heaps")
	tasks, joined := beam.ParDo2(s, &joinFn{Job: job, planner: planner{job.runs()}}, together(s, groups, sketches))
	sets := sideBySide(s.Scope("sets"), &gatherFn{Job: job, bundle: newBundle(job)}, tasks)
	d := work.Delivery{Needed: []runfile.Kind{records.Heaps}, Extra: []runfile.Kind{records.PlaceSets}}
	scored := sideBySide(s, &heapFn{Job: job, bundle: newBundle(job)}, exchange(s, job, d, joined, sets))
	return beam.Flatten(s, joined, sets, scored)
}

// joinFn joins dense groups to heaps and makes the tasks that bring the sets of their
// documents together. It puts out the tasks, and an outcome that names the heaps.
type joinFn struct {
	Job Job

	planner

	documents.Layout // read in Setup
}

func (f *joinFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *joinFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitHeaps func([]byte)) error {
	o, err := f.plan(ctx, gatherStage, elements, emitTask, f.Plan)
	if err != nil {
		return err
	}
	element, err := o.Encode()
	if err == nil {
		emitHeaps(element)
	}
	return err
}

// Plan joins dense groups and makes the tasks.
func (f *joinFn) Plan(_ context.Context, p *work.Planning) (err error) {
	p.Outcome.Run, err = f.join(work.RunsBut(p.Outcomes, work.Fingerprint), p.Memory)
	if err != nil || p.Outcome.Run == "" {
		return err
	}
	d := work.Delivery{Step: documentsStep, Needed: []runfile.Kind{records.Wanted}, Extra: []runfile.Kind{records.Documents, records.Sets}}
	return p.Deliver(d, append(work.RunsOf(p.Outcomes), p.Outcome.Run))
}

// join joins dense groups to heaps, packs heaps into places, says which documents are
// wanted at each, and how many these are. It returns the path of the run file, "" if there
// is no heap.
func (f *joinFn) join(runs []string, m *work.Memory) (string, error) {
	m.Run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer m.Run.Abort()
	graph, inputs, err := readHeaps(runs, m)
	if err != nil {
		return "", err
	}
	// A heap of more than a place holds is not cut: it has the first of its places.
	places, count := graph.Places(max(f.Job.PlaceBytes/8, 1))
	heaps := map[uint32]uint32{} // the number of a heap at its place, by root
	next := make([]uint32, count)
	sizes := make([]uint32, count)
	for rank, root := range graph.Roots() {
		place := places[rank].First
		heap, known := heaps[root]
		if !known {
			heap = next[place]
			heaps[root] = heap
			next[place]++
		}
		sizes[place]++
		ref := graph.Ref(rank)
		wanted := records.Want{Ref: ref, Place: int(place), Input: inputs[ref], Heap: heap}
		if err := records.WriteWanted(&m.Run, documents.SplitOf(f.Starts, ref), wanted); err != nil {
			return "", err
		}
	}
	for place, size := range sizes {
		if size == 0 {
			continue
		}
		b, err := m.Run.Record(records.Heaps, place, 4)
		if err != nil {
			return "", err
		}
		binary.LittleEndian.PutUint32(b, size)
	}
	return m.Run.Close()
}

// readHeaps returns the graph of the documents of dense groups, and the equal documents
// of the input of those that are of the reference.
func readHeaps(runs []string, m *work.Memory) (*components.Graph, map[docref.Ref]docref.Ref, error) {
	var graph components.Graph
	inputs := map[docref.Ref]docref.Ref{}
	err := work.EachPart(runs, records.HeapMembers, m, func(_ int, members []byte) error {
		var part components.Part
		m.Nodes.Reset()
		// The other document of a group comes first itself.
		number := func(ref docref.Ref, weight uint32) uint32 {
			n, isNew := m.Nodes.Add(uint64(ref))
			if isNew {
				part.Refs, part.Weights, part.Parents = append(part.Refs, ref), append(part.Weights, weight), append(part.Parents, n)
			}
			return n
		}
		for ; len(members) > 0; members = members[records.HeapMemberSize:] {
			ref, input, other := records.GetRef(members), records.GetRef(members[records.RefSize:]), records.GetRef(members[2*records.RefSize:])
			size := binary.LittleEndian.Uint32(members[3*records.RefSize:])
			part.Parents.Union(number(ref, size), number(other, size))
			if input != 0 {
				inputs[ref] = input
			}
		}
		graph.Add(part)
		return nil
	})
	graph.Finish()
	return &graph, inputs, err
}

// stars are the documents of heaps that are like one leader, where these are many.
type stars struct {
	documents, leaders numbering.Set
	of                 []uint32 // by number of the document: that of its leader
	sizes              []int64  // by number of the leader
	limit              int64    // pairs of a star that are compared
}

// readStars reads the large stars of all heaps. As with crowds, the smallest are compared
// as far as the bounds allow: to list more pairs of documents that are much alike is of
// no use.
func (f *placeFn) readStars(runs []string, documents int64, m *work.Memory) (*stars, error) {
	s := &stars{}
	err := work.EachPart(runs, records.Stars, m, func(_ int, packed []byte) error {
		for ; len(packed) > 0; packed = packed[records.StarSize:] {
			if _, isNew := s.documents.Add(uint64(records.GetRef(packed))); isNew {
				leader, isNew := s.leaders.Add(uint64(records.GetRef(packed[records.RefSize:])))
				if isNew {
					s.sizes = append(s.sizes, 0)
				}
				s.sizes[leader]++
				s.of = append(s.of, leader)
			}
		}
		return nil
	})
	var crowds []work.Crowd
	for _, size := range s.sizes {
		crowds = append(crowds, work.Crowd{Pairs: candidates.PairsOf(size, 0)})
	}
	s.limit = crowdLimit(crowds, f.Job.Bounds.allowed(documents))
	return s, err
}

// star returns the number of a document's star whose pairs are not compared, from 1 on, 0
// if it is in none.
func (s *stars) star(ref docref.Ref) uint32 {
	if number, found := s.documents.Find(uint64(ref)); found && candidates.PairsOf(s.sizes[s.of[number]], 0) > s.limit {
		return s.of[number] + 1
	}
	return 0
}
