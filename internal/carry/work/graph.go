package work

import (
	"cmp"
	"slices"
	"sync"

	"mirrorbeam/internal/carry/joining"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// GraphOf returns the graph whose parts are in the run files. Its documents may take about the given bytes of memory.
func GraphOf(runs []string, kind runfile.Kind, p *Planning, bytes int64) *joining.Graph {
	var part graphs.Part // of all visits: its memory is used again
	return &joining.Graph{Bytes: bytes, Folder: string(p.Runs.Folder), Stopped: p.Run.Stopped, Parts: func(visit func(int, graphs.Part) error) error {
		return EachPart(runs, kind, p.Memory, func(number int, nodes []byte) error {
			part = records.DecodePart(part, nodes)
			return visit(number, part)
		})
	}}
}

// EachPart visits the parts of a graph in the run files, with the shard and the
// nodes of each.
func EachPart(runs []string, kind runfile.Kind, m *Memory, visit func(shard int, nodes []byte) error) error {
	return eachLoaded(runs, []runfile.Kind{kind}, m, byShard, func(l loaded) error {
		return visit(l.pieces[0].Shard, l.packed[0])
	})
}

// EachRecordOf visits the records of a kind in the runs of a stage, one section at a time.
func EachRecordOf(outcomes []Outcome, stage Stage, kind runfile.Kind, m *Memory, visit func(packed []byte) error) error {
	return eachLoaded(runsOf(outcomes, stage), []runfile.Kind{kind}, m, atOnce, func(l loaded) error {
		rest := l.packed[0]
		for _, piece := range l.pieces {
			if err := visit(rest[:piece.Length]); err != nil {
				return err
			}
			rest = rest[piece.Length:]
		}
		return nil
	})
}

// EachEdges visits the edges that a stage has written. For each part of the graph it calls part with the nodes, and
// then visit, the result, with the edges.
func EachEdges(outcomes []Outcome, stage Stage, m *Memory, part func(nodes []byte) (visit func(edges []byte))) error {
	return eachLoaded(runsOf(outcomes, stage), []runfile.Kind{records.EdgeNodes, records.Edges}, m, byShard, func(l loaded) error {
		part(l.packed[0])(l.packed[1])
		return nil
	})
}

func runsOf(outcomes []Outcome, stage Stage) (runs []string) {
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			runs = append(runs, string(o.Run))
		}
	}
	return runs
}

// atOnce and byShard say which pieces of a run file are read together: all, or the pieces of one shard.
func atOnce(pieces []runfile.Piece) [][]runfile.Piece { return [][]runfile.Piece{pieces} }

func byShard(pieces []runfile.Piece) [][]runfile.Piece {
	slices.SortStableFunc(pieces, func(a, b runfile.Piece) int { return cmp.Compare(a.Shard, b.Shard) })
	var parts [][]runfile.Piece
	for i, piece := range pieces {
		if i == 0 || piece.Shard != pieces[i-1].Shard {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], piece)
	}
	return parts
}

// RunsAhead is how many run files behind a network are read before a step comes to them: a read takes long, whatever its
// length.
const RunsAhead = 8

// loaded is what a step has read of a run file.
type loaded struct {
	pieces []runfile.Piece
	// packed holds the records of each kind that was asked for, one section behind the other.
	packed [][]byte
}

// eachLoaded reads the records of some kinds in the runs and visits them in order: the pieces together that cut says. What a visit gets
// is valid until it returns.
func eachLoaded(runs []string, kinds []runfile.Kind, m *Memory, cut func([]runfile.Piece) [][]runfile.Piece, visit func(loaded) error) error {
	window := 1
	if len(runs) > 0 && storage.Scheme(runs[0]) != "" {
		window = min(RunsAhead, len(runs))
	}
	buffers := make([][][]byte, window)
	for i := range buffers {
		buffers[i] = make([][]byte, len(kinds))
	}
	copy(buffers[0], m.Buffers[:])
	defer func() { copy(m.Buffers[:], buffers[0]) }()
	read := func(pieces []runfile.Piece, packed [][]byte) (_ loaded, err error) {
		reader := runfile.Reader{Stopped: m.Run.Stopped}
		defer reader.Close()
		for k, kind := range kinds {
			if packed[k], err = reader.ReadKind(packed[k][:0], pieces, kind); err != nil {
				break
			}
		}
		return loaded{pieces, packed}, err
	}
	type run struct {
		parts [][]runfile.Piece
		first loaded
	}
	return ahead(len(runs), window, func(i int) (r run, err error) {
		pieces, err := runfile.Pieces(runs[i])
		if err != nil {
			return r, err
		}
		pieces = slices.DeleteFunc(pieces, func(p runfile.Piece) bool { return !slices.Contains(kinds, p.Kind) })
		if len(pieces) > 0 {
			r.parts = cut(pieces)
			r.first, err = read(r.parts[0], buffers[i%window])
		}
		return r, err
	}, func(r run) error {
		for i, pieces := range r.parts {
			l := r.first
			if i > 0 {
				var err error
				if l, err = read(pieces, l.packed); err != nil {
					return err
				}
			}
			if err := visit(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// ahead loads the items from 0 to n-1 and visits them in order. It loads as many side by side as window says; an
// item is loaded after the visit of the one that is window before it. It ends with the first error, and all loads with it.
func ahead[T any](n, window int, load func(i int) (T, error), visit func(T) error) error {
	type result struct {
		item T
		err  error
	}
	results := make([]chan result, window)
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var loads sync.WaitGroup
	defer loads.Wait()
	begin := func(i int) {
		loads.Go(func() {
			item, err := load(i)
			results[i%window] <- result{item, err}
		})
	}
	for i := range min(window, n) {
		begin(i)
	}
	for i := range n {
		r := <-results[i%window]
		if r.err != nil {
			return r.err
		}
		if err := visit(r.item); err != nil {
			return err
		}
		if i+window < n {
			begin(i + window)
		}
	}
	return nil
}
