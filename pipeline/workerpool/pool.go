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

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
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
