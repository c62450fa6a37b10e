package work

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestShared: while somebody holds a value, it is read once for all. Afterwards the collector may have it, and it is
// read again. A failure is not kept.
func TestShared(t *testing.T) {
	var shared Shared[[]byte]
	var reads atomic.Int32
	read := func(path string) (*[]byte, error) {
		reads.Add(1)
		content := []byte(path)
		return &content, nil
	}
	held := make([]*[]byte, 16)
	var group sync.WaitGroup
	for i := range held {
		group.Go(func() { held[i], _ = shared.Get("a", read) })
	}
	group.Wait()
	for _, value := range held {
		if value == nil || value != held[0] || string(*value) != "a" {
			t.Fatalf("tasks have different values: %v", held)
		}
	}
	if other, err := shared.Get("b", read); err != nil || string(*other) != "b" || reads.Load() != 2 {
		t.Errorf("%d reads of two paths (%v)", reads.Load(), err)
	}
	runtime.KeepAlive(held)
	clear(held)
	runtime.GC()
	runtime.GC()
	if again, err := shared.Get("a", read); err != nil || string(*again) != "a" || reads.Load() != 3 {
		t.Errorf("%d reads, want one more after nobody held the value (%v)", reads.Load(), err)
	}
	broken := errors.New("broken")
	if _, err := shared.Get("c", func(string) (*[]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if value, err := shared.Get("c", read); err != nil || string(*value) != "c" {
		t.Errorf("after a failure: %v", err)
	}
}
