package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

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
	if err := checkRunner(); err != nil {
		return Summary{}, failure{ErrUsage, err}
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
	work, err := openWorkspace(config)
	if err != nil {
		return Summary{}, failure{ErrStorage, err}
	}
	defer work.sweep()
	inputsPath := filepath.Join(work.temp, "inputs.json")
	if err := transforms.WriteInputs(inputsPath, inputs); err != nil {
		return Summary{}, config.fault(ErrStorage, err)
	}
	job := config.job(scheme, size, len(inputs.Splits), work.temp, work.partial, inputsPath)
	metrics, err := execute(ctx, job, int64(config.Memory))
	if err != nil {
		return Summary{}, config.explain(err)
	}
	result, err := transforms.ReadResult(work.temp)
	if err != nil {
		return Summary{}, err
	}
	if err := accept(config, result, size); err != nil {
		return Summary{}, failure{ErrInput, err}
	}
	audited, err := transforms.ReadAudit(work.temp)
	if err != nil {
		return Summary{}, err
	}
	summary := summarize(config, scheme, result, metrics, transforms.TempBytes(work.temp), time.Since(start))
	summary.Audit = audited
	if err := work.publish(result.Files, summary); err != nil {
		return Summary{}, config.fault(ErrStorage, err)
	}
	return summary, nil
}

// runnerNames are the names under which Beam knows the runners that run jobs,
// letter by letter.
var runnerNames = []string{
	"prism", "PrismRunner", "direct", "DirectRunner", "dataflow", "DataflowRunner",
	"flink", "FlinkRunner", "spark", "SparkRunner", "portable", "PortableRunner", "universal",
}

// isLocal reports whether the runner is one of this process.
func isLocal() bool {
	return slices.Contains([]string{"", "prism", "PrismRunner", "direct", "DirectRunner"}, *runners.Runner)
}

// checkRunner refuses a runner that is not there: Beam would end the program.
func checkRunner() error {
	if name := *runners.Runner; name != "" && !slices.Contains(runnerNames, name) {
		return fmt.Errorf("--runner %s: must be one of %s", name, strings.Join(runnerNames, ", "))
	}
	return nil
}

// process is held by the job that a runner works on: the flags of Beam, the
// number of threads and the temporary folder are the process's.
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
	// For each job Beam leaves a file in the system's temporary folder, and it
	// breaks down where it cannot.
	defer setTempDir(job.Temp)()
	// The embedded runner spins while it waits for the end of a bundle. On as
	// many threads as there are lanes it would starve the worker it waits for,
	// which tripled the CPU time of an empty job.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(transforms.Cores() + 1))
	defer limitMemory(memory)()
	result, err := attempt(ctx, job, func(ctx context.Context) (beam.PipelineResult, error) {
		p, s := beam.NewPipelineWithRoot()
		graph(s, job)
		return runPipeline(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// runPipeline runs a pipeline. A runner of this process panics where it cannot
// listen to its workers.
func runPipeline(ctx context.Context, p *beam.Pipeline) (result beam.PipelineResult, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("start the runner: %v", fault)
		}
	}()
	return beamx.RunWithMetrics(ctx, p)
}

// setTempDir makes a folder that of the process's temporary files, and returns
// what undoes that.
func setTempDir(folder string) func() {
	const name = "TMPDIR"
	before, was := os.LookupEnv(name)
	os.Setenv(name, folder)
	return func() {
		if was {
			os.Setenv(name, before)
		} else {
			os.Unsetenv(name)
		}
	}
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

// accept refuses a result that the user would not want.
func accept(config Config, result transforms.Result, size int64) error {
	counts := result.Counts
	if config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects {
		return fmt.Errorf("%s, --max-rejects allows %d: %s", unreadable(counts.Rejected), config.MaxRejects, firstReject(result))
	}
	if len(config.Reference) > 0 && counts.ReferenceDocuments == 0 {
		if counts.Rejected > 0 {
			return fmt.Errorf("no document in the --reference, %s: %s", unreadable(counts.Rejected), firstReject(result))
		}
		return errors.New("no document in the --reference: nothing can be compared with it")
	}
	if counts.Documents == 0 && counts.Rejected > 0 {
		return fmt.Errorf("no document in %d bytes of input, %s: %s", size, unreadable(counts.Rejected), firstReject(result))
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
