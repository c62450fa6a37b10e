package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/job"
)

// resumable returns the configuration of a job over many splits that keeps what it has done.
func resumable(t *testing.T) job.Config {
	t.Helper()
	folder := t.TempDir()
	for i := range 12 {
		put(t, filepath.Join(folder, string(rune('a'+i))+".jsonl"), file{"x.jsonl", synthetic(uint64(40 + i))}.content(), plain)
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
			t.Errorf("after %d notes: %d tasks are recalled, %d run; %d documents are stripped", notes, again, run, summary.Counts.CommonIn)
		}
		if len(told) == 0 || !strings.Contains(told[0], "going on") {
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
		if isTold := strings.Contains(strings.Join(told, "\n"), "beginning anew"); isTold != config.Resume {
			t.Errorf("%s: told %q", name, told)
		}
		if _, err := os.Stat(config.TempFolder()); err == nil {
			t.Errorf("%s: temporary files are left", name)
		}
		sameAsHere(t, config)
	}
}
