package jobservice

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"

	"mirrorbeam.dev/pipeline/engine"
	"mirrorbeam.dev/pipeline/workerpool"
)

const longestPrepare = time.Minute

// idleWorker is how long a worker of Flink outlives its last stage. It is shorter than the pause before Flink starts a
// task again: with the worker of the failed attempt, which may be dead, the next one would fail as well.
const idleWorker = 500 * time.Millisecond

// Submit hands a pipeline to the job server. The flags of Beam say where its workers run.
func (s *Server) Submit(ctx context.Context, p *beam.Pipeline, name string) (id string, err error) {
	environment, err := s.environment(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = s.release(context.WithoutCancel(ctx)) // the first fault is the one to tell
		}
	}()
	edges, _, err := p.Build()
	if err != nil {
		return "", fmt.Errorf("build the pipeline: %w", err)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{
		Environment:           environment,
		PipelineResourceHints: jobopts.GetPipelineResourceHints(),
	})
	if err != nil {
		return "", fmt.Errorf("encode the pipeline: %w", err)
	}
	binary, err := stagedBinary(pipeline)
	if err != nil {
		return "", err
	}
	client, connection, err := s.connect()
	if err != nil {
		return "", err
	}
	defer connection.Close()
	options, err := tools.OptionsToProto(s.options(name))
	if err != nil {
		return "", fmt.Errorf("encode the options of the pipeline: %w", err)
	}
	preparing, cancel := context.WithTimeout(ctx, longestPrepare)
	defer cancel()
	prepared, err := client.Prepare(preparing, &jobpb.PrepareJobRequest{
		Pipeline:        pipeline,
		PipelineOptions: options,
		JobName:         name,
	})
	if err != nil {
		return "", s.fault(ctx, "prepare the job", err)
	}
	token, err := runnerlib.Stage(ctx, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(),
		binary, prepared.GetStagingSessionToken())
	if err != nil {
		return "", s.fault(ctx, "send the files of the job to "+prepared.GetArtifactStagingEndpoint().GetUrl(), err)
	}
	started, err := client.Run(ctx, &jobpb.RunJobRequest{
		PreparationId:  prepared.GetPreparationId(),
		RetrievalToken: token,
	})
	if err != nil {
		return "", s.fault(ctx, "run the job", err)
	}
	return started.GetJobId(), nil
}

func (s *Server) options(name string) map[string]any {
	hooks.SerializeHooksToOptions()
	beam.PipelineOptions.LoadOptionsFromFlags(nil)
	values := map[string]any{
		"go_options":               beam.PipelineOptions.Export(),
		"app_name":                 name, // the name of the job begins with it, and goes on with something unique
		"experiments":              append([]string{"beam_fn_api"}, s.Options.Experiments...),
		"retain_docker_containers": s.Options.RetainContainers,
	}
	if s.Options.Parallelism > 0 {
		values["parallelism"] = s.Options.Parallelism
	}
	if s.Options.Flink {
		// A task that failed then runs again by itself. Otherwise Flink pipes the stages together, and one failure
		// takes the whole job back to its start. The outcomes that Flink keeps for this are small.
		values["execution_mode_for_batch"] = "BATCH_FORCED"
		// A worker outlives the stage that it was started for, so that the next one finds it. Flink would start and end
		// a process for each stage in each TaskManager. Spark does so whatever it is told.
		values["environment_cache_millis"] = idleWorker.Milliseconds()
	}
	options := map[string]any{}
	for name, value := range values {
		options["beam:option:"+name+":v1"] = value
	}
	return options
}

// environment says where workers run. It starts them here if they are to run in this process.
func (s *Server) environment(ctx context.Context) (*pipepb.Environment, error) {
	config := jobopts.GetEnvironmentConfig
	if jobopts.IsLoopback() {
		loopback, err := extworker.StartLoopback(context.WithoutCancel(ctx), 0)
		if err != nil {
			return nil, fmt.Errorf("start workers in this process: %w", err)
		}
		s.loopback.Store(loopback)
		config = loopback.EnvironmentConfig
	}
	environment, err := graphx.CreateEnvironment(ctx, jobopts.GetEnvironmentUrn(ctx), config)
	if err != nil {
		return nil, fmt.Errorf("describe the environment of the workers: %w", err)
	}
	if environment.GetUrn() != graphx.URNEnvExternal {
		return environment, nil
	}
	// The workers of a pool have their program already, unless the user sends one along.
	if jobopts.IsLoopback() || *jobopts.WorkerBinary == "" {
		environment.Dependencies = nil
	}
	return environment, workerpool.Mark(environment)
}

// stagedBinary returns the program that the job server sends to workers, and notes it in the pipeline; "" for none.
func stagedBinary(pipeline *pipepb.Pipeline) (string, error) {
	needed := false
	for _, environment := range pipeline.GetComponents().GetEnvironments() {
		needed = needed || len(environment.GetDependencies()) > 0
	}
	if !needed {
		return "", nil
	}
	binary, err := workerBinary()
	if err != nil {
		return "", err
	}
	if err := runnerlib.UpdateGoEnvironmentWorker(binary, pipeline); err != nil {
		return "", fmt.Errorf("read the program for workers: %w", err)
	}
	return binary, nil
}

// workerBinary returns the program that workers run. Workers are Linux machines.
func workerBinary() (string, error) {
	if *jobopts.WorkerBinary == "" && runtime.GOOS != "linux" {
		return "", fmt.Errorf(
			"workers run on Linux, and this program is for %s: build it for them (GOOS=linux go build ./cmd/runjob) "+
				"and name it with --worker_binary", strings.ToUpper(runtime.GOOS[:1])+runtime.GOOS[1:])
	}
	return engine.Program()
}
