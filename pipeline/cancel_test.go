package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/job"
)

// cancelAt returns a context that ends once a number of files match a pattern.
func cancelAt(t *testing.T, pattern string, files int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if found, _ := filepath.Glob(pattern); len(found) >= files {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx
}

// cancelAtWork returns a context that ends once the tasks of the job have begun to write the given number of files.
func cancelAtWork(t *testing.T, config job.Config, written int) context.Context {
	// The lock, the list of inputs, and the files of the tasks.
	return cancelAt(t, filepath.Join(config.Output+".temp", "run-*", "*"), 2+written)
}

// largeCorpus makes a corpus that takes a job much longer than a look at its folder.
func largeCorpus(t *testing.T) string {
	w := newWriter(31)
	for range 3000 {
		w.add(w.set(w.text(600)))
	}
	w.families(30, 20, 100, 200)
	return putCorpus(t, plain, cut(w.lines, 4)...)
}

// inChild runs a test once more in a new process, in which no other test has left anything. It reports whether this is
// that process.
func inChild(t *testing.T) bool {
	t.Helper()
	const mark = "MIRRORBEAM_TEST_CHILD"
	if os.Getenv(mark) != "" {
		return true
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	child.Env = append(os.Environ(), mark+"=1")
	out, err := child.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestCancel ends jobs before they start and in the middle of their work. The disk is as before, and nothing of them
// goes on.
func TestCancel(t *testing.T) {
	failing(t)
	input := largeCorpus(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	run := func(ctx context.Context, config job.Config) {
		t.Helper()
		if _, err := Run(ctx, config); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that of the context", err)
		}
		for _, folder := range []string{config.Output, config.Output + ".temp"} {
			if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
				entries, _ := os.ReadDir(folder)
				t.Errorf("%s is there: %v (%v)", filepath.Base(folder), entries, err)
			}
		}
	}
	run(ended, testConfig(t, input))
	for written := 1; written < 6; written += 2 {
		config := testConfig(t, input)
		run(cancelAtWork(t, config, written), config)
	}
	if left := goroutinesOfJobs(); len(left) > 0 {
		t.Errorf("%d goroutines of the jobs go on, such as\n%s", len(left), left[0])
	}
}

// goroutinesOfJobs waits for the goroutines that run code of a job to end and
// returns the stacks of those that do not. Tests that wait for their turn to run in parallel have begun no job.
func goroutinesOfJobs() (left []string) {
	for range 100 {
		left = nil
		all := make([]byte, 8<<20)
		for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
			isTest := strings.Contains(stack, "pipeline.TestMain") ||
				strings.Contains(stack, "pipeline.TestCancel(") || strings.Contains(stack, "testing.(*T).Parallel(")
			if strings.Contains(stack, "mirrorbeam.dev/") && !isTest {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// TestCancelKeepsEarlierResults ends a job that was to replace the results of
// another.
func TestCancelKeepsEarlierResults(t *testing.T) {
	failing(t)
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(32), 2)...))
	runJob(t, config)
	before := tree(t, config.Output)
	config.Input, config.Overwrite = []string{largeCorpus(t)}, true
	if _, err := Run(cancelAtWork(t, config, 1), config); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	after := tree(t, config.Output)
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
	checkNoLeftovers(t, config)
}

// resumable returns the configuration of a job over many splits that keeps what it has done.
func resumable(t *testing.T) job.Config {
	t.Helper()
	folder := t.TempDir()
	for i := range 12 {
		put(t, filepath.Join(folder, string(rune('a'+i))+".jsonl"),
			file{"x.jsonl", synthetic(uint64(40 + i))}.content(), plain)
	}
	config := testConfig(t, folder)
	config.Resume, config.Keys, config.Lanes, config.SourceField = true, "exact", 1, "id"
	return config
}

// die runs a job until it has left some notes, and interrupts it. It reports whether the job died before its end.
func die(t *testing.T, config job.Config, notes int) bool {
	t.Helper()
	_, err := Run(cancelAt(t, filepath.Join(config.TempFolder(), "run-*", "done-*"), notes), config)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err != nil
}

// recalled returns the numbers of tasks that a job has recalled and run.
func recalled(s Summary) (recalled, run int64) {
	for _, stage := range s.Stages {
		recalled += stage.Recalled
		run += stage.Tasks
	}
	return recalled, run
}

// TestResume: a job that died at any point goes on from there, with the same bytes, and leaves nothing.
func TestResume(t *testing.T) {
	for i, notes := range []int{1, 3, 6, 9, 13, 17, 20, 16, 30, 50} {
		config := resumable(t)
		isCounted := i > 6 // the job counts common shingles, or is behind that
		if isCounted {
			config.Common = "6"
		}
		if !die(t, config, notes) {
			t.Logf("the job has ended before %d notes", notes)
			continue
		}
		if _, err := os.Stat(filepath.Join(config.Output, "_SUCCESS")); err == nil {
			t.Fatal("a job that died has results")
		}
		var told []string
		config.Progress = func(line string) { told = append(told, line) }
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if again, run := recalled(summary); again == 0 || run == 0 || isCounted != (summary.Counts.CommonIn > 0) {
			t.Errorf("after %d notes: %d tasks are recalled, %d run; %d documents are stripped", notes, again, run,
				summary.Counts.CommonIn)
		}
		if len(told) == 0 || !strings.Contains(told[0], "continuing from") {
			t.Errorf("told: %q", told)
		}
		if _, err := os.Stat(config.TempFolder()); err == nil {
			t.Error("temporary files are left")
		}
		plain := config
		plain.Resume = false
		plain.Runner = ""
		sameAsHere(t, plain)
	}
}

// TestResumeOutdated: nothing of an earlier job is used if the input or the configuration has changed. Without the flag
// nothing is kept, and what was kept for this output folder is cleared away.
func TestResumeOutdated(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"input": func(c *job.Config) {
			put(t, filepath.Join(c.Input[0], "z.jsonl"), []byte(`{"id":"z","text":"a b c d e"}`+"\n"), plain)
		},
		"configuration": func(c *job.Config) { c.Threshold = 0.6 },
		"no flag":       func(c *job.Config) { c.Resume = false },
	} {
		t.Run(name, func(t *testing.T) {
			config := resumable(t)
			if !die(t, config, 5) {
				t.Fatal("the job has not died")
			}
			change(&config)
			var told []string
			config.Progress = func(line string) { told = append(told, line) }
			summary, err := Run(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := recalled(summary); again > 0 {
				t.Errorf("%s: %d tasks are recalled", name, again)
			}
			if isTold := strings.Contains(strings.Join(told, "\n"), "starting from scratch"); isTold != config.Resume {
				t.Errorf("%s: told %q", name, told)
			}
			if _, err := os.Stat(config.TempFolder()); err == nil {
				t.Errorf("%s: temporary files are left", name)
			}
			sameAsHere(t, config)
		})
	}
}
