package documents

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/carry/work"
)

// Pool passes items from readers through one worker for each core to a writer. The writer gets them in the
// order of reading. Items are reused. The number of items in use is limited, which bounds the memory.
type Pool[T any] struct {
	// New makes an item. End, if it is not nil, gets each item after everything is done or has failed. The
	// item may be in any state.
	New func() T
	End func(T)
	// Readers run side by side. The input ends when each of them has returned.
	Readers []Reader[T]
	// Worker makes the function that works on the items of one goroutine. Await waits until all earlier items are written. From
	// then until it returns, the function may also do what Write does.
	Worker func() (do func(ctx context.Context, one T, await func() error) error, err error)
	// Write gets the items one at a time. If there are several readers, only the items
	// of the same reader are in order.
	Write func(T) error
}

// Reader reads items for a [Pool] and calls put for each. Put waits for a free item, calls fill with it, and
// passes it on. If fill returns an error, put returns it, and the item is free again. Put also returns the
// error of the context.
type Reader[T any] func(ctx context.Context, put func(fill func(T) error) error) error

// item is an item of a pool under way.
type item[T any] struct {
	value T
	first chan struct{} // closed when all earlier items are written
	done  chan struct{} // closed when a worker is done with it
}

// Run works until all readers have ended and their items are written, or until the first error, which it returns. The
// context of the readers and workers ends then. Run also returns the CPU time of all goroutines.
func (p Pool[T]) Run(ctx context.Context) (time.Duration, error) {
	workers := work.Cores()
	r := &poolRun[T]{Pool: p, free: make(chan *item[T], workers+len(p.Readers)+1)}
	r.filled, r.ordered = make(chan *item[T], cap(r.free)), make(chan *item[T], cap(r.free))
	for range cap(r.free) {
		one := &item[T]{value: p.New()}
		if p.End != nil {
			defer p.End(one.value)
		}
		r.free <- one
	}
	group, ctx := errgroup.WithContext(ctx)
	var cpu atomic.Int64
	start := func(do func() error) {
		group.Go(func() error {
			used, err := work.Measure(do)
			cpu.Add(int64(used))
			return err
		})
	}
	var reading atomic.Int32
	reading.Store(int32(len(p.Readers)))
	for _, reader := range p.Readers {
		start(func() error {
			defer func() {
				if reading.Add(-1) == 0 {
					close(r.filled)
					close(r.ordered)
				}
			}()
			return reader(ctx, func(fill func(T) error) error { return r.put(ctx, fill) })
		})
	}
	for range workers {
		start(func() error { return r.work(ctx) })
	}
	start(func() error { return r.write(ctx) })
	err := group.Wait()
	return time.Duration(cpu.Load()), err
}

// poolRun is a pool at work. Each channel has room for all items.
type poolRun[T any] struct {
	Pool[T]
	free, filled, ordered chan *item[T]
}

func (r *poolRun[T]) put(ctx context.Context, fill func(T) error) error {
	var one *item[T]
	select {
	case one = <-r.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := fill(one.value); err != nil {
		r.free <- one
		return err
	}
	one.first, one.done = make(chan struct{}), make(chan struct{})
	r.filled <- one
	r.ordered <- one
	return nil
}

func (r *poolRun[T]) work(ctx context.Context) error {
	do, err := r.Worker()
	if err != nil {
		return err
	}
	for one := range r.filled {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		await := func() error {
			select {
			case <-one.first:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := do(ctx, one.value, await); err != nil {
			return err
		}
		close(one.done)
	}
	return nil
}

func (r *poolRun[T]) write(ctx context.Context) error {
	for one := range r.ordered {
		close(one.first)
		select {
		case <-one.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := r.Write(one.value); err != nil {
			return err
		}
		r.free <- one
	}
	return nil
}
