package documents

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mirrorbeam.dev/internal/work"
)

// number is an item of a pool in these tests.
type number struct{ in, out int }

// numbers returns a pool of readers that read n numbers each, and of workers that double them. It appends to got what
// is written.
func numbers(readers, n int, got *[]int) Pool[*number] {
	p := Pool[*number]{
		New: func() *number { return new(number) },
		Worker: func() (func(context.Context, *number, func() error) error, error) {
			return func(_ context.Context, one *number, _ func() error) error {
				for range rand.IntN(3) {
					runtime.Gosched()
				}
				one.out = 2 * one.in
				return nil
			}, nil
		},
		Write: func(one *number) error {
			*got = append(*got, one.out)
			return nil
		},
	}
	for reader := range readers {
		p.Readers = append(p.Readers, func(_ context.Context, put func(func(*number) error) error) error {
			for i := range n {
				if err := put(func(one *number) error { *one = number{in: reader*n + i}; return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return p
}

// TestPool: every item passes once, in the order of its reader.
func TestPool(t *testing.T) {
	for _, readers := range []int{1, 3} {
		const n = 1000
		var got []int
		made, ended := 0, 0
		p := numbers(readers, n, &got)
		p.New = func() *number { made++; return new(number) }
		p.End = func(*number) { ended++ }
		if _, err := p.Run(t.Context()); err != nil || len(got) != readers*n {
			t.Fatalf("%d items (%v), want %d", len(got), err, readers*n)
		}
		if most := work.Cores() + readers + 1; made != most || ended != made {
			t.Errorf("%d items are made and %d ended, want %d", made, ended, most)
		}
		for reader := range readers {
			of := slices.DeleteFunc(slices.Clone(got), func(out int) bool { return out/2/n != reader })
			if len(of) != n || !slices.IsSorted(of) {
				t.Errorf("%d items of reader %d, sorted: %v", len(of), reader, slices.IsSorted(of))
			}
		}
	}
}

// TestPoolFails: the first error ends everything, wherever it comes from.
func TestPoolFails(t *testing.T) {
	fault := errors.New("fault")
	for name, breaks := range map[string]func(*Pool[*number]){
		"reader": func(p *Pool[*number]) {
			p.Readers = append(p.Readers, func(context.Context, func(func(*number) error) error) error { return fault })
		},
		"fill": func(p *Pool[*number]) {
			p.Readers = append(p.Readers, func(_ context.Context, put func(func(*number) error) error) error {
				return put(func(*number) error { return fault })
			})
		},
		"no worker": func(p *Pool[*number]) {
			p.Worker = func() (func(context.Context, *number, func() error) error, error) { return nil, fault }
		},
		"worker": func(p *Pool[*number]) {
			p.Worker = func() (func(context.Context, *number, func() error) error, error) {
				return func(_ context.Context, one *number, _ func() error) error {
					if one.in == 500 {
						return fault
					}
					return nil
				}, nil
			}
		},
		"write": func(p *Pool[*number]) { p.Write = func(*number) error { return fault } },
	} {
		var got []int
		var ended atomic.Int64
		p := numbers(1, 100_000, &got)
		p.End = func(*number) { ended.Add(1) }
		breaks(&p)
		if _, err := p.Run(t.Context()); !errors.Is(err, fault) || ended.Load() == 0 || len(got) == 100_000 {
			t.Errorf("%s: error %v after %d items, %d of them ended", name, err, len(got), ended.Load())
		}
	}
	p := numbers(1, 10, new([]int))
	p.Write = func(*number) error { panic("the writer of the test") }
	if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "panic: the writer of the test") {
		t.Errorf("a panic that is about no document ends as the error %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var got []int
	if _, err := numbers(1, 1<<40, &got).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestPoolFillEnds: an item that could not be filled is used again.
func TestPoolFillEnds(t *testing.T) {
	var got []int
	p := numbers(1, 10, &got)
	inner := p.Readers[0]
	p.Readers[0] = func(ctx context.Context, put func(func(*number) error) error) error {
		for range 100 {
			if err := put(func(*number) error { return io.EOF }); !errors.Is(err, io.EOF) {
				return err
			}
		}
		return inner(ctx, put)
	}
	if _, err := p.Run(t.Context()); err != nil || len(got) != 10 {
		t.Errorf("%d items (%v), want 10", len(got), err)
	}
}
