package pipeline

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/settle/state"
	"mirrorbeam/internal/start/failure"
)

// TestStateOnEngine: nights on an engine that loses workers and in this process share a state, and write what runs over
// everything write.
func TestStateOnEngine(t *testing.T) {
	e, config := newDetached(t)
	n := newNight(t, 41)
	config.Input, config.State, config.Overwrite = []string{n.folder}, filepath.Join(t.TempDir(), "state"), true
	for night := range 4 {
		n.file(t, fmt.Sprintf("%c.jsonl", "mbza"[night]), 40)
		if night == 2 { // in this process
			local := config
			local.Runner = ""
			runJob(t, local)
			continue
		}
		r := prepared(t, config)
		r.job.Runs.Unreliable = uint64(night + 1) // tasks break off, and run twice
		found, err := r.runOn(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		summary, err := r.finish(t.Context(), found)
		if err != nil {
			t.Fatal(err)
		}
		r.close()
		isSwept(t, r, config)
		if s := summary.State; s.Generation != night+1 || s.Files.New != 1 || s.Files.Unchanged != night {
			t.Errorf("night %d: %+v", night, s)
		}
		n.checkSaved(t, summary, 40)
		whole := config
		whole.State, whole.Overwrite = "", false
		sameAsHere(t, whole)
	}
}

// TestStateOfLostJob: a job whose driver dies leaves the state as it was. It is cancelled, and the next run ends as it would
// have.
func TestStateOfLostJob(t *testing.T) {
	e, config := newDetached(t)
	n := newNight(t, 42)
	config.Input, config.State = []string{n.folder}, filepath.Join(t.TempDir(), "state")
	n.file(t, "a.jsonl", 40)
	if _, err := Submit(t.Context(), config); !errors.Is(err, failure.Usage) || !strings.Contains(err.Error(), "--async") {
		t.Errorf("a job that nobody waits for: %v", err)
	}
	r := prepared(t, config)
	s, err := r.submit(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	r.close()
	e.group.Wait() // the job reads the flags of this process, and taking up sets them
	if _, err := Finish(t.Context(), config.Output, nil, nil); !errors.Is(err, failure.Usage) || !strings.Contains(err.Error(), "--cancel") {
		t.Errorf("a job whose driver has died: %v", err)
	}
	again, _, err := takeUp(t.Context(), config.Output, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.cancelOn(t.Context(), e, s); err != nil {
		t.Error(err)
	}
	again.close()
	isSwept(t, again, config)
	if _, err := state.Read(config.State); err == nil {
		t.Error("the state has a generation")
	}
	r = prepared(t, config)
	found, err := r.runOn(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.finish(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	r.close()
	if _, err := state.Verify(t.Context(), config.State); err != nil {
		t.Error(err)
	}
	config.State = ""
	sameAsHere(t, config)
}
