package main

import (
	"context"
	"io"

	"mirrorbeam/pipeline"
)

// planCommand ranks the ways to find candidates.
type planCommand struct {
	pipeline.PlanConfig
	JSON bool `name:"json" group:"Plan" help:"Print one JSON object."`
}

// Run makes the plan and prints it.
func (c *planCommand) Run(ctx context.Context, out io.Writer) error {
	c.Progress = showProgress
	advice, err := pipeline.MakePlan(ctx, c.PlanConfig)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, advice)
	}
	return printPlan(out, advice)
}
