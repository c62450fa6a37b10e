package pipeline

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/dataflow/dataflowtest"
	"mirrorbeam.dev/pipeline/workerpool"
	"mirrorbeam.dev/transforms"
)

// portable is the runner that hands jobs to the Prism of startPrism.
const portable = "portable"

// startPrism starts Beam's Prism, as a stand-in for a cluster, for the portable jobs of this test. Its workers are this
// process, unless the test says otherwise.
func startPrism(t *testing.T) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().(*net.TCPAddr)
	free.Close()
	if _, err := prism.CreateJobServer(t.Context(), prism.Options{Port: address.Port}); err != nil {
		t.Fatal(err)
	}
	setFlag(t, jobopts.Endpoint, address.String())
	setFlag(t, jobopts.EnvironmentType, "LOOPBACK")
}

// startPool starts a pool of workers, which are processes of this test binary, and makes Beam use it. Count returns how
// many workers it has started.
func startPool(t *testing.T) (count func() int) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.Create(filepath.Join(t.TempDir(), "told"))
	if err != nil {
		t.Fatal(err)
	}
	pool := workerpool.Pool{Program: binary, Log: told, Arguments: func(e workerpool.Endpoints) []string {
		return []string{"-pooled", strings.Join([]string{e.ID, e.Control, e.Logging, e.Provision}, " ")}
	}}
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := pool.Serve(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		serving.Wait()
		if err := told.Close(); err != nil {
			t.Error(err)
		}
	})
	setFlag(t, jobopts.EnvironmentType, "EXTERNAL")
	setFlag(t, jobopts.EnvironmentConfig, listener.Addr().String())
	setFlag(t, jobopts.WorkerBinary, binary)
	return func() int { return strings.Count(string(readFile(t, told.Name())), ": process ") }
}

// TestWorkerProcess runs the job with all its tasks in another process, which knows only what the pipeline carries.
func TestWorkerProcess(t *testing.T) {
	files := cut(oddities(lawSeed), 4)
	input := putCorpus(t, plain, files...)
	want := lawfulOutput(t, lawConfig(t, input))

	startPrism(t)
	started := startPool(t)
	config := lawConfig(t, input)
	config.Lanes, config.Runner = 3, portable
	sameText(t, "output", lawfulOutput(t, config), want)
	checkUnique(t, config, files)
	if n := started(); n != 1 {
		t.Errorf("%d workers were started, want 1", n)
	}
	checkMadeByWorker(t, config.Output)

	t.Run("relative paths", func(t *testing.T) {
		t.Chdir(filepath.Dir(input))
		config := lawConfig(t, filepath.Base(input))
		config.Output, config.Temp, config.Runner = "out", "temp", portable
		sameText(t, "output", lawfulOutput(t, config), want)
		checkMadeByWorker(t, config.Output)
	})
	t.Run("fault", func(t *testing.T) {
		config := lawConfig(t, input)
		config.MaxRejects, config.Runner = 3, portable
		if _, err := Run(context.Background(), config); err == nil {
			t.Error("too many rejects, yet no error")
		}
		checkNoLeftovers(t, config)
	})
}

// TestNearDuplicatesElsewhere: a pipeline of somebody else finds the clusters of a job, with all tasks in another
// process. TestNearDuplicates in transforms compares all rows.
func TestNearDuplicatesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts another process")
	}
	w := newWriter(11)
	w.families(20, 6, 30, 90)
	config := lawConfig(t, putCorpus(t, plain, file{"x.jsonl", w.lines}))
	summary := runJob(t, config)
	var handed []transforms.Document
	for _, l := range w.lines {
		handed = append(handed, transforms.Document{ID: l.id, Text: l.text})
	}
	startPrism(t)
	started := startPool(t)
	elsewhere := job.Default()
	elsewhere.Threshold, elsewhere.Temp = config.Threshold, t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	found, err := transforms.NearDuplicates(s, beam.CreateList(s, handed), transforms.Options{Config: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	passert.Count(s, found.Members, "members", int(summary.Counts.Clustered))
	passert.Count(s, found.Pairs, "pairs", int(summary.Counts.Pairs))
	passert.Empty(s, found.Rejects)
	if _, err := beam.Run(t.Context(), portable, p); err != nil {
		t.Fatal(err)
	}
	if summary.Counts.Pairs < 50 || started() == 0 {
		t.Errorf("%d pairs, %d workers", summary.Counts.Pairs, started())
	}
}

// checkMadeByWorker checks that another process wrote the results: their mode shows the mask that only workers set.
func checkMadeByWorker(t *testing.T, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) == 0 {
		t.Error("no result")
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != fs.FileMode(workerMode) {
			t.Errorf("%s has mode %v, a worker makes %v", filepath.Base(file), info.Mode(), fs.FileMode(workerMode))
		}
	}
}

