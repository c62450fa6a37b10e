package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime/debug"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/workerpool"
)

type workerPoolCommand struct {
	Listen string `default:"localhost:50000" placeholder:"HOST:PORT"`
	Probe  bool
}

func (c *workerPoolCommand) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %s: must be HOST:PORT, as in localhost:50000", c.Listen)
	}
	return nil
}

// Run serves until the user ends it, which is no fault.
func (c *workerPoolCommand) Run(ctx context.Context, _ io.Writer) error {
	if c.Probe {
		return c.probe(ctx)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, which workers are to run: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return failure.Errorf(failure.Storage, "--listen: %w", err)
	}
	say(os.Stderr, "workers are started at %s\n%s", listener.Addr(), roomOfWorkers(work.Room(os.DirFS("/"))))
	pool := workerpool.Pool{Program: program, Log: os.Stderr, Arguments: func(e workerpool.Endpoints) []string {
		return []string{
			"worker", "--id=" + e.ID, "--control=" + e.Control, "--logging=" + e.Logging,
			"--provision=" + e.Provision,
		}
	}}
	return pool.Serve(ctx, listener)
}

const longestProbe = 5 * time.Second

func (c *workerPoolCommand) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestProbe)
	defer cancel()
	if err := workerpool.Probe(ctx, c.Listen); err != nil {
		return failure.New(failure.Storage, err)
	}
	return nil
}

// roomOfWorkers says how much memory a worker takes if its job has no --worker-memory, and when a job should have one.
func roomOfWorkers(room int64) string {
	if room == 0 {
		return ""
	}
	text := fmt.Sprintf(
		"a worker uses up to %d MiB, three quarters of its limit here; "+
			"--worker-memory of a job changes that\n", room>>20)
	if room < job.AmpleMemory {
		text += fmt.Sprintf("tasks of a job are sized for %d MiB: give jobs --worker-memory %dMiB\n",
			job.AmpleMemory>>20, max(room, job.LeastMemory)>>20)
	}
	return text
}

// keepToRoom makes the collector of a worker work harder as it nears the memory that the process may have. A job that
// says how much changes that, and a user who has set GOMEMLIMIT knows better.
func keepToRoom() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		work.LimitMemory(work.Room(os.DirFS("/")))
	}
}

// workerCommand is what the processes of a worker pool run.
type workerCommand struct {
	ID        string `required:""`
	Control   string `required:"" placeholder:"HOST:PORT"`
	Logging   string `required:"" placeholder:"HOST:PORT"`
	Provision string `placeholder:"HOST:PORT"`
}

// Run works until the engine hangs up, or the pool ends.
func (c *workerCommand) Run(ctx context.Context, _ io.Writer) error {
	keepToRoom()
	return workerpool.Work(ctx, workerpool.Endpoints{
		ID:        c.ID,
		Control:   c.Control,
		Logging:   c.Logging,
		Provision: c.Provision,
	}, os.Stdin)
}
