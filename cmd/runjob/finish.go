package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam/pipeline"
	"mirrorbeam/pipeline/workerpool"
)

type finishCommand struct {
	Output  string `arg:"" name:"dir" help:"The output folder of the job."`
	Cancel  bool   `xor:"end" help:"Cancel the job and remove its files."`
	Discard bool   `xor:"end" help:"Remove the files of the job and ask no cluster about it: for a job that the cluster has forgotten. A job that still runs will fail."`
	Report  bool   `xor:"end" help:"When the results are published, write report.html beside them, as 'runjob report' does."`

	logging
}

// Validate checks the argument.
func (c *finishCommand) Validate() error { return checkArgument("dir", c.Output) }

// Run waits for the end of the job and publishes its results, or removes what is left of it.
func (c *finishCommand) Run(ctx context.Context, _ io.Writer) error {
	switch {
	case c.Cancel:
		s, err := pipeline.Cancel(ctx, c.Output, c.progress())
		if err == nil {
			c.note("job %s on %s is cancelled, and its files are removed", s.ID, s.Runner)
		}
		return err
	case c.Discard:
		s, err := pipeline.Discard(ctx, c.Output, c.progress())
		if err == nil {
			c.note("the files of job %s on %s are removed", s.Name, s.Runner)
		}
		return err
	}
	if c.Report {
		if err := checkReportIn(c.Output); err != nil {
			return err
		}
	}
	summary, err := pipeline.Finish(ctx, c.Output, c.progress(), c.watcher())
	if err != nil {
		return err
	}
	c.tell(ctx, &summary)
	return c.report(ctx, c.Report, c.Output)
}

// submit hands the job to a cluster and says how to finish it.
func (c *runCommand) submit(ctx context.Context) error {
	config := c.Config
	config.Runner = *runners.Runner
	s, err := pipeline.Submit(ctx, config)
	if err != nil {
		return err
	}
	c.note("job %s runs on %s: 'runjob finish %s' waits for it and publishes its results; with --cancel it cancels it",
		s.ID, s.Runner, config.Output)
	return nil
}

type workerPoolCommand struct {
	Listen string `default:"localhost:50000" placeholder:"HOST:PORT" help:"Address at which engines ask for workers. Everybody who reaches it can make this machine read and write files: leave it on the loopback, or keep it behind a firewall."`
}

// Validate checks the flags.
func (c *workerPoolCommand) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %s: must be HOST:PORT, as in localhost:50000", c.Listen)
	}
	return nil
}

// Run serves until the user ends it, which is no fault.
func (c *workerPoolCommand) Run(ctx context.Context, _ io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, which workers are to run: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return unwritable{fmt.Errorf("--listen: %w", err)}
	}
	say(os.Stderr, "workers are started at %s\n", listener.Addr())
	pool := workerpool.Pool{Program: program, Arguments: workerArguments, Log: os.Stderr}
	return pool.Serve(ctx, listener)
}

// workerCommand is what the processes of a worker pool run.
type workerCommand struct {
	ID        string `required:"" help:"Name of the worker."`
	Control   string `required:"" placeholder:"HOST:PORT" help:"Where the engine hands out work."`
	Logging   string `required:"" placeholder:"HOST:PORT" help:"Where the engine collects messages."`
	Provision string `placeholder:"HOST:PORT" help:"Where the engine tells the options of the pipeline."`
}

func workerArguments(e workerpool.Endpoints) []string {
	return []string{"worker", "--id=" + e.ID, "--control=" + e.Control, "--logging=" + e.Logging, "--provision=" + e.Provision}
}

// Run works until the engine hangs up, or the pool ends.
func (c *workerCommand) Run(ctx context.Context, _ io.Writer) error {
	return workerpool.Work(ctx, workerpool.Endpoints{ID: c.ID, Control: c.Control, Logging: c.Logging, Provision: c.Provision}, os.Stdin)
}