// TestCheckRunner: a runner is refused before any work if flags are missing, or if its job server does not answer. An
// interruption is reported as one.
func TestCheckRunner(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx              context.Context
		runner, endpoint string
		want             error
	}{
		{t.Context(), "", "", nil},
		{t.Context(), "portable", "", ErrUsage},
		{t.Context(), "portable", "localhost", ErrUsage},
		{t.Context(), "portable", "127.0.0.1:1", ErrUnavailable},
		{t.Context(), "flink", listener.Addr().String(), nil},
		{ended, "flink", "127.0.0.1:1", context.Canceled},
		{t.Context(), "dataflow", "", ErrUsage},
		{t.Context(), "unknown", "", ErrUsage},
	} {
		t.Run(c.runner+" "+c.endpoint, func(t *testing.T) {
			setFlag(t, jobopts.Endpoint, c.endpoint)
			if err := CheckRunner(c.ctx, c.runner); !errors.Is(err, c.want) {
				t.Errorf("--runner %s --endpoint %s: %v, want %v", c.runner, c.endpoint, err, c.want)
			}
		})
	}
}

// TestEndpointTimeout: a job server that is late is waited for.
func TestEndpointTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	setFlag(t, jobopts.Endpoint, address)
	setFlag(t, endpointTimeout, time.Minute)
	late := make(chan net.Listener)
	go func() {
		time.Sleep(100 * time.Millisecond) // later than the first attempt, as a rule
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
		}
		late <- listener
	}()
	err = CheckRunner(t.Context(), "portable")
	if listener := <-late; listener != nil {
		listener.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// startDataflow starts a stand-in for Dataflow that runs jobs, and leads this test's jobs to it.
func startDataflow(t *testing.T) *dataflowtest.Server {
	t.Helper()
	server := dataflowtest.Start(t)
	server.Run()
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	for name, value := range server.Flags() {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, before); err != nil {
				t.Error(err)
			}
		})
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	setFlag(t, jobopts.WorkerBinary, binary)
	return server
}

// TestDataflow runs the job from what Dataflow is sent, in another process: the same bytes, and the same counts of
// tasks.
func TestDataflow(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	local := lawConfig(t, input)
	want := runJob(t, local)

	server := startDataflow(t)
	config := lawConfig(t, input)
	config.Runner = "dataflow"
	got := runJob(t, config)
	sameFiles(t, allFiles(t, config.Output), allFiles(t, local.Output))
	checkMadeByWorker(t, config.Output)
	if n := len(server.Jobs()); n != 1 {
		t.Errorf("%d jobs were sent, want 1", n)
	}
	for i, stage := range want.Stages {
		if far := got.Stages[i]; stage.Records != far.Records || (stage.Tasks > 0) != (far.Tasks > 0) {
			t.Errorf("stage %s: %d tasks of %d records, want some of %d", stage.Name, far.Tasks, far.Records,
				stage.Records)
		}
	}
}

// TestDataflowFault: a fault of a task comes back as its own, whatever the service says around it. A job that fails for
// another reason is told in the words of the service.
func TestDataflowFault(t *testing.T) {
	server := startDataflow(t)
	server.Play("JOB_STATE_RUNNING", "JOB_STATE_FAILED")
	program := filepath.Join(t.TempDir(), "program")
	put(t, program, []byte("no worker starts this"), plain)
	setFlag(t, jobopts.WorkerBinary, program)
	config := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 2)...))
	config.Runner = "dataflow"
	fault := work.Fault{Kind: work.InputFault, Text: "read input a.jsonl: gone"}
	for _, test := range []struct {
		said string
		kind error
		want string
	}{
		{"The zone has no machines of this type.", ErrStorage, "The zone has no machines of this type."},
		{
			"A work item has failed 4 times: process bundle: " + fault.Error() + " caused by:\nmore", ErrInput,
			fault.Text,
		},
	} {
		t.Run(test.said, func(t *testing.T) {
			server.Say("JOB_MESSAGE_ERROR", test.said)
			if _, err := Run(t.Context(), config); !errors.Is(err, test.kind) || err.Error() != test.want {
				t.Errorf("%q becomes %v", test.said, err)
			}
			checkNoLeftovers(t, config)
		})
	}
}
