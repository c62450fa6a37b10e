package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
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
	tasks, places := beam.ParDo2(place, &placeFn{Job: job}, together(place, groups, sketches))
	pairs := sideBySide(s.Scope("pairs"), &gatherFn{Job: job}, tasks)
	wanted := delivery{Step: documentsStep, Needed: []runfile.Kind{wantedKind}, Extra: []runfile.Kind{documentsKind, setsKind}}
	tasks = exchange(s, job, wanted, sketches, places, pairs)
	sets := sideBySide(s.Scope("sets"), &gatherFn{Job: job}, tasks)
	return beam.Flatten(s, places, pairs, sets)
}

var gatherStage = newStage("gather")

// placeFn joins the parts of the candidate graph, gives every component a place
// and makes the tasks that bring its pairs there. It puts out the tasks, and an
// outcome that names the places.
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

func (f *placeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitPlaces func([]byte)) error {
	o := outcome{Stage: gatherStage.name}
	err := gatherStage.runAlone(ctx, 0, emitTask, func(m *memory, emit func([]byte)) error {
		outcomes, counts, err := readOutcomes(elements)
		if err != nil {
			return err
		}
		releaseRuns(f.Job, outcomes, gatherStage) // those of heaps
		runs := runsBut(outcomes, gatherStage, fingerprintStage)
		if o.Run, err = f.place(runs, counts.Documents+counts.ReferenceDocuments, m); err != nil || o.Run == "" {
			return err
		}
		d := delivery{Step: edgesStep, Needed: []runfile.Kind{numbersKind}, Extra: []runfile.Kind{nodesKind, placesKind}}
		return d.deliver(f.Job.Temp, append(runs, o.Run), counts, emit)
	})
	if err != nil {
		return err
	}
	places, err := o.encode()
	if err == nil {
		emitPlaces(places)
	}
	return err
}

