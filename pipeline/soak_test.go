package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestRepeatedRuns runs jobs one after the other in one process, and runs of a scheduled one. After the first ones
// neither goroutines nor open files nor memory nor the state grow, and nothing is left in the system's temporary
// folder. SOAK asks for more jobs; half as many are runs.
func TestRepeatedRuns(t *testing.T) {
	if !inChild(t) {
		return
	}
	jobs := 12
	if text := os.Getenv("SOAK"); text != "" {
		if _, err := fmt.Sscan(text, &jobs); err != nil {
			t.Fatal("SOAK", err)
		}
	}
	system := filepath.Join(t.TempDir(), "system")
	if err := os.Mkdir(system, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", system)
	input := putCorpus(t, plain, cut(synthetic(61), 2)...)
	soak(t, jobs, func(t *testing.T, _ int) string {
		runJob(t, testConfig(t, input))
		return system
	})
	n := newIncrementalJob(t, 62)
	config := testConfig(t, n.folder)
	config.State, config.Overwrite, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true, true
	soak(t, jobs/2, func(t *testing.T, run int) string {
		n.texts = n.texts[:0] // what is new is as much like the rest in every run
		for file := range 10 {
			if run == 0 || file == run%10 {
				n.file(t, fmt.Sprintf("f%d.jsonl", file), 20)
			}
		}
		runJob(t, config)
		return config.State
	})
	if left, err := os.ReadDir(system); err != nil || len(left) > 0 {
		t.Errorf("left in the system's temporary folder: %v (%v)", left, err)
	}
}

// soak does something a number of times. It compares what the process holds, and what is in the folder that the work
// names, after a third of these, ten at most, and at the end. What is in the folder may double: a state waits some runs
// before it tidies up.
func soak(t *testing.T, times int, do func(t *testing.T, i int) (folder string)) {
	t.Helper()
	var goroutines, files, size int
	var heap uint64
	for i := range times {
		folder := ""
		t.Run(fmt.Sprint(i), func(t *testing.T) { folder = do(t, i) }) // with temporary folders of its own
		if i == min(10, times/3) {
			goroutines, files = held(t, 0, 0)
			heap, size = heapInUse(), folderSize(t, folder)
		}
		if i < times-1 {
			continue
		}
		if g, f := held(t, goroutines, files); g > goroutines || f > files {
			all := make([]byte, 1<<20)
			t.Errorf("%d goroutines and %d open files, want at most %d and %d:\n%s", g, f, goroutines, files,
				all[:runtime.Stack(all, true)])
		}
		if now, most := heapInUse(), heap+heap/4+1<<20; now > most {
			t.Errorf("%d bytes of memory, want at most %d", now, most)
		}
		if now := folderSize(t, folder); now > 2*size {
			t.Errorf("%s has %d bytes, want at most %d", folder, now, 2*size)
		}
	}
}

// heapInUse returns the bytes of all objects that can be reached.
func heapInUse() uint64 {
	for range 2 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// folderSize returns the bytes of all files below a folder.
func folderSize(t *testing.T, folder string) (size int) {
	t.Helper()
	for _, content := range tree(t, folder) {
		size += len(content)
	}
	return size
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
