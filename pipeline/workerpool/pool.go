// Package workerpool starts the workers of a job when an engine such as Flink or Spark asks for them. It serves Beam's
// protocol of external worker pools, which a job uses with --environment_type EXTERNAL.
package workerpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"mirrorbeam.dev/internal/util/build"
)

// grace is how long a worker has to end after it was asked to. Then it is killed.
const grace = 3 * time.Second

// Pool serves the requests of engines to start and to stop workers. Each worker is a process of its own. No worker
// outlives the pool, even if the pool is killed.
type Pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	Program string
	// Arguments returns its arguments for a worker. It must call [Work] with the same values.
	Arguments func(Endpoints) []string
	// Log receives a line for each worker that starts or ends, and what workers write to their standard error.
	Log io.Writer

	mutex   sync.Mutex
	closed  bool
	workers map[workerName]context.CancelFunc // each ends a worker
	wanted  map[string]int                    // by id: requests to start a worker, less those to stop one
	running sync.WaitGroup
}

// workerName identifies a worker. An engine counts its workers from 1. So the id alone does not tell the workers of two
// TaskManagers of Flink apart, but each TaskManager has a control endpoint of its own.
type workerName struct{ control, id string }

func (n workerName) String() string { return fmt.Sprintf("worker %s of %s", n.id, n.control) }

// Serve answers requests until the context ends. It returns when all workers have ended.
func (p *Pool) Serve(ctx context.Context, listener net.Listener) error {
	p.workers, p.wanted = map[workerName]context.CancelFunc{}, map[string]int{}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	defer context.AfterFunc(ctx, server.Stop)()
	err := server.Serve(listener)
	p.close()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve workers at %s: %w", listener.Addr(), err)
}

// close ends all workers, lets no new ones begin, and waits for the end.
func (p *Pool) close() {
	p.mutex.Lock()
	p.closed = true
	for _, end := range p.workers {
		end()
	}
	p.mutex.Unlock()
	p.running.Wait()
}

// StartWorker starts a worker. If that fails, the reason is part of the answer, as the protocol has it.
func (p *Pool) StartWorker(_ context.Context, request *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	e := Endpoints{
		ID:        request.GetWorkerId(),
		Control:   request.GetControlEndpoint().GetUrl(),
		Logging:   request.GetLoggingEndpoint().GetUrl(),
		Provision: request.GetProvisionEndpoint().GetUrl(),
	}
	err := checkBuild(request.GetParams())
	if err == nil {
		err = p.start(e)
	}
	if err != nil {
		p.logf("worker %s of %s: not started: %v", e.ID, e.Control, err)
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *Pool) start(e Endpoints) error {
	name := workerName{e.Control, e.ID}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case p.closed:
		return errors.New("the worker pool is about to end")
	case p.workers[name] != nil:
		return fmt.Errorf("%s runs already", name)
	}
	ctx, end := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, p.Program, p.Arguments(e)...)
	command.Stdout, command.Stderr = p.Log, p.Log
	// A Ctrl-C is for the pool, which then ends its workers.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	lifeline, err := command.StdinPipe()
	if err != nil {
		end()
		return fmt.Errorf("make the standard input of %s: %w", name, err)
	}
	// See Work: a worker ends when its standard input does.
	command.Cancel, command.WaitDelay = lifeline.Close, grace
	if err := command.Start(); err != nil {
		end()
		return fmt.Errorf("start %s: %w", name, err)
	}
	p.workers[name] = end
	p.wanted[e.ID]++
	p.logf("%s: process %d", name, command.Process.Pid)
	p.running.Go(func() {
		err := command.Wait()
		asked := ctx.Err() != nil
		p.mutex.Lock()
		delete(p.workers, name)
		p.mutex.Unlock()
		end()
		if err != nil && !asked {
			p.logf("%s: failed: %v", name, err)
		} else {
			p.logf("%s: ended", name)
		}
	})
	return nil
}

// StopWorker ends a worker that its engine needs no longer. The request names the id alone, and several engines may
// have a worker of this id. So these workers are ended when there were as many requests to stop one as to start one.
// None has to wait for that: a worker ends by itself when its engine hangs up, as engines do before they ask this.
func (p *Pool) StopWorker(_ context.Context, request *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	id := request.GetWorkerId()
	p.wanted[id]--
	if p.wanted[id] <= 0 {
		delete(p.wanted, id)
		for name, end := range p.workers {
			if name.id == id {
				end()
			}
		}
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// Probe returns an error unless a pool answers at an address. It asks the pool to end a worker that nobody has.
func Probe(ctx context.Context, address string) error {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		defer connection.Close()
		_, err = fnpb.NewBeamFnExternalWorkerPoolClient(connection).StopWorker(ctx,
			&fnpb.StopWorkerRequest{WorkerId: "probe"})
	}
	if err != nil {
		return fmt.Errorf("no worker pool answers at %s: %w", address, err)
	}
	return nil
}

func (p *Pool) logf(format string, values ...any) {
	_, _ = fmt.Fprintf(p.Log, format+"\n", values...) // nobody is left to tell of a failure
}

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
// that these exchange. A job without the parameter is a pipeline of another program.
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
