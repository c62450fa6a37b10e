package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// waits says how the operations of a store wait, and what became of them of late.
type waits struct {
	mutex   sync.Mutex
	waiting storage.Waiting
	told    time.Time // when somebody was told last
	givenUp bool      // a request has got no answer when the program was to end
}

func (w *waits) SetWaiting(waiting storage.Waiting) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.givenUp = w.givenUp && waiting.End == w.waiting.End
	w.waiting = waiting
}

func (w *waits) end() context.Context {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.waiting.End == nil {
		return context.Background()
	}
	return w.waiting.End
}

// cutAtEnd calls cut shortly after the end of all waits, unless stop is called before.
func (s *Store) cutAtEnd(cut func()) (stop func() bool) {
	return context.AfterFunc(s.end(), func() { time.AfterFunc(s.limits.Moment, cut) })
}

// isGivenUp reports whether no further requests are made.
func (w *waits) isGivenUp() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.givenUp
}

func (w *waits) giveUp() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.givenUp = true
}

// tell tells of an operation that waits, unless another one was told of a moment ago.
func (s *Store) tell(wait storage.Wait) {
	s.waits.mutex.Lock()
	defer s.waits.mutex.Unlock()
	if now := time.Now(); s.waiting.Tell != nil && now.Sub(s.told) >= 3*s.limits.Quiet {
		s.told = now
		s.waiting.Tell(wait)
	}
}

// set returns a limit of time, unless another one is set for the waits or the store is in a hurry.
func (s *Store) set(usual time.Duration) time.Duration {
	s.waits.mutex.Lock()
	defer s.waits.mutex.Unlock()
	limit := cmp.Or(s.waiting.Patience, usual)
	if s.hurry > 0 {
		limit = min(limit, s.hurry)
	}
	return limit
}

func (s *Store) patience() time.Duration { return s.set(s.limits.Patience) }
func (s *Store) answer() time.Duration   { return s.set(s.limits.Answer) }

// request makes a request that returns no content until it succeeds, is refused, or patience ends. Its error is a
// *fs.PathError that names the operation and the file.
func (s *Store) request(op, name string, attempt func(context.Context) error) error {
	return s.try(context.Background(), op, name, func(ctx context.Context) error {
		limit := s.answer()
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		defer s.cutAtEnd(cancel)()
		quiet := time.AfterFunc(s.limits.Quiet, func() {
			s.tell(storage.Wait{Op: op, Name: name, Left: limit - s.limits.Quiet})
		})
		defer quiet.Stop()
		err := attempt(ctx)
		if err != nil && ctx.Err() != nil {
			return transient{fmt.Errorf("no answer within %v: %w", limit, err)}
		}
		return err
	})
}

// bounded runs what clears away after a failure. Its own failure changes nothing.
func (s *Store) bounded(clear func(context.Context)) {
	if s.isGivenUp() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.answer())
	defer cancel()
	defer s.cutAtEnd(cancel)()
	clear(ctx)
}

// try is request for an attempt that bounds its own time. It ends early when the context does, or all waits.
func (s *Store) try(ctx context.Context, op, name string, attempt func(context.Context) error) error {
	begun, end := time.Now(), s.end()
	for pause := s.limits.Pause; ; pause = min(2*pause, s.limits.LongestPause) {
		if s.isGivenUp() {
			return &fs.PathError{Op: op, Path: name, Err: end.Err()}
		}
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return &fs.PathError{Op: op, Path: name, Err: ctx.Err()}
		}
		isTransient := s.again(err)
		if end.Err() != nil && (isTransient || errors.Is(err, context.Canceled)) {
			s.giveUp()
			return s.ended(op, name, err)
		}
		waited := time.Since(begun)
		left := s.patience() - waited
		if !isTransient || left <= 0 {
			return s.failure(op, name, err)
		}
		if waited+pause >= s.limits.Quiet {
			s.tell(storage.Wait{Op: op, Name: name, Err: errors.New(s.words(err)), Left: left})
		}
		// Of many who were refused together, each comes back at another time. The last try is when patience ends.
		rest := max(pause/2+rand.N(pause/2+1), s.service.Judge(err).After)
		if left <= max(pause, rest) {
			rest = left
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		case <-end.Done():
			return s.ended(op, name, err)
		}
	}
}

// ended is the error of an operation that waited when all waits ended.
func (s *Store) ended(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w (%s)", context.Canceled, s.words(err))}
}
