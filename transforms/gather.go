package transforms

import (
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&distinctFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&placeFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&gatherPairsFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&gatherSetsFn{})
}

// Gather brings each candidate pair and the sets of its documents to one
// place. Near-copies meet under many keys, so the pairs travel first and repeats
// are dropped; pairs form components, components are packed into places, and
// each set is sent once, to the place of its component. Most documents are in
// no pair and never travel.
//
// It takes the outcomes of Group and Fingerprint, PCollection<[]byte> each, and
// returns the outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job Job, groups, sketches beam.PCollection) []beam.PCollection {
	s = s.Scope("gather")
	pairs := exchange(s.Scope("distinct"), job, kinds{Needed: []runfile.Kind{pairsKind}}, groups)
	distinct := inLanes(s.Scope("distinct"), job, &distinctFn{Job: job}, pairs)
	places := beam.ParDo(s.Scope("place"), &placeFn{Job: job}, together(s.Scope("place"), distinct))

	parts := exchange(s.Scope("pairs"), job, kinds{Needed: []runfile.Kind{numbersKind}, Extra: []runfile.Kind{nodesKind, placesKind}}, distinct, places)
	wanted := exchange(s.Scope("sets"), job, kinds{Needed: []runfile.Kind{wantedKind}, Extra: []runfile.Kind{documentsKind, setsKind}}, places, sketches)
	return []beam.PCollection{
		inLanes(s.Scope("pairs"), job, &gatherPairsFn{Job: job}, parts),
		inLanes(s.Scope("sets"), job, &gatherSetsFn{Job: job}, wanted),
	}
}

var gatherStage = newStage("gather")

// distinctFn drops repeated pairs of a shard and joins its documents to a
// forest.
type distinctFn struct {
	Job Job
}

func (f *distinctFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	t := decodeTask(element)
	return emitOutcome(ctx, gatherStage, t.Number, emit, func(o *outcome) error {
		pieces, err := t.pieces()
		if err != nil {
			return err
		}
		run := runfile.NewWriter(f.Job.Temp, runBudget)
		defer run.Abort()
		var reader runfile.Reader
		defer reader.Close()
		var distinct candidates.Distinct
		var buffer []byte
		for _, piece := range pieces {
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return err
			}
			gatherStage.records.Inc(ctx, int64(len(buffer)/pairSize))
			gatherStage.bytes.Inc(ctx, int64(len(buffer)))
			for b := buffer; len(b) > 0; b = b[pairSize:] {
				distinct.Add(getPair(b))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		o.Counts.Candidates = int64(len(distinct.Pairs))
		part := newForest(distinct.Refs, distinct.Sizes)
		for _, pair := range distinct.Pairs {
			part.Parents.Union(uint32(pair>>32), uint32(pair))
			b, err := run.Record(numbersKind, t.Number, numberSize)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(b, pair)
		}
		if err := writePart(run, nodesKind, t.Number, part); err != nil {
			return err
		}
		o.Run, err = run.Close()
		return err
	})
}

// placeFn joins the parts of the candidate graph and gives every component a
// place.
type placeFn struct {
	Job Job

	starts []docref.Ref // of the splits, read in Setup
}

func (f *placeFn) Setup() error {
	inputs, err := readInputs(f.Job.Inputs)
	if err == nil {
		f.starts, err = inputs.splitStarts()
	}
	return err
}

func (f *placeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	return emitOutcome(ctx, gatherStage, 0, emit, func(o *outcome) error {
		outcomes, _, err := readOutcomes(elements)
		if err != nil {
			return err
		}
		graph, shards, err := readGraph(runsOf(outcomes), nodesKind)
		if err != nil {
			return err
		}
		places, _ := graph.Places(max(f.Job.PlaceBytes/8, 1))
		run := runfile.NewWriter(f.Job.Temp, runBudget)
		defer run.Abort()
		for part, ranks := range graph.Ranks {
			for _, rank := range ranks {
				b, err := run.Record(placesKind, shards[part], placeSize)
				if err != nil {
					return err
				}
				putPlace(b, places[rank])
			}
		}
		for rank, ref := range graph.Refs {
			b, err := run.Record(wantedKind, splitOf(f.starts, ref), refSize+placeSize)
			if err != nil {
				return err
			}
			putRef(b, ref)
			putPlace(b[refSize:], places[rank])
		}
		o.Run, err = run.Close()
		return err
	})
}

// readGraph joins the parts of a graph in the run files. It returns the shard of
// each part too.
func readGraph(runs []string, kind runfile.Kind) (*components.Graph, []int, error) {
	var reader runfile.Reader
	defer reader.Close()
	var parts []components.Part
	var shards []int
	for _, run := range runs {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			return nil, nil, err
		}
		packed, err := reader.ReadKind(nil, pieces, kind)
		if err != nil {
			return nil, nil, err
		}
		if len(packed) == 0 {
			continue
		}
		for _, piece := range pieces {
			if piece.Kind == kind {
				shards = append(shards, piece.Shard)
				break
			}
		}
		parts = append(parts, decodePart(packed))
	}
	return components.Join(parts), shards, nil
}

