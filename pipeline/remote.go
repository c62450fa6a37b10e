package pipeline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/engine"
	"mirrorbeam.dev/transforms"
)

// Submission is a job in the hands of an engine, such as a Flink cluster.
type Submission struct {
	// Runner is the Beam runner that took the job. Name is the name of the job there, ID the id that the engine gave
	// it; empty if the process that submitted the job died meanwhile.
	Runner string `json:"runner"`
	Name   string `json:"name"`
	ID     string `json:"id"`
}

// handedOver is what the next process needs to finish a run.
type handedOver struct {
	Submission
	// Beam holds the flags of Beam with which the engine is reached.
	Beam map[string]string `json:"beam"`
	Run  *run              `json:"run"`
}

// Submit hands the job to the engine of its runner and does not wait for its end. [Finish] publishes the results.
func Submit(ctx context.Context, config job.Config) (Submission, error) {
	if !job.IsLocal(config.Runner) && jobopts.IsLoopback() {
		return Submission{}, failure.Errorf(failure.Usage,
			"--async: with --environment_type LOOPBACK the workers run in this process, "+
				"which must wait for them; leave --async out, or start 'runjob worker-pool' and give "+
				"--environment_type EXTERNAL")
	}
	if job.IsLocal(config.Runner) {
		return Submission{}, failure.Errorf(failure.Usage,
			"--async: the local runner works in this process, which must wait for it; leave --async out, "+
				"or name the runner of a cluster with --runner")
	}
	if config.State != "" {
		return Submission{}, failure.New(failure.Usage,
			setting.Errorf(
				"--async, or a Flex Template: with a {state} this process must wait for the end of the job, "+
					"since it holds the lease of the state and writes it; leave one of the two out"))
	}
	r, err := prepare(ctx, config)
	if err != nil {
		return Submission{}, err
	}
	defer r.close()
	return r.submit(ctx, engineOf(config.Runner))
}

// Finish takes up a job whose results are for an output folder, waits for its end and publishes them, as [Run] does.
// Progress gets a line for each new state of the job, and monitor shows how far the stages have come; both are as in
// [job.Config] and may be nil. A cancelled context ends the wait and not the job.
func Finish(ctx context.Context, output string, progress func(line string), monitor job.Monitor) (Summary, error) {
	r, s, err := takeUp(ctx, output, progress)
	if err != nil {
		return Summary{}, err
	}
	defer r.close()
	r.Config.Monitor = monitor
	if r.Config.State != "" {
		return Summary{}, failure.Errorf(failure.Usage,
			"job %s on %s had a state, whose lease ended with the process that submitted the job: give --cancel, "+
				"or --discard if the job has ended, and run it again", s.name(), s.Runner)
	}
	return r.finishOn(ctx, engineOf(s.Runner), s)
}

func (r *run) finishOn(ctx context.Context, e engine.Engine, s Submission) (Summary, error) {
	if s.ID == "" {
		return Summary{}, r.lost(s, errUnanswered)
	}
	found, err := r.await(ctx, e, s)
	switch {
	case ctx.Err() != nil:
		return Summary{}, ctx.Err()
	case err != nil:
		return Summary{}, r.ended(s, err)
	}
	return r.finish(context.WithoutCancel(ctx), found) // as in Run
}

// errUnanswered says that nobody knows whether the engine has taken a job.
var errUnanswered = errors.New("the process that submitted it died before the engine answered")

// Cancel cancels a job whose results are for an output folder, and removes its files.
func Cancel(ctx context.Context, output string, progress func(line string)) (Submission, error) {
	r, s, err := takeUp(ctx, output, progress)
	if err != nil {
		return s, err
	}
	defer r.close()
	return s, r.cancelOn(ctx, engineOf(s.Runner), s)
}

func (r *run) cancelOn(ctx context.Context, e engine.Engine, s Submission) error {
	if s.ID == "" {
		return r.lost(s, errUnanswered)
	}
	if err := e.Cancel(ctx, s.ID); err != nil {
		return r.lost(s, fmt.Errorf("cancel it: %w", err))
	}
	return r.results.Settle()
}

// Discard removes the files of a job, and asks no engine about it. A job that still runs will fail.
func Discard(ctx context.Context, output string, progress func(line string)) (Submission, error) {
	r, s, err := takeUp(ctx, output, progress)
	if err != nil {
		return s, err
	}
	defer r.close()
	return s, r.results.Settle()
}

