package main

import (
	"bufio"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// fakeEngine is an engine that has no work for its workers.
type fakeEngine struct {
	fnpb.UnimplementedBeamFnControlServer

	address string
	server  *grpc.Server
	came    chan string // ids of workers that have connected
	gone    chan string // ids of workers whose connections have ended
}

func startEngine(t *testing.T) *fakeEngine {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &fakeEngine{
		address: listener.Addr().String(),
		server:  grpc.NewServer(),
		came:    make(chan string, 8),
		gone:    make(chan string, 8),
	}
	fnpb.RegisterBeamFnControlServer(e.server, e)
	go func() { _ = e.server.Serve(listener) }() // ends with Stop
	t.Cleanup(e.server.Stop)
	return e
}

// Control holds a worker until it goes or the engine is stopped.
func (e *fakeEngine) Control(stream fnpb.BeamFnControl_ControlServer) error {
	known, _ := metadata.FromIncomingContext(stream.Context())
	id := strings.Join(known.Get("worker_id"), ",")
	e.came <- id
	<-stream.Context().Done()
	e.gone <- id
	return nil
}

// next returns what comes from a channel, which it must do soon.
func next(t *testing.T, what string, from <-chan string) string {
	t.Helper()
	select {
	case id := <-from:
		return id
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: nothing within 30 s", what)
		return ""
	}
}

// none checks that nothing comes from a channel.
func none(t *testing.T, what string, from <-chan string) {
	t.Helper()
	select {
	case id := <-from:
		t.Fatalf("%s: worker %s", what, id)
	case <-time.After(200 * time.Millisecond):
	}
}

// pool is a worker pool in a process of its own.
type pool struct {
	*started
	t       *testing.T
	address string
	client  fnpb.BeamFnExternalWorkerPoolClient
}

func startPool(t *testing.T) *pool {
	j := newScene(t).command("runjob", "worker-pool", "--listen", "127.0.0.1:0")
	j.Stderr = nil
	said, err := j.StderrPipe()
	if err == nil {
		err = j.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	lines.Scan()
	address := strings.TrimPrefix(lines.Text(), "workers are started at ")
	go func() {
		for lines.Scan() { // until the last process has closed it
		}
	}()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return &pool{j, t, address, fnpb.NewBeamFnExternalWorkerPoolClient(connection)}
}

// start asks for a worker, and returns why there is none.
func (p *pool) start(id string, e *fakeEngine) string {
	p.t.Helper()
	at := &pipepb.ApiServiceDescriptor{Url: e.address}
	answer, err := p.client.StartWorker(p.t.Context(), &fnpb.StartWorkerRequest{
		WorkerId:        id,
		ControlEndpoint: at,
		LoggingEndpoint: at,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.GetError()
}

func (p *pool) stop(id string) {
	p.t.Helper()
	if answer, err := p.client.StopWorker(p.t.Context(), &fnpb.StopWorkerRequest{WorkerId: id}); err != nil ||
		answer.GetError() != "" {
		p.t.Fatalf("%v, %s", err, answer.GetError())
	}
}

// workers starts a worker of the same id for each engine.
func (p *pool) workers(id string, engines ...*fakeEngine) {
	p.t.Helper()
	for _, e := range engines {
		if fault := p.start(id, e); fault != "" {
			p.t.Fatal(fault)
		}
		if got := next(p.t, "a new worker", e.came); got != id {
			p.t.Fatalf("worker %s came, want %s", got, id)
		}
	}
}

// TestWorkerPool: two engines may have workers of the same id, and none is taken for the other.
func TestWorkerPool(t *testing.T) {
	p, one, two := startPool(t), startEngine(t), startEngine(t)
	p.workers("1-1", one, two)
	if fault := p.start("1-1", one); !strings.Contains(fault, "runs already") {
		t.Errorf("a second worker 1-1 of one engine: %q", fault)
	}
	p.stop("1-1")
	none(t, "one of two was stopped, and nobody knows which", one.gone)
	none(t, "one of two was stopped, and nobody knows which", two.gone)
	p.stop("1-1")
	next(t, "both were stopped", one.gone)
	next(t, "both were stopped", two.gone)
	p.stop("1-1") // there is none any more, which is no fault

	// The name is free again, once the process has ended.
	for fault := "runs already"; fault != ""; fault = p.start("1-1", one) {
		if !strings.Contains(fault, "runs already") {
			t.Fatal(fault)
		}
		time.Sleep(10 * time.Millisecond)
	}
	next(t, "a worker of the same name", one.came)

	// An engine that dies takes its worker along, and no other.
	p.workers("1-2", two)
	one.server.Stop()
	next(t, "the engine has died", one.gone)
	none(t, "another engine has died", two.gone)

	if code, message := newScene(t).command(
		"runjob", "worker-pool", "--probe", "--listen", p.address,
	).ends(); code != exitDone {
		t.Errorf("a probe of the pool: exit code %d: %s", code, message)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	next(t, "the pool has ended", two.gone)
	if code, message := newScene(t).command("runjob", "worker-pool", "--probe", "--listen", p.address).ends(); code !=
		exitStorage || !strings.Contains(message, "no worker pool answers at "+p.address) {
		t.Errorf("a probe of a pool that has ended: exit code %d: %s", code, message)
	}
}

// TestWorkerPoolKilled: no worker outlives a pool that was killed.
func TestWorkerPoolKilled(t *testing.T) {
	p, e := startPool(t), startEngine(t)
	p.workers("1", e)
	p.workers("2", e)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	next(t, "the pool was killed", e.gone)
	next(t, "the pool was killed", e.gone)
	_ = p.Wait() // it was killed
}

// TestRoomOfWorkers: a pool with little memory says which flag its jobs need, and that one is accepted.
func TestRoomOfWorkers(t *testing.T) {
	for _, test := range []struct {
		room int64
		want string
	}{
		{0, ""},
		{3 << 30, "up to 3072 MiB"},
		{768 << 20, "give jobs --worker-memory 768MiB\n"},
		{48 << 20, "give jobs --worker-memory 100MiB\n"},
	} {
		t.Run(test.want, func(t *testing.T) {
			got := roomOfWorkers(test.room)
			if !strings.Contains(got, test.want) || (got == "") != (test.want == "") ||
				strings.Contains(got, "give jobs") != strings.Contains(test.want, "give jobs") {
				t.Errorf("%d bytes: %q, want %q", test.room, got, test.want)
			}
		})
	}
}

// TestKeepToRoom: the limit of the user stays.
func TestKeepToRoom(t *testing.T) {
	before := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(before)
	if keepToRoom(); debug.SetMemoryLimit(-1) != 1<<40 {
		t.Error("the limit of the user is gone")
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if keepToRoom(); runtime.GOOS == "linux" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		t.Error("no limit follows from the machine")
	}
}
