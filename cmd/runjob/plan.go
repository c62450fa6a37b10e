package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"mirrorbeam/internal/look/plan"
)

// planCommand ranks the ways to find candidates.
type planCommand struct {
	plan.Config `kong:"-"`
	configFile
	JSON bool `name:"json" group:"Plan" help:"Print one JSON object."`
}

// BeforeApply notes which settings are given, before they are checked.
func (c *planCommand) BeforeApply(parsed *kong.Context) error {
	c.Given = given(parsed, measureFlags(&c.Measure))
	return nil
}

// Run makes the plan and prints it.
func (c *planCommand) Run(ctx context.Context, out io.Writer) error {
	c.Progress = showProgress
	stdin, remove, err := spoolStdin(ctx, c.Input, c.Reference)
	if err != nil {
		return err
	}
	defer remove()
	c.Stdin = stdin
	advice, err := plan.Make(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, advice)
	}
	return printPlan(out, advice)
}
