package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/storage"
	"mirrorbeam/transforms"
)

// The kinds of failure, told apart by errors.Is.
var (
	// ErrUsage: the configuration is wrong.
	ErrUsage = errors.New("usage")
	// ErrInput: the input cannot be used.
	ErrInput = errors.New("input")
	// ErrStorage: the output or the temporary folder cannot be used.
	ErrStorage = errors.New("storage")
)

// failure is an error of a kind, which it does not mention.
type failure struct {
	kind error
	error
}

func (f failure) Unwrap() []error { return []error{f.kind, f.error} }

// Run runs the job and returns its summary. Unless it returns an error the
// results are complete and published. A cancelled context ends the job, leaves
// the output folder as it was and gives the context's error.
func Run(ctx context.Context, config Config) (Summary, error) {
	if err := config.Validate(); err != nil {
		return Summary{}, failure{ErrUsage, err}
	}
	if err := CheckRunner(ctx); err != nil {
		return Summary{}, err
	}
	scheme, err := config.scheme()
	if err != nil {
		return Summary{}, failure{ErrUsage, err}
	}
	config.Emit = config.emit()
	if err := checkOpenFiles(); err != nil {
		return Summary{}, failure{ErrStorage, err}
	}
	stopWords, err := config.readStopWords()
	if err != nil {
		return Summary{}, failure{ErrUsage, err}
	}
	start := time.Now()
	inputs, size, err := listApart(ctx, config)
	if err != nil {
		return Summary{}, err
	}
	inputs.StopWords = stopWords
	work, err := config.openWorkspace()
	if err != nil {
		return Summary{}, failure{ErrStorage, err}
	}
	defer work.Close()
	inputsPath := storage.Join(work.Temp, "inputs.gob")
	if err := transforms.WriteInputs(inputsPath, inputs); err != nil {
		return Summary{}, config.fault(ErrStorage, err)
	}
	job := config.job(scheme, size, len(inputs.Splits), work.Temp, work.Partial, inputsPath)
	metrics, err := execute(ctx, job, int64(config.Memory))
	if err != nil {
		return Summary{}, config.explain(err)
	}
	result, err := transforms.ReadResult(work.Temp)
	if err != nil {
		return Summary{}, err
	}
	if err := accept(config, result, size, work.Partial); err != nil {
		return Summary{}, failure{ErrInput, err}
	}
	audited, err := transforms.ReadAudit(work.Temp)
	if err != nil {
		return Summary{}, err
	}
	summary := summarize(config, scheme, result, metrics, transforms.TempBytes(work.Temp), time.Since(start))
	summary.Audit = audited
	if err := work.Publish(result.Files, summary); err != nil {
		return Summary{}, config.fault(ErrStorage, err)
	}
	return summary, nil
}

// process is held by the job that a runner works on: the memory limit, and the
// memory that tasks hand on, are the process's.
var process = make(chan struct{}, 1)

// execute runs the graph on the runner that the flags of Beam name, in a process
// of about that size at most.
func execute(ctx context.Context, job transforms.Job, memory int64) (*beam.PipelineResult, error) {
	select {
	case process <- struct{}{}:
		defer func() { <-process }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer limitMemory(memory)()
	// A runner may have given up the pipeline while tasks still write.
	defer transforms.Drain()
	p, s := beam.NewPipelineWithRoot()
	layOut(s, job)
	result, err := runOn(ctx, p)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &result, err
}

// distinct returns the names without those that stand before.
func distinct(names []string) []string {
	var all []string
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// accept refuses a result that the user would not want. Its files are in the folder.
func accept(config Config, result transforms.Result, size int64, folder string) error {
	counts := result.Counts
	if config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects {
		return fmt.Errorf("%s, --max-rejects allows %d: %s", unreadable(counts.Rejected), config.MaxRejects, firstReject(folder, result))
	}
	if len(config.Reference) > 0 && counts.ReferenceDocuments == 0 {
		if counts.Rejected > 0 {
			return fmt.Errorf("no document in the --reference, %s: %s", unreadable(counts.Rejected), firstReject(folder, result))
		}
		return errors.New("no document in the --reference: nothing can be compared with it")
	}
	if counts.Documents == 0 && counts.Rejected > 0 {
		return fmt.Errorf("no document in %d bytes of input, %s: %s", size, unreadable(counts.Rejected), firstReject(folder, result))
	}
	return nil
}

// unreadable says how many records could not be read.
func unreadable(n int64) string {
	if n == 1 {
		return "1 record could not be read"
	}
	return fmt.Sprintf("%d records could not be read", n)
}
