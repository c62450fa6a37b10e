// Package bucket is a [storage.Storage] over a service of objects. Packages gcs and s3 have two. A
// [Service] makes single requests. A [Store] makes of them what package storage promises, in one way for all services:
//
//   - Names. gs://bucket/a/b is the object a/b of a bucket. No character has a meaning but the slash behind the name of
//     the bucket. Objects whose names end with a slash are marks of folders, which other tools leave; they are no files.
//   - Tries. A request that meets a fault that may pass is tried again, with pauses that grow, for [Limits.Patience].
//     If the answer to a write was lost, a token that is kept with the object tells whether it was written.
//   - Reads are of the generation that was opened. A connection that is cut, and an answer that is short, are continued
//     where they ended. A stream of a whole object ends with an error unless the bytes have the sum that the service knows.
//   - Writes. A small file is one request. A larger one is sent in parts, and seen after the last.
//   - A lease is an object with a holder and a time at which it ends; see [Store.Lease].
package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// Store is a storage over a service. It implements [storage.Reopener], [storage.ReadOnly], [storage.Waiter] and
// [storage.Spender], too.
type Store struct {
	scheme  string
	service Reader
	writes  Service // nil: nothing can be written
	limits  Limits
	hurry   time.Duration // bounds the time of an operation; 0: as long as patience lasts
	*waits
}

// Limits bound memory, requests and time. All are more than 0.
type Limits struct {
	// Put is the length in bytes of the longest file that is one request. A writer holds that much memory at most,
	// in addition to what the parts of an Upload take.
	Put int
	// Gap is the number of bytes between two ranges from which on they are two requests. Request is the length in
	// bytes from which on a request takes up no further range.
	Gap, Request int64
	// InFlight is the number of requests for ranges that are made side by side.
	InFlight int
	// Patience is how long an operation that makes no progress tries again, unless [storage.Waiting] says it. Pause is
	// the length of the first pause; each one is twice as long as the one before, up to LongestPause.
	Patience, Pause, LongestPause time.Duration
	// Answer bounds a request without content, or for a part; Stall bounds the wait of a read for its next byte.
	Answer, Stall time.Duration
	// Quiet is how long an operation waits before it is told of. Another one is told of three times as long after it.
	Quiet time.Duration
	// Moment is how long a request may take when the program is to end.
	Moment time.Duration
	// Lease is how long a lease lasts without being renewed. Clocks of machines may differ by half of it.
	Lease time.Duration
}

// Usual returns the limits that serve most.
func Usual() Limits {
	return Limits{
		Put:          8 << 20,
		Gap:          1 << 20,
		Request:      16 << 20,
		InFlight:     12,
		Patience:     2 * time.Minute,
		Pause:        100 * time.Millisecond,
		LongestPause: 10 * time.Second,
		Answer:       2 * time.Minute,
		Stall:        30 * time.Second,
		Quiet:        3 * time.Second,
		Moment:       time.Second,
		Lease:        time.Minute,
	}
}

// New returns the storage of the names that begin with a scheme, such as gs.
func New(scheme string, service Service, limits Limits) *Store {
	s := NewReadOnly(scheme, service, limits)
	s.writes = service
	return s
}

// NewReadOnly returns the read-only storage of the names that begin with a scheme, such as https.
func NewReadOnly(scheme string, service Reader, limits Limits) *Store {
	return &Store{scheme: scheme, service: service, limits: limits, waits: &waits{}}
}

// IsReadOnly reports whether nothing can be written.
func (s *Store) IsReadOnly() bool { return s.writes == nil }

func (s *Store) name(key Key) string { return s.scheme + "://" + key.Bucket + "/" + key.Name }

// folder returns the bucket of a folder, and what the names of the objects in it begin with.
func (s *Store) folder(op, name string) (Key, error) {
	rest, ours := strings.CutPrefix(name, s.scheme+"://")
	bucket, inner, _ := strings.Cut(rest, "/")
	if !ours || bucket == "" {
		return Key{}, &fs.PathError{
			Op:   op,
			Path: name,
			Err:  fmt.Errorf("this is no name: want %s://bucket/name", s.scheme),
		}
	}
	if inner != "" && !strings.HasSuffix(inner, "/") {
		inner += "/"
	}
	return Key{bucket, inner}, nil
}

// key returns the place of a file. A whole bucket, and a name that ends with a slash, are folders and no files.
func (s *Store) key(op, name string) (Key, error) {
	key, err := s.folder(op, name)
	if err != nil {
		return Key{}, err
	}
	if key.Name == "" || strings.HasSuffix(name, "/") {
		return Key{}, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("this names a folder: %w", fs.ErrNotExist)}
	}
	key.Name = strings.TrimSuffix(key.Name, "/")
	return key, nil
}

