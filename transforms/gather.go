package transforms

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn5x1[context.Context, int64, func(*[]byte) bool, func([]byte), func([]byte), error](&placeFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&gatherFn{})
}

// Gather brings each candidate pair and the sets of its documents to one
// place. Near-copies meet under many keys, so the pairs come first: they form
// components, components are packed into places, and each set is sent once, to
// the place of its component; a component too large for that is cut, and sets are
// sent to those of its places where they have a pair. Most documents are in no pair
// and never travel.
//
// It takes the outcomes of Group and Fingerprint, PCollection<[]byte> each, and
// returns one of outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job Job, groups, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("gather")
	place := s.Scope("place")
	tasks, places := beam.ParDo2(place, &placeFn{Job: job, planner: planner{job.runs()}}, together(place, groups, sketches))
	pairs := sideBySide(s.Scope("pairs"), &gatherFn{Job: job, bundle: newBundle(job)}, tasks)
	wanted := work.Delivery{Step: documentsStep, Needed: []runfile.Kind{records.Wanted}, Extra: []runfile.Kind{records.Documents, records.Sets}}
	tasks = exchange(s, job, wanted, sketches, places, pairs)
	sets := sideBySide(s.Scope("sets"), &gatherFn{Job: job, bundle: newBundle(job)}, tasks)
	return beam.Flatten(s, places, pairs, sets)
}

var gatherStage = newStage(work.Gather)

// placeFn joins the parts of the candidate graph, gives every component a place
// and makes the tasks that bring its pairs there. It puts out the tasks, and an
// outcome that names the places.
type placeFn struct {
	Job Job

	planner

	documents.Layout // read in Setup
}

func (f *placeFn) Setup() error { return f.Read(f.Job.Inputs) }

// The steps of gatherFn and of clusterFn.
const (
	edgesStep = iota
	documentsStep
)

func (f *placeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitPlaces func([]byte)) error {
	o, err := f.plan(ctx, gatherStage, elements, emitTask, f.Plan)
	if err != nil {
		return err
	}
	element, err := o.Encode()
	if err == nil {
		emitPlaces(element)
	}
	return err
}

// Plan gives every component a place and makes the tasks.
func (f *placeFn) Plan(_ context.Context, p *work.Planning) (err error) {
	p.Runs.ReleaseStage(p.Outcomes, work.Gather) // those of heaps
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Fingerprint)
	p.Outcome.Run, err = f.place(runs, p.Counts.Documents+p.Counts.ReferenceDocuments, p.Memory)
	if err != nil || p.Outcome.Run == "" {
		return err
	}
	d := work.Delivery{Step: edgesStep, Needed: []runfile.Kind{records.Numbers}, Extra: []runfile.Kind{records.Nodes, records.Places}}
	return p.Deliver(d, append(runs, p.Outcome.Run))
}

// place writes the places of the nodes of each part, and of the documents of each
// split that have but one. It returns the path of the run file, ""
// if there is no pair.
func (f *placeFn) place(runs []string, total int64, m *work.Memory) (string, error) {
	run := &m.Run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	if all, err := f.blocks(runs, m); err != nil {
		return "", err
	} else if all {
		return run.Close()
	}
	graph, err := work.ReadGraph(runs, records.Nodes, m)
	if err != nil {
		return "", err
	}
	stars, err := f.readStars(runs, total, m)
	if err != nil {
		return "", err
	}
	places, _ := graph.Places(max(f.Job.PlaceBytes/8, 1))
	starOf := make([]uint32, graph.Len())
	for rank := range starOf {
		starOf[rank] = stars.star(graph.Ref(rank))
	}
	err = work.EachPart(runs, records.Nodes, m, func(shard int, nodes []byte) error {
		for ; len(nodes) > 0; nodes = nodes[records.NodeSize:] {
			b, err := run.Record(records.Places, shard, records.PlaceSize)
			if err != nil {
				return err
			}
			rank := graph.Rank(records.GetRef(nodes))
			records.PutPlace(b, places[rank], starOf[rank])
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for rank, place := range places {
		if place.Blocks > 1 {
			continue
		}
		ref := graph.Ref(rank)
		if err := records.WriteWanted(run, documents.SplitOf(f.Starts, ref), records.Want{Ref: ref, Place: int(place.First)}); err != nil {
			return "", err
		}
	}
	return run.Close()
}

// gatherFn sends the pairs of a part, or the wanted sets of a split, to their
// places.
type gatherFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *gatherFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *gatherFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, gatherStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		if t.Step == edgesStep {
			return f.sendPairs(ctx, w)
		}
		return sendSets(ctx, w)
	})
}

