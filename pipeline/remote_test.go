package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/engine"
)

// detached is an engine whose jobs go on in goroutines of this process, whoever waits for them.
type detached struct {
	mutex sync.Mutex
	jobs  map[string]*detachedJob
	group sync.WaitGroup

	// refuse, lose and keep are the errors of Submit, Wait and Cancel, if they are to fail.
	refuse, lose, keep error
	// hold lets a job begin when it is closed; nil: at once.
	hold chan struct{}
}

type detachedJob struct {
	end   context.CancelFunc
	ended chan struct{} // closed at the end; then the rest is set
	found metrics.Results
	err   error
}

func (d *detached) Submit(_ context.Context, p *beam.Pipeline, name string) (string, error) {
	if d.refuse != nil {
		return "", d.refuse
	}
	ctx, end := context.WithCancel(context.Background())
	j := &detachedJob{end: end, ended: make(chan struct{})}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.jobs[name] = j
	d.group.Go(func() {
		defer close(j.ended)
		if d.hold != nil {
			select {
			case <-d.hold:
			case <-ctx.Done():
				j.err = &engine.EndedError{State: "CANCELLED"}
				return
			}
		}
		result, err := beam.Run(ctx, localRunner, p)
		if err != nil {
			j.err = &engine.EndedError{State: "FAILED", Message: err.Error()}
			return
		}
		j.found = result.Metrics()
	})
	return name, nil
}

func (d *detached) job(id string) *detachedJob {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.jobs[id]
}

func (d *detached) Wait(ctx context.Context, id string, report func(engine.State)) (*metrics.Results, error) {
	report(engine.State{Name: "RUNNING"})
	if d.lose != nil {
		return nil, d.lose
	}
	j := d.job(id)
	select {
	case <-j.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &j.found, j.err
}

func (d *detached) Cancel(_ context.Context, id string) error {
	if d.keep != nil {
		return d.keep
	}
	j := d.job(id)
	j.end()
	<-j.ended
	return nil
}

// newDetached returns an engine, and a configuration for a job on it.
func newDetached(t *testing.T) (*detached, job.Config) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	setFlag(t, jobopts.Endpoint, listener.Addr().String())
	d := &detached{jobs: map[string]*detachedJob{}}
	t.Cleanup(d.group.Wait)
	config := testConfig(t,
		put(t, filepath.Join(t.TempDir(), "x.jsonl"), file{"x.jsonl", synthetic(300)}.content(), plain))
	config.Runner = "portable"
	return d, config
}

