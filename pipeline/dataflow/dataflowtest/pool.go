package dataflowtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"sync"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// pool starts workers from the program of one job.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	address string
	binary  string
	server  *grpc.Server
	serving sync.WaitGroup

	mutex   sync.Mutex
	workers map[string]*exec.Cmd
}

func startPool(binary string) (*pool, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &pool{
		address: listener.Addr().String(),
		binary:  binary,
		server:  grpc.NewServer(),
		workers: map[string]*exec.Cmd{},
	}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	p.serving.Go(func() { _ = p.server.Serve(listener) })
	return p, nil
}

// stop ends the pool and its workers.
func (p *pool) stop() {
	p.server.Stop()
	p.serving.Wait()
	for id := range p.workers {
		p.end(id)
	}
}

// StartWorker starts a worker as the service would: it knows its id and whom to ask for work.
func (p *pool) StartWorker(_ context.Context, request *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	worker := exec.Command(p.binary, "--worker", "--id="+request.GetWorkerId(),
		"--control_endpoint="+request.GetControlEndpoint().GetUrl(),
		"--logging_endpoint="+request.GetLoggingEndpoint().GetUrl())
	worker.Dir = "/"
	if err := worker.Start(); err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	p.workers[request.GetWorkerId()] = worker
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker ends a worker.
func (p *pool) StopWorker(_ context.Context, request *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.end(request.GetWorkerId()); err != nil {
		return &fnpb.StopWorkerResponse{Error: err.Error()}, nil
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// end ends a worker, which waits for that when it has nothing left to do.
func (p *pool) end(id string) error {
	worker := p.workers[id]
	if worker == nil {
		return fmt.Errorf("there is no worker %s", id)
	}
	delete(p.workers, id)
	err := worker.Process.Kill()
	var killed *exec.ExitError
	if waited := worker.Wait(); !errors.As(waited, &killed) {
		err = errors.Join(err, waited)
	}
	return err
}
