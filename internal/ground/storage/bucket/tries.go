package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"time"

	"mirrorbeam/internal/ground/storage"
)

// transient is a fault of a connection, which is worth another try whatever a Service says of it.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// spent is an error after which a Service has tried again for long enough.
type spent struct{ error }

func (s spent) Unwrap() error { return s.error }

// Spent marks an error of a Service that has made its own tries. It is not tried again, whatever Judge says of it.
func Spent(err error) error { return spent{err} }

// errUnmet is the cause of a failure for which a condition of the request is to blame.
var errUnmet = errors.New("the file is not the one that was expected")

// request makes a request that returns no content until it succeeds, is refused, or patience ends. Its error is a
// *fs.PathError that names the operation and the file.
func (s *Store) request(op, name string, attempt func(context.Context) error) error {
	return s.try(context.Background(), op, name, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, s.limits.Answer)
		defer cancel()
		err := attempt(ctx)
		if err != nil && ctx.Err() != nil {
			return transient{fmt.Errorf("no answer within %v: %w", s.limits.Answer, err)}
		}
		return err
	})
}

// bounded runs what clears away after a failure. Its own failure changes nothing.
func (s *Store) bounded(clear func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.Answer)
	defer cancel()
	clear(ctx)
}

// try is request for an attempt that bounds its own time. It ends early when the context does.
func (s *Store) try(ctx context.Context, op, name string, attempt func(context.Context) error) error {
	begun := time.Now()
	for pause := s.limits.Pause; ; pause = min(2*pause, s.limits.LongestPause) {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return &fs.PathError{Op: op, Path: name, Err: ctx.Err()}
		}
		if !s.again(err) || time.Since(begun)+pause > s.limits.Patience {
			return s.failure(op, name, err)
		}
		// Of many who were refused together, each comes back at another time.
		select {
		case <-time.After(pause/2 + rand.N(pause/2+1)):
		case <-ctx.Done():
		}
	}
}

// again reports whether an error is worth another try.
func (s *Store) again(err error) bool {
	if errors.As(err, new(spent)) || errors.Is(err, storage.ErrChanged) || errors.Is(err, storage.ErrDamaged) {
		return false
	}
	return errors.As(err, new(transient)) || s.service.Judge(err).Again
}

// refusal is an error with the words of the service and the causes by which callers know it.
type refusal struct {
	text   string
	causes []error
}

func (r refusal) Error() string   { return r.text }
func (r refusal) Unwrap() []error { return r.causes }

// failure returns the error of an operation. Only an answer of the service makes it an error of package fs: a file
// of credentials that is missing does not mean that the object is.
func (s *Store) failure(op, name string, err error) error {
	if errors.Is(err, storage.ErrChanged) || errors.Is(err, storage.ErrDamaged) {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	verdict := s.service.Judge(err)
	var told refusal
	if told.text = verdict.Text; told.text == "" {
		told.text = err.Error()
	}
	if cause := causes[verdict.Status]; cause != nil {
		told.causes = append(told.causes, cause)
		told.text = fmt.Sprintf("%v (%s)", cause, told.text)
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrExist) {
		told.causes = append(told.causes, err)
	}
	if verdict.Advice != "" {
		told.text += ": " + verdict.Advice
	}
	return &fs.PathError{Op: op, Path: name, Err: told}
}

// causes are the errors that callers look for, by status.
var causes = map[int]error{
	http.StatusNotFound:           fs.ErrNotExist,
	http.StatusUnauthorized:       fs.ErrPermission,
	http.StatusForbidden:          fs.ErrPermission,
	http.StatusPreconditionFailed: errUnmet,
}
