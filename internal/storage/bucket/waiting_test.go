package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// silent is a service that gets requests and never answers.
type silent struct{ *memory }

func (s silent) Stat(ctx context.Context, key Key) (Object, error) {
	_ = s.begin("stat")
	<-ctx.Done()
	return Object{}, ctx.Err()
}

func (s silent) Read(ctx context.Context, span Span) (Body, error) {
	_ = s.begin("read")
	return Body{
		ReadCloser: neverRead{ctx},
		Generation: span.Generation,
		Offset:     span.Offset,
		Length:     span.Length,
		Size:       span.Offset + span.Length,
	}, nil
}

// neverRead is a body that never arrives.
type neverRead struct{ context.Context }

func (n neverRead) Read([]byte) (int, error) {
	<-n.Done()
	return 0, n.Err()
}

func (neverRead) Close() error { return nil }

// refusing returns a service that answers 503 to all requests.
func refusing() *memory {
	m := newMemory()
	m.ask = func(string) error { return answer(503) }
	return m
}

// operations are those that may wait.
var operations = map[string]func(*Store) error{
	"stat": func(s *Store) error {
		_, err := s.Stat(name)
		return err
	},
	"list": func(s *Store) error {
		for _, err := range s.List("test://bucket/folder") {
			return err
		}
		return nil
	},
	"read": func(s *Store) error {
		file, err := s.Reopen(storage.Info{Name: name, Size: 10, Generation: "1"})
		if err != nil {
			return err
		}
		_, err = io.ReadAll(file.From(0))
		return err
	},
	"ranges": func(s *Store) error {
		file, err := s.Reopen(storage.Info{Name: name, Size: 10, Generation: "1"})
		if err != nil {
			return err
		}
		for _, err := range file.ReadRanges([]storage.Range{{Bytes: make([]byte, 10)}}) {
			return err
		}
		return nil
	},
	"commit": func(s *Store) error {
		w, err := s.Create(name, storage.Options{})
		if err != nil {
			return err
		}
		return w.Commit()
	},
	"lease": func(s *Store) error {
		_, err := s.Lease(name, "a test")
		return err
	},
}

// TestEnd: the end of all waits ends an operation that waits, between two tries at once and for an answer a moment
// later. What comes behind it makes no request once one was not answered.
func TestEnd(t *testing.T) {
	for op, operation := range operations {
		services := map[string]Service{"refuses": refusing()}
		if op == "stat" || op == "read" || op == "ranges" {
			services["is silent"] = silent{newMemory()}
		}
		for way, service := range services {
			synctest.Test(t, func(t *testing.T) {
				limits := Usual()
				store := New("test", service, limits)
				end, cancel := context.WithCancel(t.Context())
				store.SetWaiting(storage.Waiting{End: end})
				const begins = 7 * time.Second
				time.AfterFunc(begins, cancel)
				begun := time.Now()
				err := operation(store)
				if took := time.Since(begun); !errors.Is(err, context.Canceled) || took < begins ||
					took > begins+limits.Moment {
					t.Errorf("%s of a service that %s ends after %v: %v", op, way, took, err)
				}
				begun = time.Now()
				for range 10 {
					if _, err := store.Stat(name); !errors.Is(err, context.Canceled) {
						t.Errorf("after the end of %s: %v", op, err)
					}
				}
				if took := time.Since(begun); took > limits.Moment {
					t.Errorf("%s of a service that %s: what follows takes %v", op, way, took)
				}
			})
		}
	}
}

// TestEndOfAnswering: a service that answers is asked after the end of all waits, too: to clear away.
func TestEndOfAnswering(t *testing.T) {
	m := newMemory()
	store := New("test", m, Usual())
	end, cancel := context.WithCancel(t.Context())
	cancel()
	store.SetWaiting(storage.Waiting{End: end})
	w, err := store.Create(name, storage.Options{})
	if err == nil {
		_, err = w.Write([]byte("content"))
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Error(err)
	}
	m.holds(t, key, "content")
	if err := store.Remove(name); err != nil {
		t.Error(err)
	}
	if _, err := store.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestSetPatience: the time of an operation that makes no progress is what was set.
func TestSetPatience(t *testing.T) {
	for _, patience := range []time.Duration{0, time.Second, 10 * time.Minute} {
		for way, service := range map[string]Service{"refuses": refusing(), "is silent": silent{newMemory()}} {
			synctest.Test(t, func(t *testing.T) {
				store, want := New("test", service, Usual()), 2*time.Minute
				store.SetWaiting(storage.Waiting{Patience: patience})
				if patience > 0 {
					want = patience
				}
				begun := time.Now()
				_, err := store.Stat(name)
				if took := time.Since(begun); err == nil || took < want || took > want+store.limits.Pause {
					t.Errorf("a service that %s is asked for %v, want %v: %v", way, took, want, err)
				}
			})
		}
	}
}

// busy is a service that says how long it wants to be left alone.
type busy struct{ *memory }

const leaveAlone = time.Minute

func (b busy) Judge(err error) Meaning {
	meaning := b.memory.Judge(err)
	meaning.After = leaveAlone
	return meaning
}

// TestAfter: a service is left alone for as long as it wants, but not beyond the end of patience.
func TestAfter(t *testing.T) {
	for patience, requests := range map[time.Duration]int{10 * time.Second: 2, 2*time.Minute + 30*time.Second: 4} {
		synctest.Test(t, func(t *testing.T) {
			service, asked := busy{newMemory()}, []time.Duration{}
			begun := time.Now()
			service.ask = func(string) error {
				asked = append(asked, time.Since(begun))
				return answer(503)
			}
			store := New("test", service, Usual())
			store.SetWaiting(storage.Waiting{Patience: patience})
			_, err := store.Stat(name)
			if err == nil || len(asked) != requests || asked[1] != min(leaveAlone, patience) ||
				asked[requests-1] != patience {
				t.Errorf("with patience for %v asked at %v: %v", patience, asked, err)
			}
		})
	}
}

// TestTell: somebody is told what an operation waits for, and not too often.
func TestTell(t *testing.T) {
	for way, test := range map[string]struct {
		service     Service
		err         string
		least, most int
	}{
		"refuses":   {refusing(), "the service answers 503", 8, 14},
		"is silent": {silent{newMemory()}, "", 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := New("test", test.service, Usual())
			var told []storage.Wait
			store.SetWaiting(storage.Waiting{Tell: func(w storage.Wait) { told = append(told, w) }})
			_, _ = store.Stat(name)
			if len(told) < test.least || len(told) > test.most {
				t.Errorf("of a service that %s is told %d times", way, len(told))
			}
			for _, w := range told {
				text := ""
				if w.Err != nil {
					text = w.Err.Error()
				}
				if w.Op != "stat" || w.Name != name || !strings.Contains(text, test.err) ||
					(text == "") != (test.err == "") || w.Left <= 0 || w.Left > 2*time.Minute {
					t.Errorf("a service that %s: %+v", way, w)
				}
			}
		})
	}
	quick := New("test", newMemory(), Usual())
	quick.SetWaiting(storage.Waiting{Tell: func(w storage.Wait) { t.Errorf("told of an answer: %+v", w) }})
	_, _ = quick.Stat(name)
}
