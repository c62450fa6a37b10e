package workerpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/protobuf/proto"

	"mirrorbeam.dev/internal/util/build"
)

// Endpoints say for whom a worker works. The addresses have the form HOST:PORT.
type Endpoints struct {
	// ID is the name by which the engine knows the worker.
	ID string
	// Control is where the engine hands out work. Logging is where it collects messages.
	Control, Logging string
	// Provision is where the engine tells the options of the pipeline. It may be empty.
	Provision string
}

// longestProvision is the longest that an engine may take to tell the options of a pipeline.
const longestProvision = 30 * time.Second

// Work is the work of a worker process, and returns when the process is to end: the engine has hung up, the lifeline
// has come to its end, or the context has. The lifeline is the standard input. The pool holds its other side. It ends
// with the pool, however that ends. An engine that dies without a word is an error.
//
// Beam's own worker (the flag --worker) stays until it is killed.
func Work(ctx context.Context, e Endpoints, lifeline io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = grpcx.WriteWorkerID(ctx, e.ID)
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		cancel()
	}()
	options, err := provision(ctx, e.Provision)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- harness.MainWithOptions(ctx, e.Logging, e.Control, options) }()
	select {
	case err = <-ended:
	case <-ctx.Done(): // bundles may go on for a while, and nobody wants them
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("work for %s: %w", e.Control, err)
	}
	return nil
}

func provision(ctx context.Context, endpoint string) (harness.Options, error) {
	if endpoint == "" {
		return harness.Options{}, nil
	}
	asking, cancel := context.WithTimeout(ctx, longestProvision)
	defer cancel()
	info, err := tools.ProvisionInfo(asking, endpoint)
	var options runtime.RawOptionsWrapper
	if err == nil {
		err = tools.ProtoToOptions(info.GetPipelineOptions(), &options)
	}
	if err != nil {
		return harness.Options{}, fmt.Errorf("ask %s for the options of the pipeline: %w", endpoint,
			errors.Join(ctx.Err(), err))
	}
	runtime.GlobalOptions.Import(options.Options)
	return harness.Options{
		StatusEndpoint:     info.GetStatusEndpoint().GetUrl(),
		RunnerCapabilities: info.GetRunnerCapabilities(),
	}, nil
}

// buildParameter is the parameter of an external environment that names the build of the driver.
const buildParameter = "mirrorbeam-build"

// checkBuild refuses a job of another build. Two versions of the program may differ in their stages, and in the bytes
// that these exchange. A job without the parameter is somebody else's pipeline, whose pool runs somebody else's
// program.
func checkBuild(parameters map[string]string) error {
	job, isOurs := parameters[buildParameter]
	if !isOurs {
		return nil
	}
	pool, err := build.This()
	if err != nil || pool.Matches(build.Parse(job)) {
		return err
	}
	return fmt.Errorf(
		"the job comes from build %s of runjob, and this worker pool is build %s: run the same file on both sides, "+
			"or builds of one commit without changes", job, pool)
}

// Mark adds the build of this program to an external environment: pools of other builds then refuse the job.
func Mark(environment *pipepb.Environment) error {
	var payload pipepb.ExternalPayload
	if err := proto.Unmarshal(environment.GetPayload(), &payload); err != nil {
		return fmt.Errorf("read the environment of the pipeline: %w", err)
	}
	this, err := build.This()
	if err != nil {
		return err
	}
	payload.Params = map[string]string{buildParameter: this.String()}
	if environment.Payload, err = proto.Marshal(&payload); err != nil {
		return fmt.Errorf("write the environment of the pipeline: %w", err)
	}
	return nil
}