// prepared prepares a run. The caller closes it.
func prepared(t *testing.T, config job.Config) *run {
	t.Helper()
	r, err := prepare(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameAsHere checks that the results of a job are as in a run in this process.
func sameAsHere(t *testing.T, config job.Config) {
	t.Helper()
	local := config
	local.Runner, local.Output = "", filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	want := string(readOutput(t, local.Output, output.Clusters))
	got := string(readOutput(t, config.Output, output.Clusters))
	if len(want) == 0 || got != want {
		t.Errorf("%d bytes of clusters, %d in this process", len(got), len(want))
	}
}

// closed closes a run, which then has left no files in its folders.
func closed(t *testing.T, r *run) {
	t.Helper()
	r.close()
	for _, folder := range []string{r.results.Temp, r.results.Partial, r.Config.TempFolder()} {
		if _, err := os.Stat(folder); folder != "" && err == nil {
			t.Errorf("%s is left", folder)
		}
	}
}

// completed runs a job on an engine to its end.
func completed(t *testing.T, r *run, e engine.Engine) Summary {
	t.Helper()
	found, err := r.executeAll(func() (*metrics.Results, error) { return r.runOn(t.Context(), e) })
	if err != nil {
		t.Fatal(err)
	}
	summary, err := r.finish(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, r)
	return summary
}

// TestRemote: a job on an engine gives the results of this process, and its figures come from the engine.
func TestRemote(t *testing.T) {
	e, config := newDetached(t)
	var told []string
	config.Progress = func(line string) { told = append(told, line) }
	summary := completed(t, prepared(t, config), e)
	if summary.Counts.Documents == 0 || summary.Stages[1].Tasks == 0 {
		t.Errorf("%+v", summary.Counts)
	}
	sameAsHere(t, config)
	if len(told) != 2 || !strings.Contains(told[0], "portable: has taken the job runjob-") ||
		told[1] != "portable: running" {
		t.Errorf("told: %q", told)
	}
}

// TestAsync: another process finishes a job that was handed over. Until then nobody else writes to its output folder.
func TestAsync(t *testing.T) {
	e, config := newDetached(t)
	r := prepared(t, config)
	s, err := r.submit(t.Context(), e)
	if err != nil || s.ID == "" || s.Name == "" {
		t.Fatalf("%+v, %v", s, err)
	}
	r.close()
	config.Overwrite = true
	if _, err := prepare(t.Context(), config); !errors.Is(err, ErrStorage) ||
		!strings.Contains(err.Error(), "runjob finish "+config.Output) {
		t.Errorf("a second job: %v", err)
	}
	e.group.Wait() // the job reads the flags of this process, and taking up sets them
	again, found, err := takeUp(t.Context(), config.Output, nil)
	if err != nil || found != s {
		t.Fatalf("%+v, %v, want %+v", found, err, s)
	}
	summary, err := again.finishOn(t.Context(), e, found)
	if err != nil || summary.Counts.Documents == 0 {
		t.Fatalf("%+v, %v", summary.Counts, err)
	}
	closed(t, again)
	sameAsHere(t, config)
	if _, err := Finish(t.Context(), config.Output, nil, nil); !errors.Is(err, ErrUsage) ||
		!strings.Contains(err.Error(), "no job") {
		t.Errorf("a job that is finished: %v", err)
	}
}

// TestAsyncInThisProcess: a job whose workers run in this process cannot do without it.
func TestAsyncInThisProcess(t *testing.T) {
	_, config := newDetached(t)
	setFlag(t, jobopts.EnvironmentType, "LOOPBACK")
	if _, err := Submit(t.Context(), config); !errors.Is(err, failure.Usage) ||
		!strings.Contains(fmt.Sprint(err), "EXTERNAL") {
		t.Errorf("%v, want an error of usage", err)
	}
	if _, err := os.Stat(config.Output); err == nil {
		t.Error("there is an output folder")
	}
}

// TestRemoteInterrupted: an interruption cancels the job. Its files go when it has ended.
func TestRemoteInterrupted(t *testing.T) {
	e, config := newDetached(t)
	e.hold = make(chan struct{})
	ctx, interrupt := context.WithCancel(t.Context())
	config.Progress = func(line string) {
		if strings.Contains(line, "running") {
			interrupt()
		}
	}
	r := prepared(t, config)
	if _, err := r.runOn(ctx, e); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	closed(t, r)
}

// TestRemoteLost: the files of a job stay if its engine does not say that it has ended: it cannot be reached, or does
// not cancel the job. It can be finished later.
func TestRemoteLost(t *testing.T) {
	for _, isInterrupted := range []bool{false, true} {
		t.Run(fmt.Sprintf("interrupted %v", isInterrupted), func(t *testing.T) {
			e, config := newDetached(t)
			ctx, interrupt := context.WithCancel(t.Context())
			want := []string{"connection refused", "runjob finish"}
			if isInterrupted {
				e.hold = make(chan struct{})
				e.keep = errors.New("no answer")
				want = []string{"no answer", "it may still run"}
				config.Progress = func(line string) {
					if strings.Contains(line, "running") {
						interrupt()
					}
				}
			} else {
				e.lose = errors.New("connection refused")
			}
			r := prepared(t, config)
			_, err := r.runOn(ctx, e)
			r.close()
			interrupt()
			if errors.Is(err, context.Canceled) || !errors.Is(err, ErrUnavailable) ||
				!strings.Contains(err.Error(), want[0]) || !strings.Contains(err.Error(), want[1]) {
				t.Errorf("error %v", err)
			}
			if e.lose = nil; isInterrupted {
				close(e.hold)
			}
			finishLost(t, e, config)
		})
	}
}

// finishLost finishes a job that was given up.
func finishLost(t *testing.T, e *detached, config job.Config) {
	t.Helper()
	e.group.Wait() // the job reads the flags of this process, and taking up sets them
	r, s, err := takeUp(t.Context(), config.Output, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.finishOn(t.Context(), e, s); err != nil {
		t.Error(err)
	}
	closed(t, r)
	sameAsHere(t, config)
}

// TestRemoteFails: a job that fails, or that no engine takes, leaves nothing. The message of a task comes through.
func TestRemoteFails(t *testing.T) {
	e, config := newDetached(t)
	r := prepared(t, config)
	if err := os.Truncate(config.Input[0], 1000); err != nil {
		t.Fatal(err)
	}
	_, err := r.runOn(t.Context(), e)
	closed(t, r)
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("error %v", err)
	}

	e, config = newDetached(t)
	e.refuse = fmt.Errorf("quota: %w", os.ErrPermission)
	r = prepared(t, config)
	if _, err = r.runOn(t.Context(), e); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
	closed(t, r)
}

// TestSettleRemote: a job that was handed over can be cancelled, and discarded if no engine knows it.
func TestSettleRemote(t *testing.T) {
	for i, settle := range []func(*run, engine.Engine, Submission) error{
		func(r *run, e engine.Engine, s Submission) error { return r.cancelOn(t.Context(), e, s) },
		func(r *run, e engine.Engine, _ Submission) error {
			if err := r.cancelOn(t.Context(), e, Submission{}); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a job without an id: %v", err)
			}
			return r.results.Settle()
		},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e, config := newDetached(t)
			e.hold = make(chan struct{})
			r := prepared(t, config)
			s, err := r.submit(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			r.close()
			again, _, err := takeUp(t.Context(), config.Output, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := settle(again, e, s); err != nil {
				t.Error(err)
			}
			closed(t, again)
			e.job(s.ID).end()
		})
	}
}

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
		counters = append(counters, metrics.CounterResult{
			Attempted: n,
			Key:       metrics.StepKey{Step: "e1", Namespace: string(stage), Name: name},
		})
	}
	var spans []metrics.DistributionResult
	for _, span := range times {
		spans = append(spans, metrics.DistributionResult{
			Attempted: span,
			Key:       metrics.StepKey{Step: "e1", Namespace: string(stage), Name: "unix_ms"},
		})
	}
	return metrics.NewResults(counters, spans, nil, nil, nil)
}