func (s *Store) target(op, name string) (Key, error) {
	if s.writes == nil {
		err := fmt.Errorf("nothing can be written there: name a folder of the disk or of a bucket: %w",
			fs.ErrPermission)
		return Key{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return s.key(op, name)
}

func (s *Store) info(key Key, object Object) storage.Info {
	return storage.Info{Name: s.name(key), Size: object.Size, Generation: object.Generation}
}

// List yields the files below a folder, page by page.
func (s *Store) List(folder string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		prefix, err := s.folder("list", folder)
		if err != nil {
			yield(storage.Info{}, err)
			return
		}
		var seen marks
		for mark, more := "", true; more; more = mark != "" {
			var page []Object
			err := s.request("list", folder, func(ctx context.Context) (err error) {
				var next string
				if page, next, err = s.service.List(ctx, prefix, mark); err == nil {
					mark = next
				}
				return err
			})
			if err == nil {
				if err = seen.add(mark, len(page)); err != nil {
					err = s.failure("list", folder, err)
				}
			}
			if err != nil {
				yield(storage.Info{}, err)
				return
			}
			for _, object := range page {
				switch {
				case strings.HasSuffix(object.Name, "/"):
					continue
				case !strings.HasPrefix(object.Name, prefix.Name):
					yield(storage.Info{},
						s.failure("list", folder,
							fmt.Errorf("the service lists %q, which is not in this folder: ask those who run it",
								object.Name)))
					return
				}
				if !yield(s.info(Key{prefix.Bucket, object.Name}, object), nil) {
					return
				}
			}
		}
	}
}

// Stat describes a file, by one request.
func (s *Store) Stat(name string) (storage.Info, error) {
	key, object, err := s.stat("stat", name)
	if err != nil {
		return storage.Info{}, err
	}
	return s.info(key, object), nil
}

func (s *Store) stat(op, name string) (key Key, object Object, err error) {
	if key, err = s.key(op, name); err != nil {
		return key, object, err
	}
	err = s.request(op, name, func(ctx context.Context) (err error) {
		object, err = s.service.Stat(ctx, key)
		return err
	})
	return key, object, err
}

// Copy copies a file within the service. The first request finds its size.
func (s *Store) Copy(from, to string) error {
	toKey, err := s.target("copy", to)
	if err != nil {
		return err
	}
	fromKey, object, err := s.stat("copy", from)
	if err != nil {
		return err
	}
	put := Put{Key: toKey, Token: cmp.Or(object.Token, rand.Text())}
	copying := s.writes.Copy(fromKey, object, put)
	for done := false; !done; {
		found, err := s.write("copy", put, func(ctx context.Context) (_ string, err error) {
			done, err = copying.Step(ctx)
			return "", err
		})
		done = done || found != "" // by its token: the answer to the last step was lost
		if err != nil {
			s.bounded(copying.Abort)
			return err
		}
	}
	return nil
}

// Remove removes a file.
func (s *Store) Remove(name string) error { return s.RemoveGeneration(name, "") }

// RemoveGeneration removes a file of this generation. A service that does not know the condition removes any.
func (s *Store) RemoveGeneration(name, generation string) error {
	key, err := s.target("remove", name)
	if err != nil {
		return err
	}
	err = s.request("remove", name, func(ctx context.Context) error { return s.writes.Remove(ctx, key, generation) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errUnmet):
		return &fs.PathError{Op: "remove", Path: name, Err: storage.ErrChanged}
	}
	return err
}

// mostEmpty is how many pages of a list in a row may be empty. A service may give some where it has removed much.
const mostEmpty = 1000

// marks sees to it that a list ends: no mark comes twice, and not all pages are empty. It remembers one mark, and
// another one after twice as many pages, so it finds a circle of any length.
type marks struct {
	kept         string
	pages, until int // since kept was chosen, and when the next one is
	empty        int // pages in a row
}

// add takes in the mark of the next page, which is empty after the last one, and the number of objects in this one.
func (m *marks) add(mark string, objects int) error {
	if m.empty++; objects > 0 {
		m.empty = 0
	}
	switch {
	case mark == "":
		return nil
	case mark == m.kept:
		return fmt.Errorf(
			"the service gives the mark %.40q of a page again, so its list never ends: ask those who run it", mark)
	case m.empty > mostEmpty:
		return fmt.Errorf(
			"%d pages in a row are empty, and the service says that there are more: ask those who run it", m.empty)
	}
	if m.pages++; m.pages > m.until {
		m.kept, m.pages, m.until = mark, 0, 2*m.until+1
	}
	return nil
}

// Meter counts the requests of a service and what they carry. The zero Meter is ready for use.
type Meter struct {
	requests      [7]atomic.Int64 // by their kinds
	read, written atomic.Int64
	answering     atomic.Int64 // nanoseconds
}

// Count counts a request.
func (m *Meter) Count(kind storage.Kind) { m.requests[kind].Add(1) }

// Send sends a request of a kind, counts it, and bounds its answer unless that is the content of an object.
func (m *Meter) Send(kind storage.Kind, request *http.Request,
	send func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	begun := time.Now()
	m.Count(kind)
	answer, err := send(request)
	if kind == storage.Reading {
		m.answering.Add(int64(time.Since(begun)))
	}
	if err != nil || kind == storage.Reading && answer.StatusCode < http.StatusMultipleChoices {
		return answer, err
	}
	return Bound(answer), nil
}

// TakeSpent returns what was spent since it was called last.
func (s *Store) TakeSpent() (spent storage.Spent) {
	meter := s.service.Meter()
	for kind := range meter.requests {
		spent.Requests[kind] = meter.requests[kind].Swap(0)
	}
	spent.WrittenBytes = meter.written.Swap(0)
	if s.IsReadOnly() { // a server that asks for no money
		spent.FetchedBytes = meter.read.Swap(0)
	} else {
		spent.ReadBytes = meter.read.Swap(0)
	}
	spent.Answering = time.Duration(meter.answering.Swap(0))
	return spent
}
