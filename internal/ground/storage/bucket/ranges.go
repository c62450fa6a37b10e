package bucket

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"mirrorbeam/internal/ground/storage"
)

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
