package pipeline

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestRepeatedRuns runs jobs one after the other in one process: after the first
// ones neither goroutines nor open files grow, and
// nothing is left in the system's temporary folder.
func TestRepeatedRuns(t *testing.T) {
	if !inChild(t) {
		return
	}
	input := putCorpus(t, plain, cut(synthetic(61), 2)...)
	system := filepath.Join(t.TempDir(), "system")
	if err := os.Mkdir(system, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", system)
	run := func(times int) {
		for range times {
			runJob(t, testConfig(t, input))
		}
	}
	run(2)
	goroutines, files := held(t, 0, 0)
	run(4)
	if g, f := held(t, goroutines, files); g > goroutines || f > files {
		all := make([]byte, 1<<20)
		t.Errorf("%d goroutines and %d open files, four jobs ago %d and %d:\n%s", g, f, goroutines, files, all[:runtime.Stack(all, true)])
	}
	if left, err := os.ReadDir(system); err != nil || len(left) > 0 {
		t.Errorf("left in the system's temporary folder: %v (%v)", left, err)
	}
}

// held returns the number of goroutines and of open files. It waits until there are no more than the given numbers or,
// at the latest, for some seconds.
func held(t *testing.T, fewGoroutines, fewFiles int) (goroutines, files int) {
	t.Helper()
	for range 100 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		open, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		if goroutines, files = runtime.NumGoroutine(), len(open); goroutines <= fewGoroutines && files <= fewFiles {
			break
		}
	}
	return goroutines, files
}
