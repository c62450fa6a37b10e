// Package pipeline is the driver of a job: it lays out the graph of stages, runs it on a Beam runner, and publishes the
// results.
package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/listing"
	"mirrorbeam/internal/outputs"
	"mirrorbeam/internal/recall"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/work"
	"mirrorbeam/internal/workspace"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// The kinds of failure, which errors.Is finds in an error.
const (
	// ErrUsage says that the configuration is wrong.
	ErrUsage = failure.Usage
	// ErrInput says that the input cannot be used.
	ErrInput = failure.Input
	// ErrStorage says that the output or the temporary folder cannot be used.
	ErrStorage = failure.Storage
)

// Run runs the job and returns its summary. Unless it returns an error, the results are complete and published. A
// cancelled context ends the job and leaves the output folder as it was. Run then returns the context's error.
func Run(ctx context.Context, config job.Config) (Summary, error) {
	if err := config.Validate(); err != nil {
		return Summary{}, failure.New(failure.Usage, err)
	}
	if err := CheckRunner(ctx, config.Runner); err != nil {
		return Summary{}, err
	}
	scheme, err := config.Scheme()
	if err != nil {
		return Summary{}, failure.New(failure.Usage, err)
	}
	config.Emit = config.Outputs()
	if err := checkOpenFiles(); err != nil {
		return Summary{}, failure.New(failure.Storage, err)
	}
	stopWords, err := config.ReadStopWords()
	if err != nil {
		return Summary{}, failure.New(failure.Usage, err)
	}
	ranking, err := config.ReadRanking()
	if err != nil {
		return Summary{}, failure.New(failure.Usage, err)
	}
	start := time.Now()
	inputs, size, err := listing.Apart(ctx, config)
	if err != nil {
		return Summary{}, err
	}
	inputs.StopWords, inputs.Ranking = stopWords, ranking
	results, err := openWorkspace(&config)
	if err != nil {
		return Summary{}, failure.New(failure.Storage, err)
	}
	defer results.Close()
	inputsPath := storage.Join(results.Temp, "inputs.gob")
	if err := documents.WriteInputs(inputsPath, inputs); err != nil {
		return Summary{}, failure.Explain(&config, failure.Storage, err)
	}
	j := newJob(&config, extent{
		scheme: scheme, bytes: size, splits: len(inputs.Splits), stopWords: stopWords,
		temp: results.Temp, partial: results.Partial, inputs: inputsPath,
	})
	if err := checkRoom(ctx, &config, j, &inputs); err != nil {
		return Summary{}, err
	}
	metrics, err := execute(ctx, j, &config)
	if err != nil {
		return Summary{}, failure.OfTask(&config, err)
	}
	result, err := outputs.ReadResult(results.Temp)
	if err != nil {
		return Summary{}, err
	}
	if err := accept(config, result, size); err != nil {
		return Summary{}, failure.New(failure.Input, err)
	}
	audited, err := recall.Read(results.Temp)
	if err != nil {
		return Summary{}, err
	}
	summary := summarize(config, inputs.Sources, result, metrics)
	summary.ConfigHash = config.ResultHash(stopWords, ranking)
	summary.Plan = planOf(config, scheme, result.AllPairs)
	summary.Audit = audited
	summary.Seconds, summary.TempBytes = round(time.Since(start).Seconds()), work.TempBytes(results.Temp)
	if err := results.Publish(result.Files, summary); err != nil {
		return Summary{}, failure.Explain(&config, failure.Storage, err)
	}
	return summary, nil
}

// process is held by the job that a runner works on. The memory limit, and the memory that tasks pass on, belong to the
// whole process.
var process = make(chan struct{}, 1)

// execute runs the graph on the runner of the configuration. The process aims to stay below the size in the
// configuration.
func execute(ctx context.Context, j *transforms.Job, config *job.Config) (*beam.PipelineResult, error) {
	select {
	case process <- struct{}{}:
		defer func() { <-process }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer work.LimitMemory(int64(config.Memory))()
	// A runner may have given up the pipeline while tasks still write.
	defer work.Drain(j.Runs.Folder)
	p, s := beam.NewPipelineWithRoot()
	layOut(s, j)
	result, err := runOn(ctx, p, config.Runner)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &result, err
}

// accept refuses a result that the user would not want.
func accept(config job.Config, result outputs.Result, size int64) error {
	counts := result.Counts
	if config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects {
		return setting.Errorf("%s, {max_rejects} allows %d: %s", failure.Unreadable(counts.Rejected), config.MaxRejects, firstReject(result))
	}
	if len(config.Reference) > 0 && counts.ReferenceDocuments == 0 {
		if counts.Rejected > 0 {
			return setting.Errorf("no document in the {reference}, %s: %s", failure.Unreadable(counts.Rejected), firstReject(result))
		}
		return setting.Errorf("no document in the {reference}: nothing can be compared with it")
	}
	if counts.Documents == 0 && counts.Rejected > 0 {
		return fmt.Errorf("no document in %d bytes of input, %s: %s", size, failure.Unreadable(counts.Rejected), firstReject(result))
	}
	return nil
}

// openWorkspace makes the folders of a run.
func openWorkspace(config *job.Config) (*workspace.Workspace, error) {
	return workspace.Open(workspace.Options{Output: config.Output, Temp: config.TempFolder(), Overwrite: config.Overwrite})
}