func takeUp(ctx context.Context, output string, progress func(line string)) (*run, Submission, error) {
	var h handedOver
	results, err := workspace.TakeUp(ctx, output, &h, func(held *storage.HeldError) {
		if progress != nil {
			progress("waiting until the leases of the process that submitted the job have ended: " + held.Error())
		}
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, Submission{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil, Submission{}, failure.New(failure.Usage, err)
	case err != nil:
		return nil, Submission{}, failure.New(failure.Storage, err)
	}
	r := h.Run
	r.results, r.Config.Progress = results, progress
	storage.SetWaiting(storage.Waiting{Patience: time.Duration(r.Config.StorageTimeout)})
	if r.inputs, err = documents.OpenInputs(transforms.InputsPath(results.Temp)); err == nil {
		r.Config.Runner = h.Runner
		err = setBeam(h.Beam)
	}
	if err != nil {
		r.close()
		return nil, h.Submission, failure.New(failure.Storage, err)
	}
	return r, h.Submission, nil
}

func beamGiven() map[string]string {
	given := map[string]string{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	return given
}

// setBeam gives flags of Beam the values that they had when the job was submitted.
func setBeam(flags map[string]string) error {
	for name, value := range flags {
		if err := flag.Set(name, value); err != nil {
			return fmt.Errorf("set --%s as it was when the job was submitted: %w", name, err)
		}
	}
	return nil
}

func (r *run) runOn(ctx context.Context, e engine.Engine) (*metrics.Results, error) {
	s, err := r.submit(ctx, e)
	if err != nil {
		return nil, err
	}
	found, err := r.await(ctx, e, s)
	switch {
	case ctx.Err() != nil:
		return nil, r.cancel(ctx, e, s)
	case err != nil:
		return nil, r.ended(s, err)
	}
	return found, nil
}

// submit hands the job to an engine. First it records that its folders will be in use.
func (r *run) submit(ctx context.Context, e engine.Engine) (s Submission, err error) {
	s = Submission{Runner: r.Config.Runner, Name: *jobopts.JobName}
	if s.Name == "" {
		s.Name = "runjob-" + strings.ToLower(r.results.Token())
	}
	h := handedOver{Submission: s, Beam: beamGiven(), Run: r}
	if err := r.results.RecordSubmission(h); err != nil {
		return s, failure.New(failure.Storage, err)
	}
	s.ID, err = e.Submit(ctx, graphOf(r.job), s.Name)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return s, errors.Join(failure.OfTask(&r.Config, err), r.results.Settle())
	}
	r.say(s, "has taken the job "+s.name())
	h.Submission = s
	if err := r.results.RecordSubmission(h); err != nil {
		return s, errors.Join(failure.New(failure.Storage, err), r.cancel(ctx, e, s))
	}
	return s, nil
}

const longestCancel = 5 * time.Minute

// cancel cancels the job of a run that was interrupted. It returns the error of the interruption.
func (r *run) cancel(ctx context.Context, e engine.Engine, s Submission) error {
	interruption := ctx.Err()
	r.say(s, "cancelling it")
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), longestCancel)
	defer end()
	if err := r.cancelOn(ctx, e, s); err != nil {
		return err
	}
	return interruption
}

// ended returns the error of a job that has not ended well, or may not have ended.
func (r *run) ended(s Submission, err error) error {
	if _, hasEnded := errors.AsType[*engine.EndedError](err); !hasEnded {
		return r.lost(s, err)
	}
	if _, ofTask := work.FaultOf(err); !ofTask && !errors.As(err, new(failure.Kind)) {
		// The engine was shut down or has lost its manager, or somebody has cancelled the job there.
		return errors.Join(failure.New(failure.Unavailable, err), r.results.Settle())
	}
	return errors.Join(failure.OfTask(&r.Config, err), r.results.Settle())
}

// lost returns the error of a job that may still run. Its folders stay.
func (r *run) lost(s Submission, err error) error {
	way := "'runjob finish %s' waits for it, with --cancel it cancels it, and with --discard it removes the files only"
	if r.Config.State != "" {
		way = "'runjob finish --cancel %s' cancels it, with --discard it removes the files only; the state is as it was"
	}
	return failure.Errorf(failure.Unavailable, "job %s on %s: %w: it may still run, so its files stay; "+way, s.name(),
		s.Runner, err, r.Config.Output)
}

func (s Submission) name() string {
	if s.ID == "" {
		return s.Name
	}
	return s.ID
}

func (r *run) say(s Submission, line string) {
	if r.Config.Progress != nil {
		r.Config.Progress(fmt.Sprintf("%s: %s", s.Runner, line))
	}
}
