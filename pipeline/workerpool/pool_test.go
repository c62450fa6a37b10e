package workerpool

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// served is a pool that serves, whose workers are shells, as an engine sees it.
type served struct {
	fnpb.BeamFnExternalWorkerPoolClient
	t    *testing.T
	told string // the file of its log
	end  context.CancelFunc
	// err is what Serve returns.
	err chan error
}

// serve serves a pool. A worker runs the script by a shell.
func serve(t *testing.T, shell, script string) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &served{
		BeamFnExternalWorkerPoolClient: fnpb.NewBeamFnExternalWorkerPoolClient(connection),
		t:                              t,
		told:                           log.Name(),
		end:                            end,
		err:                            make(chan error, 1),
	}
	pool := Pool{Program: shell, Log: log, Arguments: func(e Endpoints) []string {
		return []string{"-c", script, e.ID, e.Control, e.Logging, e.Provision}
	}}
	go func() {
		s.err <- pool.Serve(ctx, listener)
		close(s.err)
	}()
	t.Cleanup(func() {
		end()
		if err := errors.Join(connection.Close(), <-s.err, log.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start asks for a worker and returns the answer.
func (s *served) start(id, control string) string {
	s.t.Helper()
	at := func(address string) *pipepb.ApiServiceDescriptor { return &pipepb.ApiServiceDescriptor{Url: address} }
	response, err := s.StartWorker(s.t.Context(), &fnpb.StartWorkerRequest{
		WorkerId:          id,
		ControlEndpoint:   at(control),
		LoggingEndpoint:   at("log:1"),
		ProvisionEndpoint: at("options:1"),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return response.GetError()
}

// stop asks to stop a worker.
func (s *served) stop(id string) {
	s.t.Helper()
	if _, err := s.StopWorker(s.t.Context(), &fnpb.StopWorkerRequest{WorkerId: id}); err != nil {
		s.t.Error(err)
	}
}

// waitFor waits until the log has a text.
func (s *served) waitFor(text string) {
	s.t.Helper()
	content := []byte(nil)
	for range 400 {
		if content, _ = os.ReadFile(s.told); strings.Contains(string(content), text) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Errorf("the log has no %q: %s", text, content)
}

// TestPool: workers start with what the engine has said, and end with the pool. Engines that count from one have
// workers of one name.
func TestPool(t *testing.T) {
	s := serve(t, "/bin/sh", `echo "$0 of $1, $2, $3"; read line`)
	for _, control := range []string{"a:1", "b:1"} {
		if said := s.start("1", control); said != "" {
			t.Error(said)
		}
		s.waitFor("1 of " + control + ", log:1, options:1")
	}
	if said := s.start("1", "a:1"); !strings.Contains(said, "worker 1 of a:1 runs already") {
		t.Errorf("a worker that is there: %q", said)
	}
	s.stop("1") // one engine needs its worker no longer, and nobody knows which
	if said := s.start("2", "a:1"); said != "" {
		t.Error(said)
	}
	s.stop("2")
	s.waitFor("worker 2 of a:1: ended")
	for _, control := range []string{"a:1", "b:1"} {
		if said := s.start("1", control); !strings.Contains(said, "runs already") {
			t.Errorf("the worker of %s was ended: %q", control, said)
		}
	}
	s.end()
	if err := <-s.err; err != nil {
		t.Error(err)
	}
	for _, control := range []string{"a:1", "b:1"} {
		s.waitFor("worker 1 of " + control + ": ended")
	}
}

// TestStopped: a worker that nobody needs is ended.
func TestStopped(t *testing.T) {
	s := serve(t, "/bin/sh", `read line`)
	if said := s.start("1", "a:1"); said != "" {
		t.Fatal(said)
	}
	s.stop("another")
	s.stop("1")
	s.waitFor("worker 1 of a:1: ended")
}

// TestFailed: the log tells of a worker that fails by itself, and the engine of one that cannot start.
func TestFailed(t *testing.T) {
	s := serve(t, "/bin/sh", `echo "out of luck" >&2; exit 3`)
	if said := s.start("1", "a:1"); said != "" {
		t.Error(said)
	}
	s.waitFor("out of luck")
	s.waitFor("worker 1 of a:1: failed: exit status 3")
	s = serve(t, filepath.Join(t.TempDir(), "absent"), "")
	if said := s.start("2", "a:1"); !strings.Contains(said, "start worker 2 of a:1") ||
		!strings.Contains(said, "no such file") {
		t.Errorf("a program that is not there: %q", said)
	}
	s.waitFor("worker 2 of a:1: not started")
}

// TestServeFails: a pool that cannot listen says where.
func TestServeFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	pool := Pool{Log: io.Discard}
	if err := pool.Serve(t.Context(), listener); err == nil ||
		!strings.Contains(err.Error(), listener.Addr().String()) {
		t.Errorf("error %v", err)
	}
}

// TestWorkEnds: a worker ends without a fault when its lifeline does, and says whom it could not ask.
func TestWorkEnds(t *testing.T) {
	gone, holder := io.Pipe()
	holder.Close()
	if err := Work(t.Context(), Endpoints{ID: "1", Control: "127.0.0.1:1", Logging: "127.0.0.1:1"}, gone); err != nil {
		t.Errorf("a worker whose pool is gone: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := provision(ended, "127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "ask 127.0.0.1:1 for the options of the pipeline") {
		t.Errorf("error %v", err)
	}
	if options, err := provision(t.Context(), ""); err != nil || options.StatusEndpoint != "" {
		t.Errorf("without an address: %+v, %v", options, err)
	}
}
