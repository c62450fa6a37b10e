package work

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestDrain waits for tasks while others begin, as happens after a runner has given up a pipeline. It does not return
// while an earlier task runs.
func TestDrain(t *testing.T) {
	ctx := context.Background()
	const stage = Stage("drained")
	job := Runs{Folder: "drained"}
	var running atomic.Int32
	stop := make(chan struct{})
	var runner sync.WaitGroup
	runner.Go(func() {
		for n := 0; ; n++ {
			if n%8 == 0 {
				time.Sleep(50 * time.Microsecond) // leaves times without a task
			}
			select {
			case <-stop:
				return
			default:
			}
			_, err := job.Run(ctx, stage, 1, func(*Memory) error { running.Add(1); running.Add(-1); return nil })
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 4000 {
		Drain(job.Folder)
	}
	close(stop)
	runner.Wait()
	Drain(job.Folder)
	if n := running.Load(); n != 0 {
		t.Errorf("%d tasks run", n)
	}
}

// TestTaskFaults: a task gives back what it holds, however it ends, and its error names the task.
func TestTaskFaults(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	const stage = Stage("failing")
	job := Runs{Folder: "failing"}
	for range 3 * Cores() {
		_, err := job.Run(ctx, stage, 7, func(*Memory) error { return errors.New("no luck") })
		if fault, _ := FaultOf(err); fault.Text != "failing 7: no luck" {
			t.Fatalf("fault %q", fault)
		}
	}
	// Other tasks hold all slots: a cancelled task does not wait for one.
	var held []*Memory
	for range Cores() {
		held = append(held, <-tasks.free)
	}
	cancel()
	if _, err := job.Run(ctx, stage, 8, func(*Memory) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	for _, m := range held {
		tasks.free <- m
	}
	Drain(job.Folder)
}
