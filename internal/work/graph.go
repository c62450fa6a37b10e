package work

import (
	"cmp"
	"slices"
	"sync"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
)

// GraphOf returns the graph whose parts are in the run files. Its documents may take about the given bytes of memory.
// The indexes of the run files are read once, when the parts are visited first.
func GraphOf(runs []string, kind runfile.Kind, p *Planning, bytes int64) *joining.Graph {
	var part graphs.Part // of all visits: its memory is used again
	parts := sync.OnceValues(func() ([]together, error) { return listTogether(runs, []runfile.Kind{kind}, byShard) })
	return &joining.Graph{
		Bytes:   bytes,
		Folder:  string(p.Runs.Folder),
		Stopped: p.Run.Stopped,
		Parts: func(visit func(int, graphs.Part) error) error {
			all, err := parts()
			if err != nil {
				return err
			}
			return eachTogether(all, []runfile.Kind{kind}, p.Memory, bytes/aheadDivide, func(l loaded) error {
				part = records.DecodePart(part, l.packed[0])
				return visit(l.pieces[0].Shard, part)
			})
		},
	}
}

// EachPart visits the parts of a graph in the run files, with the shard and the nodes of each.
func EachPart(runs []string, kind runfile.Kind, m *Memory, visit func(shard int, nodes []byte) error) error {
	return eachLoaded(runs, []runfile.Kind{kind}, m, byShard, func(l loaded) error {
		return visit(l.pieces[0].Shard, l.packed[0])
	})
}

// EachPiece visits the pieces of a kind that a task gets, in order. Behind a network it reads ahead.
func (w *TaskContext) EachPiece(kind runfile.Kind, visit func(packed []byte) error) error {
	var all []together
	for piece := range kind.Of(w.Pieces) {
		all = append(all, together{piece})
	}
	return eachTogether(all, []runfile.Kind{kind}, w.Memory, aheadBytes, func(l loaded) error {
		w.Reader.Pieces++
		w.Reader.Bytes += int64(len(l.packed[0]))
		return visit(l.packed[0])
	})
}

// EachRecordOf visits the records of a kind in the runs of a stage, one section at a time.
func EachRecordOf(outcomes []Outcome, stage Stage, kind runfile.Kind, m *Memory,
	visit func(packed []byte) error,
) error {
	return eachLoaded(RunsIn(outcomes, stage), []runfile.Kind{kind}, m, atOnce, func(l loaded) error {
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
	return eachLoaded(RunsIn(outcomes, stage), []runfile.Kind{records.EdgeNodes, records.Edges}, m, byShard,
		func(l loaded) error {
			part(l.packed[0])(l.packed[1])
			return nil
		})
}

// RunsIn returns the run files of a stage.
func RunsIn(outcomes []Outcome, stage Stage) (runs []string) {
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			runs = append(runs, string(o.Run))
		}
	}
	return runs
}

type together []runfile.Piece

// atOnce and byShard say which pieces of a run file are read together: all, or the pieces of one shard.
func atOnce(pieces []runfile.Piece) []together { return []together{pieces} }

func byShard(pieces []runfile.Piece) []together {
	slices.SortStableFunc(pieces, func(a, b runfile.Piece) int { return cmp.Compare(a.Shard, b.Shard) })
	var parts []together
	for i, piece := range pieces {
		if i == 0 || piece.Shard != pieces[i-1].Shard {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], piece)
	}
	return parts
}

func (t together) bytes() (sum int64) {
	for _, piece := range t {
		sum += piece.Length
	}
	return sum
}

const (
	// ReadsAhead files behind a network are read before a step comes to them: a short read takes as long.
	ReadsAhead = 64
	// aheadBytes bounds what is read ahead of a step; for parts of a graph, a share of the graph's memory.
	aheadBytes  = 16 << 20
	aheadDivide = 8
)

// windowOf returns how many items are read side by side if together they may take some bytes, and the longest one takes
// as many as longest says. On the local disk that is one.
func windowOf(isFar bool, items int, longest, bytes int64) int {
	if !isFar {
		return 1
	}
	return max(int(min(ReadsAhead, int64(items), bytes/max(longest, 1))), 1)
}

type loaded struct {
	pieces together
	// packed holds the records of each kind that was asked for, one section behind the other.
	packed [][]byte
}

// eachLoaded reads the records of some kinds in the runs and visits them in order: the pieces together that cut says.
// What a visit gets is valid until it returns.
func eachLoaded(runs []string, kinds []runfile.Kind, m *Memory, cut func([]runfile.Piece) []together,
	visit func(loaded) error,
) error {
	all, err := listTogether(runs, kinds, cut)
	if err != nil {
		return err
	}
	return eachTogether(all, kinds, m, aheadBytes, visit)
}

func listTogether(runs []string, kinds []runfile.Kind,
	cut func([]runfile.Piece) []together,
) (all []together, err error) {
	isFar := len(runs) > 0 && storage.Scheme(runs[0]) != ""
	err = ahead(len(runs), windowOf(isFar, len(runs), 0, aheadBytes), func(i int) ([]runfile.Piece, error) {
		pieces, err := runfile.Pieces(runs[i])
		return slices.DeleteFunc(pieces, func(p runfile.Piece) bool { return !slices.Contains(kinds, p.Kind) }), err
	}, func(pieces []runfile.Piece) error {
		if len(pieces) > 0 {
			all = append(all, cut(pieces)...)
		}
		return nil
	})
	return all, err
}

// eachTogether reads what was listed and visits it in order. What is read ahead may take some bytes.
func eachTogether(all []together, kinds []runfile.Kind, m *Memory, bytes int64, visit func(loaded) error) error {
	isFar, longest := false, int64(0)
	for _, pieces := range all {
		isFar, longest = isFar || storage.Scheme(pieces[0].Path) != "", max(longest, pieces.bytes())
	}
	buffers := make([][][]byte, windowOf(isFar, len(all), longest, bytes))
	for i := range buffers {
		buffers[i] = make([][]byte, len(kinds))
	}
	copy(buffers[0], m.Buffers[:])
	defer func() { copy(m.Buffers[:], buffers[0]) }()
	return ahead(len(all), len(buffers), func(i int) (l loaded, err error) {
		reader := runfile.Reader{Stopped: m.Run.Stopped}
		defer reader.Close()
		l = loaded{all[i], buffers[i%len(buffers)]}
		for k, kind := range kinds {
			if l.packed[k], err = reader.ReadKind(l.packed[k][:0], l.pieces, kind); err != nil {
				break
			}
		}
		return l, err
	}, visit)
}

// ahead loads the items from 0 to n-1 and visits them in order. It loads as many side by side as window says; an item
// is loaded after the visit of the one that is window before it. It ends with the first error, and all loads with it.
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
