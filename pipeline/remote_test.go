package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/pipeline/engine"
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
	config := testConfig(t, put(t, filepath.Join(t.TempDir(), "x.jsonl"), file{"x.jsonl", synthetic(300)}.content(), plain))
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
	want, got := read(t, local.Output, "clusters"), read(t, config.Output, "clusters")
	if len(want) == 0 || got != want {
		t.Errorf("%d bytes of clusters, %d in this process", len(got), len(want))
	}
}

// read returns the content of all files of an output.
func read(t *testing.T, folder, output string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, output+"-*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

// isSwept checks that a run has left no files in its folders.
func isSwept(t *testing.T, r *run, config job.Config) {
	t.Helper()
	for _, folder := range []string{r.results.Temp, r.results.Partial, config.TempFolder()} {
		if _, err := os.Stat(folder); folder != "" && err == nil {
			t.Errorf("%s is left", folder)
		}
	}
}

// TestRemote: a job on an engine gives the results of this process, and its figures come from the engine.
func TestRemote(t *testing.T) {
	e, config := newDetached(t)
	var told []string
	config.Progress = func(line string) { told = append(told, line) }
	r := prepared(t, config)
	found, err := r.runOn(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := r.finish(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Counts.Documents == 0 || summary.Stages[1].Tasks == 0 {
		t.Errorf("%+v", summary.Counts)
	}
	r.close()
	isSwept(t, r, config)
	sameAsHere(t, config)
	if len(told) != 2 || !strings.Contains(told[0], "portable: has taken the job runjob-") || told[1] != "portable: running" {
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
	if _, err := prepare(t.Context(), config); !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "runjob finish "+config.Output) {
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
	again.close()
	isSwept(t, again, config)
	sameAsHere(t, config)
	if _, err := Finish(t.Context(), config.Output, nil, nil); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "no job") {
		t.Errorf("a job that is finished: %v", err)
	}
}

// TestAsyncInThisProcess: a job whose workers run in this process cannot do without it.
func TestAsyncInThisProcess(t *testing.T) {
	_, config := newDetached(t)
	setFlag(t, jobopts.EnvironmentType, "LOOPBACK")
	if _, err := Submit(t.Context(), config); !errors.Is(err, failure.Usage) || !strings.Contains(fmt.Sprint(err), "EXTERNAL") {
		t.Errorf("%v, want an error of usage", err)
	}
	if _, err := os.Stat(config.Output); err == nil {
		t.Error("there is an output folder")
	}
}

// TestRemoteInterrupted: an interruption cancels the job. Its files go when it has ended, and stay if nobody knows.
func TestRemoteInterrupted(t *testing.T) {
	for _, keep := range []error{nil, errors.New("no answer")} {
		e, config := newDetached(t)
		e.hold, e.keep = make(chan struct{}), keep
		ctx, interrupt := context.WithCancel(t.Context())
		config.Progress = func(line string) {
			if strings.Contains(line, "running") {
				interrupt()
			}
		}
		r := prepared(t, config)
		_, err := r.runOn(ctx, e)
		r.close()
		if keep == nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			isSwept(t, r, config)
			continue
		}
		if errors.Is(err, context.Canceled) || !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "it may go on") {
			t.Errorf("error %v", err)
		}
		close(e.hold)
		finishLost(t, e, config)
	}
}

// TestRemoteLost: the files of a job stay if its engine cannot be reached. The job can be finished later.
func TestRemoteLost(t *testing.T) {
	e, config := newDetached(t)
	e.lose = errors.New("connection refused")
	r := prepared(t, config)
	_, err := r.runOn(t.Context(), e)
	r.close()
	if !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "runjob finish") {
		t.Errorf("error %v", err)
	}
	e.lose = nil
	finishLost(t, e, config)
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
	r.close()
	isSwept(t, r, config)
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
	r.close()
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("error %v", err)
	}
	isSwept(t, r, config)

	e, config = newDetached(t)
	e.refuse = fmt.Errorf("quota: %w", os.ErrPermission)
	r = prepared(t, config)
	if _, err = r.runOn(t.Context(), e); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
	r.close()
	isSwept(t, r, config)
}

// TestSettleRemote: a job that was handed over can be cancelled, and discarded if no engine knows it.
func TestSettleRemote(t *testing.T) {
	for _, settle := range []func(*run, engine.Engine, Submission) error{
		func(r *run, e engine.Engine, s Submission) error { return r.cancelOn(t.Context(), e, s) },
		func(r *run, e engine.Engine, _ Submission) error {
			if err := r.cancelOn(t.Context(), e, Submission{}); !errors.Is(err, ErrStorage) {
				t.Errorf("a job without an id: %v", err)
			}
			return r.results.Settle()
		},
	} {
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
		again.close()
		isSwept(t, again, config)
		e.job(s.ID).end()
	}
}