// TestAwait: the metrics that an engine reports become the progress of the stages, with the times of the workers as
// soon as a task has ended.
func TestAwait(t *testing.T) {
	e := telling{
		told(work.Fingerprint, nil),
		told(work.Fingerprint, map[string]int64{"expected": 4}),
		told(work.Fingerprint, map[string]int64{
			"expected":      4,
			"tasks":         2,
			"recalled":      1,
			"records":       70,
			"bytes":         900,
			"written_bytes": 30,
		},
			metrics.DistributionValue{Count: 2, Min: 5000, Max: 8000}, metrics.DistributionValue{
				Count: 1,
				Min:   4000,
				Max:   6000,
			}),
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
		Stage:   work.Fingerprint,
		Tasks:   4,
		Done:    3,
		Records: 70,
		Bytes:   900,
		Written: 30,
		Begun:   time.UnixMilli(4000),
		Ended:   time.UnixMilli(8000),
	}}
	if !reflect.DeepEqual(looks[2], want) {
		t.Errorf("%+v, want %+v", looks[2], want)
	}
}

// TestStateOnEngine: incremental runs on an engine that loses workers and in this process share a state, and write what
// runs over everything write.
func TestStateOnEngine(t *testing.T) {
	e, config := newDetached(t)
	n := newIncrementalJob(t, 41)
	config.Input, config.State, config.Overwrite = []string{n.folder}, filepath.Join(t.TempDir(), "state"), true
	for run := range 4 {
		n.file(t, fmt.Sprintf("%c.jsonl", "mbza"[run]), 40)
		if run == 2 { // in this process
			local := config
			local.Runner = ""
			runJob(t, local)
			continue
		}
		r := prepared(t, config)
		r.job.Runs.Unreliable, r.job.JoinRanges = uint64(run+1), 2*run // tasks break off, and run twice
		if r.job.Parameters.Pruned != (run > 0) {
			t.Errorf("run %d: documents are left out: %t", run, r.job.Parameters.Pruned)
		}
		summary := completed(t, r, e)
		if s := summary.State; s.Generation != run+1 || s.Files.New != 1 || s.Files.Unchanged != run {
			t.Errorf("run %d: %+v", run, s)
		}
		n.checkSaved(t, summary, 40)
		whole := config
		whole.State, whole.Overwrite = "", false
		sameAsHere(t, whole)
	}
}

// TestDenseStateOnEngine: if dense groups turn up, an engine does the job once more, with all documents.
func TestDenseStateOnEngine(t *testing.T) {
	e, config := newDetached(t)
	n := newIncrementalJob(t, 43)
	config.Input, config.State, config.Overwrite = []string{n.folder}, filepath.Join(t.TempDir(), "state"), true
	taken := 0
	config.Progress = func(line string) {
		if strings.Contains(line, "has taken the job") {
			taken++
		}
	}
	for run, steps := range denseRuns[:2] {
		n.goOn(t, steps)
		summary := completed(t, prepared(t, config), e)
		if isDense := summary.Skipped.Groups > 0; isDense != (run == 1) || taken != 1+2*run {
			t.Errorf("run %d: a dense group %t, %d jobs so far", run, isDense, taken)
		}
		whole := config
		whole.State, whole.Overwrite = "", false
		sameAsHere(t, whole)
	}
}

// TestStateOfLostJob: a job whose driver dies leaves the state as it was. It is cancelled, and the next run ends as it
// would have.
func TestStateOfLostJob(t *testing.T) {
	e, config := newDetached(t)
	n := newIncrementalJob(t, 42)
	config.Input, config.State = []string{n.folder}, filepath.Join(t.TempDir(), "state")
	n.file(t, "a.jsonl", 40)
	if _, err := Submit(t.Context(), config); !errors.Is(err, failure.Usage) ||
		!strings.Contains(err.Error(), "--async") {
		t.Errorf("a job that nobody waits for: %v", err)
	}
	r := prepared(t, config)
	s, err := r.submit(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	r.close()
	e.group.Wait() // the job reads the flags of this process, and taking up sets them
	if _, err := Finish(t.Context(), config.Output, nil, nil); !errors.Is(err, failure.Usage) ||
		!strings.Contains(err.Error(), "--cancel") {
		t.Errorf("a job whose driver has died: %v", err)
	}
	again, _, err := takeUp(t.Context(), config.Output, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.cancelOn(t.Context(), e, s); err != nil {
		t.Error(err)
	}
	closed(t, again)
	if _, err := state.Read(config.State); err == nil {
		t.Error("the state has a generation")
	}
	completed(t, prepared(t, config), e)
	if _, err := state.Verify(t.Context(), config.State); err != nil {
		t.Error(err)
	}
	config.State = ""
	sameAsHere(t, config)
}