// gatherPairsFn sends the pairs of a part to their places.
type gatherPairsFn struct {
	Job Job
}

func (f *gatherPairsFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	t := decodeTask(element)
	return emitOutcome(ctx, gatherStage, t.Number, emit, func(o *outcome) error {
		pieces, err := t.pieces()
		if err != nil {
			return err
		}
		run := runfile.NewWriter(f.Job.Temp, runBudget)
		defer run.Abort()
		var reader runfile.Reader
		defer reader.Close()
		nodes, err := reader.ReadKind(nil, pieces, nodesKind)
		if err != nil {
			return err
		}
		places, err := reader.ReadKind(nil, pieces, placesKind)
		if err != nil {
			return err
		}
		numbers, err := reader.ReadKind(nil, pieces, numbersKind)
		if err != nil {
			return err
		}
		for ; len(numbers) > 0; numbers = numbers[numberSize:] {
			pair := binary.LittleEndian.Uint64(numbers)
			a, b := int(pair>>32), int(uint32(pair))
			at := getPlace(places[a*placeSize:]).Of(getPlace(places[b*placeSize:]))
			record, err := run.Record(placePairsKind, at, 2*refSize)
			if err != nil {
				return err
			}
			putRef(record, getRef(nodes[a*nodeSize:]))
			putRef(record[refSize:], getRef(nodes[b*nodeSize:]))
		}
		o.Run, err = run.Close()
		return err
	})
}

// gatherSetsFn sends the wanted sets of a split to their places.
type gatherSetsFn struct {
	Job Job
}

func (f *gatherSetsFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	t := decodeTask(element)
	return emitOutcome(ctx, gatherStage, t.Number, emit, func(o *outcome) error {
		pieces, err := t.pieces()
		if err != nil {
			return err
		}
		run := runfile.NewWriter(f.Job.Temp, runBudget)
		defer run.Abort()
		var reader runfile.Reader
		defer reader.Close()
		wanted, err := reader.ReadKind(nil, pieces, wantedKind)
		if err != nil {
			return err
		}
		err = eachBlock(ctx, &reader, pieces, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
			if len(wanted) == 0 || getRef(wanted) > block.Ref(block.Len()-1) {
				return nil
			}
			sets, err := reader.Read(nil, setsPiece)
			if err != nil {
				return err
			}
			for i := range block.Len() {
				size := sketchblock.HashSize * block.Stored(i)
				set := sets[:size]
				sets = sets[size:]
				if len(wanted) == 0 || getRef(wanted) != block.Ref(i) {
					continue
				}
				var failed error
				getPlace(wanted[refSize:]).All(func(place int) {
					b, err := run.Record(placeSetsKind, place, setHeader+size)
					if err != nil {
						failed = err
						return
					}
					putRef(b, block.Ref(i))
					binary.LittleEndian.PutUint32(b[8:], uint32(block.Size(i)))
					binary.LittleEndian.PutUint32(b[12:], uint32(block.Stored(i)))
					copy(b[setHeader:], set)
				})
				if failed != nil {
					return failed
				}
				wanted = wanted[refSize+placeSize:]
			}
			return nil
		})
		if err != nil {
			return err
		}
		o.Run, err = run.Close()
		return err
	})
}

// setHeader is the size of what stands before the hashes of a set that travels:
// ref, size, hashes stored.
const setHeader = 16

// eachBlock visits the sketch blocks of a split in order, with the piece that
// holds the sets of the block.
func eachBlock(ctx context.Context, reader *runfile.Reader, pieces []runfile.Piece, visit func(*sketchblock.Block, runfile.Piece) error) error {
	var documents, sets []runfile.Piece
	for _, piece := range pieces {
		switch piece.Kind {
		case documentsKind:
			documents = append(documents, piece)
		case setsKind:
			sets = append(sets, piece)
		}
	}
	var buffer []byte
	for i, piece := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if buffer, err = reader.Read(buffer[:0], piece); err != nil {
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
