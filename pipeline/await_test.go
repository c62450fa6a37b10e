package pipeline

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/job"
	"mirrorbeam/pipeline/engine"
)

// telling is an engine that reports metrics while a job runs.
type telling []*metrics.Results

func (e telling) Submit(context.Context, *beam.Pipeline, string) (string, error) { return "id", nil }

func (e telling) Wait(_ context.Context, _ string, report func(engine.State)) (*metrics.Results, error) {
	for _, found := range e[:len(e)-1] {
		report(engine.State{Metrics: found})
		report(engine.State{Name: "RUNNING"})
	}
	return e[len(e)-1], nil
}

func (e telling) Cancel(context.Context, string) error { return nil }

// told makes metrics of a stage: the numbers by name, and the times of its tasks.
func told(stage work.Stage, counts map[string]int64, times ...metrics.DistributionValue) *metrics.Results {
	var counters []metrics.CounterResult
	for name, n := range counts {
		counters = append(counters, metrics.CounterResult{Attempted: n, Key: metrics.StepKey{Step: "e1", Namespace: string(stage), Name: name}})
	}
	var spans []metrics.DistributionResult
	for _, span := range times {
		spans = append(spans, metrics.DistributionResult{Attempted: span, Key: metrics.StepKey{Step: "e1", Namespace: string(stage), Name: "unix_ms"}})
	}
	return metrics.NewResults(counters, spans, nil, nil, nil)
}

// TestAwait: the metrics that an engine reports become the progress of the stages, with the times of the workers as soon
// as a task has ended.
func TestAwait(t *testing.T) {
	e := telling{
		told(work.Fingerprint, nil),
		told(work.Fingerprint, map[string]int64{"expected": 4}),
		told(work.Fingerprint, map[string]int64{"expected": 4, "tasks": 2, "recalled": 1, "records": 70, "bytes": 900, "written_bytes": 30},
			metrics.DistributionValue{Count: 2, Min: 5000, Max: 8000}, metrics.DistributionValue{Count: 1, Min: 4000, Max: 6000}),
	}
	var looks [][]work.StageProgress
	var stages func() []work.StageProgress
	ended := false
	r := &run{settings: settings{Config: job.Default()}}
	r.Config.Monitor = func(s func() []work.StageProgress) func() {
		stages = s
		return func() { looks, ended = append(looks, s()), true }
	}
	r.Config.Progress = func(string) { looks = append(looks, stages()) }
	if _, err := r.await(t.Context(), e, Submission{Runner: "flink"}); err != nil || !ended {
		t.Fatalf("%v, ended: %v", err, ended)
	}
	if len(looks) != 3 || len(looks[0]) != 0 || len(looks[1]) != 1 {
		t.Fatalf("%v", looks)
	}
	if begun := looks[1][0]; begun.Tasks != 4 || begun.Done != 0 || time.Since(begun.Begun) > time.Hour {
		t.Errorf("no task has ended: %+v", begun)
	}
	want := []work.StageProgress{{
		Stage: work.Fingerprint, Tasks: 4, Done: 3, Records: 70, Bytes: 900, Written: 30, Begun: time.UnixMilli(4000), Ended: time.UnixMilli(8000),
	}}
	if !reflect.DeepEqual(looks[2], want) {
		t.Errorf("%+v, want %+v", looks[2], want)
	}
}
