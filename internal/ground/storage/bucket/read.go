package bucket

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"mirrorbeam/internal/ground/storage"
)

type file struct {
	store *Store
	key   Key
	name  string

	mutex  sync.Mutex
	object Object // its generation is empty until the first answer, if Reopen was not told it
}

// Open opens a file, by one request. All reads are of the generation that it meets.
func (s *Store) Open(name string) (storage.File, error) {
	key, object, err := s.stat("open", name)
	if err != nil {
		return nil, err
	}
	return &file{store: s, key: key, name: name, object: object}, nil
}

// Reopen opens a file that is already described, without a request. If its generation is not known, the first read
// finds it.
func (s *Store) Reopen(info storage.Info) (storage.File, error) {
	key, err := s.key("open", info.Name)
	if err != nil {
		return nil, err
	}
	object := Object{Name: key.Name, Size: info.Size, Generation: info.Generation}
	return &file{store: s, key: key, name: info.Name, object: object}, nil
}

// pinned returns the object.
func (f *file) pinned() Object {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.object
}

// meet fails if an answer is of another generation than earlier ones.
func (f *file) meet(generation string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.object.Generation == "" {
		f.object.Generation = generation
	}
	if f.object.Generation != generation {
		return storage.ErrChanged
	}
	return nil
}

// Stat describes the generation that was opened.
func (f *file) Stat() (storage.Info, error) { return f.store.info(f.key, f.pinned()), nil }

// Close does nothing: each stream has its own connection.
func (f *file) Close() error { return nil }

// From returns the bytes from an offset to the end.
func (f *file) From(offset int64) io.ReadCloser {
	return f.stream(context.Background(), offset, f.pinned().Size)
}

// ReadAt reads a range by one request.
func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	size := f.pinned().Size
	switch {
	case offset < 0:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fmt.Errorf("offset %d: %w", offset, fs.ErrInvalid)}
	case offset > size:
		return 0, io.EOF
	}
	inside := b[:min(int64(len(b)), size-offset)]
	stream := f.stream(context.Background(), offset, offset+int64(len(inside)))
	defer stream.Close()
	n, err := io.ReadFull(stream, inside)
	if err == nil && len(inside) < len(b) {
		err = io.EOF
	}
	return n, err
}

// ReadRanges reads several ranges by as few requests as is sensible, some of them side by side. It holds no more memory
// than the ranges themselves: what lies between them is read and dropped.
func (f *file) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		size := f.pinned().Size
		for i, r := range ranges {
			if r.Offset < 0 || r.Offset+int64(len(r.Bytes)) > size {
				yield(i, &fs.PathError{Op: "read", Path: f.name, Err: io.ErrUnexpectedEOF})
				return
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		requests, results := make(chan []int), make(chan result)
		var workers sync.WaitGroup
		plan := f.store.limits.combine(ranges)
		for range min(f.store.limits.InFlight, len(plan)) {
			workers.Go(func() {
				for request := range requests {
					f.readTogether(ctx, ranges, request, results)
				}
			})
		}
		workers.Go(func() {
			defer close(requests)
			for _, request := range plan {
				select {
				case requests <- request:
				case <-ctx.Done():
					return
				}
			}
		})
		var end sync.WaitGroup
		end.Go(func() {
			workers.Wait()
			close(results)
		})
		defer end.Wait()
		defer cancel() // a worker sends to results or sees that it is over
		for r := range results {
			if !yield(r.number, r.err) || r.err != nil {
				return
			}
		}
	}
}

// result says that a range was read, or not.
type result struct {
	number int
	err    error
}

// combine returns the numbers of the ranges of each request, by offset. The ranges of one request do not overlap: a
// caller may already use the first when the second is read.
func (l Limits) combine(ranges []storage.Range) (requests [][]int) {
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranges[a].Offset, ranges[b].Offset) })
	var from, to int64 // of the last request
	for _, i := range order {
		r := ranges[i]
		end := r.Offset + int64(len(r.Bytes))
		if last := len(requests) - 1; last >= 0 && r.Offset >= to && r.Offset-to <= l.Gap && end-from <= l.Request {
			requests[last] = append(requests[last], i)
		} else {
			requests = append(requests, []int{i})
			from = r.Offset
		}
		to = end
	}
	return requests
}

// readTogether reads ranges by one request, and sends the number of each.
func (f *file) readTogether(ctx context.Context, ranges []storage.Range, numbers []int, results chan<- result) {
	last := ranges[numbers[len(numbers)-1]]
	stream := f.stream(ctx, ranges[numbers[0]].Offset, last.Offset+int64(len(last.Bytes)))
	defer stream.Close()
	for _, i := range numbers {
		_, err := io.CopyN(io.Discard, stream, ranges[i].Offset-stream.at)
		if err == nil {
			_, err = io.ReadFull(stream, ranges[i].Bytes)
		}
		select {
		case results <- result{i, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
