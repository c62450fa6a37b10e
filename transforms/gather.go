package transforms

import (
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&placeFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&gatherFn{})
}

// Gather brings each candidate pair and the sets of its documents to one
// place. Near-copies meet under many keys, so the pairs come first: they form
// components, components are packed into places, and each set is sent once, to
// the place of its component. Most documents are in no pair and never travel.
//
// It takes the outcomes of Group and Fingerprint, PCollection<[]byte> each, and
// returns one of outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job Job, groups, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("gather")
	if job.Keys == All {
		return gatherBlocks(s, job, groups, sketches)
	}
	tasks := beam.ParDo(s.Scope("place"), &placeFn{Job: job}, together(s.Scope("place"), groups, sketches))
	return inLanes(s, job, &gatherFn{Job: job}, tasks)
}

var gatherStage = newStage("gather")

// placeFn joins the parts of the candidate graph, gives every component a place
// and makes the tasks that bring its pairs and sets there.
type placeFn struct {
	Job Job

	layout // read in Setup
}

func (f *placeFn) Setup() error { return f.read(f.Job.Inputs) }

// The steps of gatherFn and of clusterFn.
const (
	edgesStep = iota
	documentsStep
)

func (f *placeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	return gatherStage.run(ctx, 0, func(m *memory) error {
		outcomes, counts, err := readOutcomes(elements)
		if err != nil {
			return err
		}
		runs := runsOf(outcomes)
		places, err := f.place(runs, m)
		if err != nil || places == "" {
			return err
		}
		runs = append(runs, places)
		for _, d := range []delivery{
			{Step: edgesStep, Needed: []runfile.Kind{numbersKind}, Extra: []runfile.Kind{nodesKind, placesKind}},
			{Step: documentsStep, Needed: []runfile.Kind{wantedKind}, Extra: []runfile.Kind{documentsKind, setsKind}},
		} {
			if err := d.deliver(f.Job.Temp, f.Job.Lanes, runs, counts, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

// place writes the places of the nodes of each part and of the documents of each
// split. It returns the path of the run file, "" if there is no pair.
func (f *placeFn) place(runs []string, m *memory) (string, error) {
	graph, err := readGraph(runs, nodesKind, m)
	if err != nil {
		return "", err
	}
	places, _ := graph.Places(max(f.Job.PlaceBytes/8, 1))
	run := &m.run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	err = eachPart(runs, nodesKind, m, func(shard int, nodes []byte) error {
		for ; len(nodes) > 0; nodes = nodes[nodeSize:] {
			b, err := run.Record(placesKind, shard, placeSize)
			if err != nil {
				return err
			}
			putPlace(b, places[graph.Rank(getRef(nodes))])
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for rank, place := range places {
		ref := graph.Ref(rank)
		b, err := run.Record(wantedKind, splitOf(f.starts, ref), refSize+placeSize)
		if err != nil {
			return "", err
		}
		putRef(b, ref)
		putPlace(b[refSize:], place)
	}
	return run.Close()
}

// readGraph joins the parts of a graph in the run files.
func readGraph(runs []string, kind runfile.Kind, m *memory) (*components.Graph, error) {
	var graph components.Graph
	var part components.Part
	err := eachPart(runs, kind, m, func(_ int, nodes []byte) error {
		part = decodePart(part, nodes)
		graph.Add(part)
		return nil
	})
	graph.Finish()
	return &graph, err
}

// eachPart visits the parts of a graph in the run files, with the shard and the
// nodes of each.
func eachPart(runs []string, kind runfile.Kind, m *memory, visit func(shard int, nodes []byte) error) error {
	var reader runfile.Reader
	defer reader.Close()
	for _, run := range runs {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			return err
		}
		if m.buffers[0], err = reader.ReadKind(m.buffers[0][:0], pieces, kind); err != nil {
			return err
		}
		for _, piece := range pieces {
			// A run holds at most one part.
			if piece.Kind == kind {
				if err := visit(piece.Shard, m.buffers[0]); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// gatherFn sends the pairs of a part, or the wanted sets of a split, to their
// places.
type gatherFn struct {
	Job Job
}

func (f *gatherFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	return emitRun(ctx, gatherStage, f.Job, element, emit, func(t task, w *workplace) error {
		if t.Step == edgesStep {
			return sendPairs(ctx, w)
		}
		return sendSets(ctx, w)
	})
}

// sendPairs sends the pairs of a part to their places.
func sendPairs(ctx context.Context, w *workplace) error {
	nodes, err := w.read(0, nodesKind)
	if err != nil {
		return err
	}
	places, err := w.read(1, placesKind)
	if err != nil {
		return err
	}
	numbers, err := w.read(2, numbersKind)
	if err != nil {
		return err
	}
	gatherStage.records.Inc(ctx, int64(len(numbers)/numberSize))
	gatherStage.bytes.Inc(ctx, int64(len(numbers)))
	for ; len(numbers) > 0; numbers = numbers[numberSize:] {
		a, b := int(binary.LittleEndian.Uint32(numbers)), int(binary.LittleEndian.Uint32(numbers[4:]))
		at := getPlace(places[a*placeSize:]).Of(getPlace(places[b*placeSize:]))
		record, err := w.run.Record(placePairsKind, at, 2*refSize)
		if err != nil {
			return err
		}
		putRef(record, getRef(nodes[a*nodeSize:]))
		putRef(record[refSize:], getRef(nodes[b*nodeSize:]))
	}
	return nil
}

// sendSets sends the wanted sets of a split to their places.
func sendSets(ctx context.Context, w *workplace) error {
	wanted, err := w.read(1, wantedKind)
	if err != nil {
		return err
	}
	return w.eachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		if len(wanted) == 0 || getRef(wanted) > block.Ref(block.Len()-1) {
			return nil
		}
		sets, err := w.readPiece(2, setsPiece)
		if err != nil {
			return err
		}
		for i := 0; i < block.Len() && len(wanted) > 0; i++ {
			size := sketchblock.HashSize * block.Stored(i)
			if getRef(wanted) == block.Ref(i) {
				if err := sendSet(&w.run, getPlace(wanted[refSize:]), block, i, sets[:size]); err != nil {
					return err
				}
				wanted = wanted[refSize+placeSize:]
			}
			sets = sets[size:]
		}
		return nil
	})
}

// sendSet sends the set of document i of the block to all its places.
func sendSet(run *runfile.Writer, at components.Place, block *sketchblock.Block, i int, set []byte) (failed error) {
	at.All(func(place int) {
		b, err := run.Record(placeSetsKind, place, setHeader+len(set))
		if err != nil {
			failed = err
			return
		}
		putRef(b, block.Ref(i))
		binary.LittleEndian.PutUint32(b[8:], uint32(block.Size(i)))
		binary.LittleEndian.PutUint32(b[12:], uint32(block.Stored(i)))
		copy(b[setHeader:], set)
	})
	return failed
}

// setHeader is the size of what stands before the hashes of a set that travels:
// ref, size, hashes stored.
const setHeader = 16

// eachBlock visits the sketch blocks of a split in order, with the piece that
// holds the sets of the block. The block lies in the first buffer.
func (w *workplace) eachBlock(ctx context.Context, visit func(*sketchblock.Block, runfile.Piece) error) error {
	var documents, sets []runfile.Piece
	for _, piece := range w.pieces {
		switch piece.Kind {
		case documentsKind:
			documents = append(documents, piece)
		case setsKind:
			sets = append(sets, piece)
		}
	}
	for i, piece := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		buffer, err := w.readPiece(0, piece)
		if err != nil {
			return err
		}
		block, err := sketchblock.Parse(buffer)
		if err != nil {
			return err
		}
		var setsPiece runfile.Piece
		if i < len(sets) {
			setsPiece = sets[i]
		}
		if err := visit(&block, setsPiece); err != nil {
			return err
		}
	}
	return nil
}