// place writes the places of the nodes of each part, and of the documents of each
// split that have but one. It returns the path of the run file, ""
// if there is no pair.
func (f *placeFn) place(runs []string, documents int64, m *memory) (string, error) {
	run := &m.run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	if all, err := f.blocks(runs, m); err != nil {
		return "", err
	} else if all {
		return run.Close()
	}
	graph, err := readGraph(runs, nodesKind, m)
	if err != nil {
		return "", err
	}
	stars, err := f.readStars(runs, documents, m)
	if err != nil {
		return "", err
	}
	places, _ := graph.Places(max(f.Job.PlaceBytes/8, 1))
	starOf := make([]uint32, graph.Len())
	for rank := range starOf {
		starOf[rank] = stars.star(graph.Ref(rank))
	}
	err = eachPart(runs, nodesKind, m, func(shard int, nodes []byte) error {
		for ; len(nodes) > 0; nodes = nodes[nodeSize:] {
			b, err := run.Record(placesKind, shard, placeSize)
			if err != nil {
				return err
			}
			rank := graph.Rank(getRef(nodes))
			putPlace(b, places[rank], starOf[rank])
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
		if err := writeWanted(run, splitOf(f.starts, ref), want{ref: ref, place: int(place.First)}); err != nil {
			return "", err
		}
	}
	return run.Close()
}

// want says that a document is wanted at a place. Where it is of the reference and
// stands for an equal one of the input as well, input is the first of these. If heaps are
// scored there, heap is the number of the document's.
type want struct {
	ref   docref.Ref
	place int
	input docref.Ref
	heap  uint32
}

// wantedSize is the size of a want's record.
const wantedSize = 2*refSize + 8

func writeWanted(run *runfile.Writer, split int, w want) error {
	b, err := run.Record(wantedKind, split, wantedSize)
	if err == nil {
		putRef(b, w.ref)
		putRef(b[refSize:], w.input)
		binary.LittleEndian.PutUint32(b[2*refSize:], uint32(w.place))
		binary.LittleEndian.PutUint32(b[2*refSize+4:], w.heap)
	}
	return err
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

	bundle
	layout // read in Setup
}

func (f *gatherFn) Setup() error { return f.read(f.Job.Inputs) }

func (f *gatherFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.beginRun(ctx, gatherStage, f.Job, element, func(ctx context.Context, t task, w *workplace) error {
		if t.Step == edgesStep {
			return f.sendPairs(ctx, w)
		}
		return sendSets(ctx, w)
	})
}

// sendPairs sends the pairs of a part to their places, but for those of one star, and
// says which documents of components with several places are wanted where.
func (f *gatherFn) sendPairs(ctx context.Context, w *workplace) error {
	nodes, err := w.read(0, nodesKind)
	if err != nil {
		return err
	}
	places, err := w.read(1, placesKind)
	if err != nil {
		return err
	}
	wanted := w.pairs[:0]                // node and place in two halves of a word
	crowded := 4 * len(nodes) / nodeSize // how many wanted are worth a search for repeats
	for _, piece := range w.pieces {
		if piece.Kind != numbersKind {
			continue
		}
		numbers, err := w.readPiece(2, piece)
		if err != nil {
			return err
		}
		w.figures.records += int64(len(numbers) / numberSize)
		w.figures.bytes += int64(len(numbers))
		for ; len(numbers) > 0; numbers = numbers[numberSize:] {
			a, b := int(binary.LittleEndian.Uint32(numbers)), int(binary.LittleEndian.Uint32(numbers[4:]))
			if star := getStar(places[a*placeSize:]); star != 0 && star == getStar(places[b*placeSize:]) {
				continue
			}
			place := getPlace(places[a*placeSize:])
			at := place.Of(getPlace(places[b*placeSize:]))
			if place.Blocks > 1 {
				wanted = append(wanted, uint64(a)<<32|uint64(at), uint64(b)<<32|uint64(at))
			}
			record, err := w.run.Record(placePairsKind, at, 2*refSize)
			if err != nil {
				return err
			}
			putRef(record, getRef(nodes[a*nodeSize:]))
			putRef(record[refSize:], getRef(nodes[b*nodeSize:]))
		}
		if len(wanted) >= crowded {
			wanted = distinct(wanted)
			crowded = max(crowded, 2*len(wanted))
		}
	}
	w.pairs = wanted
	for _, at := range distinct(wanted) {
		ref := getRef(nodes[at>>32*nodeSize:])
		if err := writeWanted(&w.run, splitOf(f.starts, ref), want{ref: ref, place: int(uint32(at))}); err != nil {
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
func sendSets(ctx context.Context, w *workplace) error {
	wanted, err := readWanted(w)
	if err != nil {
		return err
	}
	return w.eachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		if len(wanted) == 0 || wanted[0].ref > block.Ref(block.Len()-1) {
			return nil
		}
		sets, err := w.readPiece(2, setsPiece)
		if err != nil {
			return err
		}
		for i := 0; i < block.Len() && len(wanted) > 0; i++ {
			size := sketchblock.HashSize * block.Stored(i)
			for ; len(wanted) > 0 && wanted[0].ref == block.Ref(i); wanted = wanted[1:] {
				if err := sendSet(&w.run, wanted[0], block, i, sets[:size]); err != nil {
					return err
				}
			}
			sets = sets[size:]
		}
		return nil
	})
}

// readWanted returns what is wanted of a split, ordered by document and place, each
// once.
func readWanted(w *workplace) ([]want, error) {
	packed, err := w.read(1, wantedKind)
	if err != nil {
		return nil, err
	}
	wanted := make([]want, 0, len(packed)/wantedSize)
	for ; len(packed) > 0; packed = packed[wantedSize:] {
		wanted = append(wanted, want{
			ref: getRef(packed), input: getRef(packed[refSize:]), place: int(binary.LittleEndian.Uint32(packed[2*refSize:])),
			heap: binary.LittleEndian.Uint32(packed[2*refSize+4:]),
		})
	}
	slices.SortFunc(wanted, func(a, b want) int {
		return cmp.Or(cmp.Compare(a.ref, b.ref), cmp.Compare(a.place, b.place))
	})
	return slices.Compact(wanted), nil
}

// sendSet sends the set of document i of the block to the place where it is wanted.
func sendSet(run *runfile.Writer, wanted want, block *sketchblock.Block, i int, set []byte) error {
	b, err := run.Record(placeSetsKind, wanted.place, setHeader+len(set))
	if err == nil {
		putRef(b, block.Ref(i))
		binary.LittleEndian.PutUint32(b[8:], uint32(block.Size(i)))
		binary.LittleEndian.PutUint32(b[12:], uint32(block.Stored(i)))
		putRef(b[16:], wanted.input)
		binary.LittleEndian.PutUint32(b[24:], uint32(block.Length(i)))
		binary.LittleEndian.PutUint32(b[28:], wanted.heap)
		copy(b[setHeader:], set)
	}
	return err
}

// setHeader is the size of what stands before the hashes of a set that travels:
// ref, size, hashes stored, ref of the equal document of the input (see want), length, heap.
const setHeader = 32

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