// sendPairs sends the pairs of a part to their places, but for those of one star, and
// says which documents of components with several places are wanted where.
func (f *gatherFn) sendPairs(ctx context.Context, w *work.Place) error {
	nodes, err := w.Read(0, records.Nodes)
	if err != nil {
		return err
	}
	places, err := w.Read(1, records.Places)
	if err != nil {
		return err
	}
	wanted := w.Pairs[:0]                        // node and place in two halves of a word
	crowded := 4 * len(nodes) / records.NodeSize // how many wanted are worth a search for repeats
	for _, piece := range w.Pieces {
		if piece.Kind != records.Numbers {
			continue
		}
		numbers, err := w.ReadPiece(2, piece)
		if err != nil {
			return err
		}
		w.Figures.Records += int64(len(numbers) / records.NumberSize)
		w.Figures.Bytes += int64(len(numbers))
		for ; len(numbers) > 0; numbers = numbers[records.NumberSize:] {
			a, b := int(binary.LittleEndian.Uint32(numbers)), int(binary.LittleEndian.Uint32(numbers[4:]))
			if star := records.GetStar(places[a*records.PlaceSize:]); star != 0 && star == records.GetStar(places[b*records.PlaceSize:]) {
				continue
			}
			place := records.GetPlace(places[a*records.PlaceSize:])
			at := place.Of(records.GetPlace(places[b*records.PlaceSize:]))
			if place.Blocks > 1 {
				wanted = append(wanted, uint64(a)<<32|uint64(at), uint64(b)<<32|uint64(at))
			}
			record, err := w.Run.Record(records.PlacePairs, at, 2*records.RefSize)
			if err != nil {
				return err
			}
			records.PutRef(record, records.GetRef(nodes[a*records.NodeSize:]))
			records.PutRef(record[records.RefSize:], records.GetRef(nodes[b*records.NodeSize:]))
		}
		if len(wanted) >= crowded {
			wanted = distinct(wanted)
			crowded = max(crowded, 2*len(wanted))
		}
	}
	w.Pairs = wanted
	for _, at := range distinct(wanted) {
		ref := records.GetRef(nodes[at>>32*records.NodeSize:])
		if err := records.WriteWanted(&w.Run, documents.SplitOf(f.Starts, ref), records.Want{Ref: ref, Place: int(uint32(at))}); err != nil {
			return err
		}
	}
	return nil
}

// distinct sorts words and drops repeats.
func distinct(words []uint64) []uint64 {
	slices.Sort(words)
	return slices.Compact(words)
}

// sendSets sends the wanted sets of a split to their places.
func sendSets(ctx context.Context, w *work.Place) error {
	packed, err := w.Read(1, records.Wanted)
	if err != nil {
		return err
	}
	wanted := records.DecodeWanted(packed)
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		if len(wanted) == 0 || wanted[0].Ref > block.Ref(block.Len()-1) {
			return nil
		}
		sets, err := w.ReadPiece(2, setsPiece)
		if err != nil {
			return err
		}
		for i := 0; i < block.Len() && len(wanted) > 0; i++ {
			size := sketchblock.HashSize * block.Stored(i)
			for ; len(wanted) > 0 && wanted[0].Ref == block.Ref(i); wanted = wanted[1:] {
				if err := records.WriteSet(&w.Run, wanted[0], block, i, sets[:size]); err != nil {
					return err
				}
			}
			sets = sets[size:]
		}
		return nil
	})
}
