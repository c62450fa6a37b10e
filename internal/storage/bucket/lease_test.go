package bucket

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// answersLost is a service whose first answer to each write is lost.
type answersLost struct{ *memory }

func (a answersLost) Put(ctx context.Context, put Put, content []byte) (string, error) {
	generation, err := a.memory.Put(ctx, put, content)
	if err == nil {
		return "", answer(503)
	}
	return generation, err
}

func (a answersLost) Begin(_ context.Context, put Put) (Upload, error) {
	return &lostParts{parts{memory: a.memory, put: put}}, nil
}

type lostParts struct{ parts }

func (l *lostParts) Finish(ctx context.Context, crc32c uint32) error {
	if err := l.parts.Finish(ctx, crc32c); err != nil {
		return err
	}
	return answer(503)
}

// short are limits under which a lease ends soon.
func short() Limits {
	limits := quick()
	limits.Lease = 400 * time.Millisecond
	return limits
}

// take takes the lease as soon as it is free.
func take(t *testing.T, store *Store, holder string) storage.Lease {
	t.Helper()
	for {
		lease, err := store.Lease(name, holder)
		if err == nil {
			return lease
		}
		if !errors.As(err, new(*storage.HeldError)) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// down is a service that a holder no longer reaches.
func down(string) error { return answer(503) }

// TestLeaseExpires: the lease of a holder that is cut off goes to another one, and the first holder knows.
func TestLeaseExpires(t *testing.T) {
	m := newMemory()
	cut := &memory{mutex: m.mutex, objects: m.objects, content: m.content} // the same objects by another way
	first, err := New("test", cut, short()).Lease(name, "the first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New("test", m, short()).Lease(name, "the second"); !strings.Contains(err.Error(), "the first") {
		t.Errorf("a lease that is held: %v", err)
	}
	cut.set(down)
	second := take(t, New("test", m, short()), "the second")
	if err := first.Check(); err == nil {
		t.Error("a lease that was lost is held")
	}
	cut.set(nil)
	if err := first.Check(); err == nil {
		t.Error("a lease that was lost is held again")
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(second.Check(), second.Release(), second.Release()); err != nil {
		t.Errorf("the second holder: %v", err)
	}
}

// TestLeaseIsRenewed: it lasts longer than it says at first.
func TestLeaseIsRenewed(t *testing.T) {
	m := newMemory()
	store := New("test", m, short())
	lease, err := store.Lease(name, "the first")
	if err != nil {
		t.Fatal(err)
	}
	before := m.objects[key].Generation
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if object, err := m.Stat(t.Context(), key); err != nil || time.Now().After(deadline) {
			t.Fatalf("it is not renewed: %v", err)
		} else if object.Generation != before {
			break
		}
	}
	if err := errors.Join(lease.Check(), lease.Release()); err != nil {
		t.Error(err)
	}
	if _, err := store.Stat(name); err == nil {
		t.Error("the file of the lease is still there")
	}
}

// TestLeaseIsRemoved: whoever removes the file takes the lease away.
func TestLeaseIsRemoved(t *testing.T) {
	store := New("test", newMemory(), quick())
	lease, err := store.Lease(name, "the first")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(name); err != nil {
		t.Fatal(err)
	}
	if lease.Check() == nil {
		t.Error("a lease whose file was removed is held")
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// TestLeaseAnswersLost: the lease is taken, and held by the right one, though no answer arrives.
func TestLeaseAnswersLost(t *testing.T) {
	store := New("test", answersLost{newMemory()}, quick())
	lease, err := store.Lease(name, "the first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Lease(name, "the second"); !errors.As(err, new(*storage.HeldError)) {
		t.Errorf("a lease that is held: %v", err)
	}
	if err := errors.Join(lease.Check(), lease.Release()); err != nil {
		t.Error(err)
	}
}

// TestNoLease: a file that is no lease is left alone.
func TestNoLease(t *testing.T) {
	m := newMemory()
	store := New("test", m, quick())
	for _, content := range []string{"", "text", "{}", strings.Repeat("x", 100_000)} {
		w, _ := store.Create(name, storage.Options{})
		_, _ = w.Write([]byte(content))
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Lease(name, "a job"); err == nil || errors.As(err, new(*storage.HeldError)) {
			t.Errorf("%.10q becomes a lease: %v", content, err)
		}
		m.holds(t, key, content)
	}
}
