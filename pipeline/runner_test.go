package pipeline

import (
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"google.golang.org/grpc"
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

// workerPool starts workers as processes of this test binary, as a cluster would start the program on another machine.
type workerPool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	t      *testing.T
	dir    string // the working folder of the workers
	binary string

	mu      sync.Mutex
	workers map[string]*exec.Cmd
	started int
}

// startPool starts a pool, which ends with the test, and makes Beam use it.
func startPool(t *testing.T) *workerPool {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &workerPool{t: t, dir: t.TempDir(), binary: binary, workers: map[string]*exec.Cmd{}}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		for id := range p.workers {
			p.stop(id)
		}
	})
	setFlag(t, jobopts.EnvironmentType, "EXTERNAL")
	setFlag(t, jobopts.EnvironmentConfig, listener.Addr().String())
	setFlag(t, jobopts.WorkerBinary, binary)
	return p
}

func (p *workerPool) StartWorker(_ context.Context, request *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	worker := exec.Command(p.binary, "--worker", "--id="+request.GetWorkerId(),
		"--control_endpoint="+request.GetControlEndpoint().GetUrl(),
		"--logging_endpoint="+request.GetLoggingEndpoint().GetUrl())
	// A worker elsewhere does not know the driver's working folder.
	worker.Dir = p.dir
	if err := worker.Start(); err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	p.workers[request.GetWorkerId()] = worker
	p.started++
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *workerPool) StopWorker(_ context.Context, request *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop(request.GetWorkerId())
	return &fnpb.StopWorkerResponse{}, nil
}

// stop ends a worker, which waits for that when it has nothing left to do.
func (p *workerPool) stop(id string) {
	if worker := p.workers[id]; worker != nil {
		worker.Process.Kill()
		worker.Wait()
		delete(p.workers, id)
	}
}

// count returns the number of workers started so far.
func (p *workerPool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// TestWorkerProcess runs the job with all its tasks in another process, which knows only what the pipeline carries.
func TestWorkerProcess(t *testing.T) {
	files := cut(oddities(lawSeed), 4)
	input := putCorpus(t, plain, files...)
	want := lawfulOutput(t, lawConfig(t, input))

	startPrism(t)
	pool := startPool(t)
	config := lawConfig(t, input)
	config.Lanes, config.Runner = 3, portable
	sameText(t, "output", lawfulOutput(t, config), want)
	checkUnique(t, config, files)
	if n := pool.count(); n != 1 {
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
