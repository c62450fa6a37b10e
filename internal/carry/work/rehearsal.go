package work

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// Attempt does a task, or a step between stages, from its beginning.
type Attempt func(ctx context.Context) (Done, Figures, error)

// Try makes an attempt at what has that name. If [Runs.Unreliable] is set, it first makes attempts that do not count: one
// that breaks off, one whose outcome is lost, and one at the same time as the last, or some of these.
func (r Runs) Try(ctx context.Context, name string, attempt Attempt) (done Done, figures Figures, err error) {
	if r.Unreliable == 0 {
		return attempt(ctx)
	}
	random := rand.New(rand.NewPCG(r.Unreliable, xxh3.HashString(name)))
	if random.IntN(2) == 0 {
		brittle := &brittle{Context: ctx}
		brittle.left.Store(random.Int64N(40))
		_, _, _ = attempt(brittle)
	}
	if random.IntN(3) == 0 {
		if _, _, err := attempt(ctx); err != nil {
			return done, figures, err
		}
	}
	var twins errgroup.Group
	if random.IntN(3) == 0 {
		twins.Go(func() error {
			_, _, err := attempt(ctx)
			return err
		})
	}
	done, figures, err = attempt(ctx)
	if twin := twins.Wait(); err == nil {
		err = twin
	}
	return done, figures, err
}

// brittle is a context that ends when it was asked a number of times.
type brittle struct {
	context.Context
	left atomic.Int64
}

// Err counts the question.
func (b *brittle) Err() error {
	if b.left.Add(-1) < 0 {
		return context.Canceled
	}
	return b.Context.Err()
}
