package dataflow

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	df "google.golang.org/api/dataflow/v1b3"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/pipeline/engine"
)

// TestWait: each state and each message is reported once, and the end decides whether there is an error.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		name   string
		states []string
		want   []string // states reported
		fault  string   // in the error; empty: none
	}{
		{
			"done",
			[]string{"JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_RUNNING", "JOB_STATE_RUNNING", done},
			[]string{"PENDING", "RUNNING", "DONE"},
			"",
		},
		{
			"failed",
			[]string{"JOB_STATE_RUNNING", failed},
			[]string{"RUNNING", "FAILED"},
			"the workflow failed\na task failed",
		},
		{
			"cancelled",
			[]string{"JOB_STATE_RUNNING", "JOB_STATE_CANCELLING", cancelled},
			[]string{"RUNNING", "CANCELLING", "CANCELLED"},
			"the job ended as CANCELLED",
		},
		{"replaced", []string{replaced}, []string{"UPDATED"}, "the job ended as UPDATED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, service := start(t)
			server.Play(test.states...)
			server.Say("JOB_MESSAGE_BASIC", "workers start")
			if test.name == "failed" {
				server.Say("JOB_MESSAGE_ERROR", "a task failed")
				server.Say("JOB_MESSAGE_ERROR", "a task failed")
				server.Say("JOB_MESSAGE_ERROR", "the workflow failed")
			}
			id := submit(t, service, "nightly")
			server.Refuse(2)
			var states, said []string
			_, err := service.wait(t.Context(), id, func(state engine.State) {
				switch {
				case state.Metrics != nil:
					return
				case state.Message != "":
					said = append(said, state.Message)
					return
				}
				states = append(states, state.Name)
			})
			if !slices.Equal(states, test.want) {
				t.Errorf("states %q, want %q", states, test.want)
			}
			if len(said) == 0 || said[0] != "workers start" ||
				strings.Count(strings.Join(said, "\n"), "workers start") != 1 {
				t.Errorf("messages %q", said)
			}
			_, ended := errors.AsType[*engine.EndedError](err)
			switch {
			case test.fault == "" && err != nil:
				t.Error(err)
			case test.fault != "" && (!ended || !errors.Is(err, failure.Storage) || err.Error() != test.fault):
				t.Errorf("error %v, want %s", err, test.fault)
			}
		})
	}
}

// TestWaitInterrupted: an interruption ends the waiting, not the job.
func TestWaitInterrupted(t *testing.T) {
	server, service := start(t)
	server.Play("JOB_STATE_RUNNING")
	id := submit(t, service, "nightly")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := service.wait(ctx, id, func(engine.State) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if state := server.State(id); state != "JOB_STATE_RUNNING" {
		t.Errorf("the job is in the state %s", state)
	}
}

// TestWaitInVain: a service that stays out of order, or does not know the job, is an error in the end.
func TestWaitInVain(t *testing.T) {
	server, service := start(t)
	id := submit(t, service, "nightly")
	if _, err := service.wait(t.Context(), "another", func(engine.State) {}); !errors.Is(err, failure.Storage) ||
		!strings.Contains(err.Error(), "no such job: another") {
		t.Errorf("an unknown job: %v", err)
	}
	server.Refuse(1000)
	if _, err := service.wait(t.Context(), id, func(engine.State) {}); !errors.Is(err, failure.Unavailable) ||
		!strings.Contains(err.Error(), "busy") {
		t.Errorf("a service out of order: %v", err)
	}
}

// TestCancel: a job is at its end when Cancel returns, also if it was before.
func TestCancel(t *testing.T) {
	server, service := start(t)
	server.Play("JOB_STATE_RUNNING")
	id := submit(t, service, "nightly")
	for range 2 {
		if err := service.cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if state := server.State(id); state != cancelled {
			t.Errorf("the job is in the state %s", state)
		}
	}
	if err := service.cancel(t.Context(), "another"); err == nil {
		t.Error("a job that nobody knows was cancelled")
	}
}

// TestRun: another process, which knows no more than the job's id, can wait for a job that runs from what was staged.
func TestRun(t *testing.T) {
	server, service := start(t)
	stageSelf(t)
	server.Run()
	id := submit(t, service, "nightly")
	other, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := other.wait(t.Context(), id, func(engine.State) {})
	if err != nil {
		t.Fatal(err)
	}
	var elements int64
	for _, counter := range found.AllMetrics().Counters() {
		if counter.Key.Namespace == "look" && counter.Key.Name == "elements" {
			elements += counter.Result()
		}
	}
	if elements != 3 {
		t.Errorf("the workers counted %d elements, want 3", elements)
	}
}

// TestWaitMetrics: the counters are reported while the job runs. The answer has the shape that the service documents.
func TestWaitMetrics(t *testing.T) {
	content, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var shown df.JobMetrics
	if err := json.Unmarshal(content, &shown); err != nil {
		t.Fatal(err)
	}
	server, service := start(t)
	server.Play("JOB_STATE_RUNNING", "JOB_STATE_RUNNING", done)
	server.Count(shown.Metrics...)
	reports := 0
	if _, err := service.wait(t.Context(), submit(t, service, "nightly"), func(state engine.State) {
		if state.Metrics == nil {
			return
		}
		reports++
		found := map[string]int64{}
		for _, counter := range state.Metrics.AllMetrics().Counters() {
			found[counter.Key.Namespace+" "+counter.Key.Name] += counter.Result()
		}
		if len(found) != 2 || found["fingerprint records"] != 400 || found["fingerprint expected"] != 64 {
			t.Errorf("counters %v", found)
		}
		if spans := state.Metrics.AllMetrics().Distributions(); len(spans) != 1 || spans[0].Result().Max != 2000 {
			t.Errorf("distributions %v", spans)
		}
	}); err != nil || reports == 0 {
		t.Errorf("%d reports, %v", reports, err)
	}
}

// TestConsole: the page of a job is named if the service is Google's.
func TestConsole(t *testing.T) {
	google := &service{project: "example.com:p", region: "europe-west4", official: true}
	const want = "https://console.cloud.google.com/dataflow/jobs/europe-west4/2026-01-01_00_00_00-1?project=example.com%3Ap"
	if got := google.page("2026-01-01_00_00_00-1"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (&service{}).page("1"); got != "" {
		t.Errorf("the page of a job on another service is %s", got)
	}
}
