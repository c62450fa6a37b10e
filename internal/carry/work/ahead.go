package work

import (
	"sync"

	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// RunsAhead is how many run files behind a network are read before a step comes to them: a read takes long, whatever its
// length.
const RunsAhead = 8

// loaded is what a step has read of a run file.
type loaded struct {
	pieces []runfile.Piece
	// packed holds the records of each kind that was asked for, one section behind the other.
	packed [][]byte
}

// eachLoaded reads the records of some kinds in the runs and visits them in order. What a visit gets is valid until it
// returns.
func eachLoaded(runs []string, kinds []runfile.Kind, m *Memory, visit func(loaded) error) error {
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
	return ahead(len(runs), window, func(i int) (l loaded, err error) {
		reader := runfile.Reader{Stopped: m.Run.Stopped}
		defer reader.Close()
		l.packed = buffers[i%window]
		if l.pieces, err = runfile.Pieces(runs[i]); err != nil {
			return l, err
		}
		for k, kind := range kinds {
			if l.packed[k], err = reader.ReadKind(l.packed[k][:0], l.pieces, kind); err != nil {
				return l, err
			}
		}
		return l, nil
	}, visit)
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
