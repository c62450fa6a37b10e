package main

import (
	"context"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam.dev/pipeline"
)

type finishCommand struct {
	Output  string `arg:"" name:"dir"`
	Cancel  bool   `xor:"end"`
	Discard bool   `xor:"end"`
	Report  bool   `xor:"end"`

	logging
}

func (c *finishCommand) Validate() error { return checkArgument("dir", c.Output) }

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
