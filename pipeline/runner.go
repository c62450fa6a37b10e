package pipeline

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	// The first import lets Beam call DoFns without reflection, the second makes this program a worker.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness/init"

	// Other engines are reached by the packages dataflow and jobservice. Prism is not here: its job server listens on
	// all interfaces, authenticates nobody, and starts any program that a job names.
	//lint:ignore SA1019 Its successor is Prism, see above.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"mirrorbeam.dev/internal/failure"
	_ "mirrorbeam.dev/internal/util/username" // for Beam, see the package
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/dataflow"
	"mirrorbeam.dev/pipeline/engine"
	"mirrorbeam.dev/pipeline/jobservice"
)

// localRunner runs a job in this process. It passes all tasks of a stage to one bundle, and opens no port.
const localRunner = job.LocalRunner

// runnerNames are the runners that Beam may be asked for, by both names of each. All but the local one and Dataflow
// have a job server, whose address is --endpoint.
var runnerNames = []string{
	localRunner, "DirectRunner", "dataflow", "DataflowRunner", "flink", "FlinkRunner", "spark", "SparkRunner",
	"portable", "PortableRunner", "universal",
}

// isDataflow reports whether the runner is Google's Dataflow, which has no job server.
func isDataflow(runner string) bool { return runner == "dataflow" || runner == "DataflowRunner" }

// CheckRunner refuses a runner that cannot run a job. Without this check Beam would end the program, or fail after all
// is prepared. The error is ErrUsage if flags are missing, and ErrUnavailable if the job server cannot be reached.
func CheckRunner(ctx context.Context, runner string) error {
	switch {
	case job.IsLocal(runner):
		return nil
	case !slices.Contains(runnerNames, runner):
		return failure.Errorf(failure.Usage, "--runner %s: must be one of %s", runner, strings.Join(runnerNames, ", "))
	case isDataflow(runner):
		return dataflow.Check(ctx)
	}
	return reachServer(ctx, runner, *jobopts.Endpoint)
}

func engineOf(runner string) engine.Engine {
	if isDataflow(runner) {
		return dataflow.Engine{}
	}
	return &jobservice.Server{Address: *jobopts.Endpoint, Options: jobservice.Options{
		Parallelism:      *jobopts.Parallelism,
		Experiments:      jobopts.GetExperiments(),
		RetainContainers: *jobopts.RetainDockerContainers,
		Flink:            runner == "flink" || runner == "FlinkRunner",
		FlinkREST:        *flinkREST,
	}}
}

// probePause is the time between two attempts to reach a job server.
const probePause = time.Second

func reachServer(ctx context.Context, name, address string) error {
	if address == "" {
		return failure.Errorf(failure.Usage,
			"--runner %s: give the address of its job server with --endpoint HOST:PORT", name)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return failure.Errorf(failure.Usage, "--endpoint %s: must be HOST:PORT, as in localhost:8099", address)
	}
	var err error
	for begun := time.Now(); ; {
		err = jobservice.Probe(ctx, address)
		if err == nil || ctx.Err() != nil || errors.Is(err, jobservice.ErrOther) ||
			time.Since(begun) >= *endpointTimeout {
			break
		}
		if err := engine.Sleep(ctx, probePause); err != nil {
			return err
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, jobservice.ErrOther):
		return failure.Errorf(failure.Usage, "--endpoint %s: %w", address, err)
	}
	return failure.Errorf(failure.Unavailable,
		"--endpoint %s: no job server answers there: %w: start the job server, or correct the address", address, err)
}
