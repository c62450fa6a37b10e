package main

import (
	"context"
	"encoding/json"
	"os"

	"mirrorbeam/pipeline"
)

// planCommand ranks the ways to find candidates.
type planCommand struct {
	pipeline.PlanConfig
	JSON bool `name:"json" group:"Plan" help:"Print one JSON object."`
}

// Run makes the plan and prints it.
func (c *planCommand) Run(ctx context.Context) error {
	c.Progress = showProgress
	advice, err := pipeline.MakePlan(ctx, c.PlanConfig)
	if err != nil {
		return err
	}
	if !c.JSON {
		return printPlan(os.Stdout, advice)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(advice)
}
