package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/look/plan"
	"mirrorbeam/internal/start/failure"
)

// calibrateCommand compares a plan with the job that followed.
type calibrateCommand struct {
	Folder string `arg:"" name:"dir" help:"The output folder of the job."`
	Plan   string `required:"" placeholder:"FILE" help:"What 'runjob plan --json' has printed of the same input, with the flags of the job."`
	VCPUs  int    `name:"vcpus" placeholder:"N" help:"Cores of all workers together; without it those of this machine."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Validate checks the arguments.
func (c *calibrateCommand) Validate() error {
	if c.VCPUs < 0 {
		return fmt.Errorf("--vcpus %d: must be 1 or more", c.VCPUs)
	}
	return checkArgument("dir", c.Folder)
}

// Run prints what was planned and what it was, and the settings of scripts/scale with which the plan is right.
func (c *calibrateCommand) Run(_ context.Context, out io.Writer) error {
	content, err := os.ReadFile(c.Plan)
	if err != nil {
		return failure.New(failure.Input, fmt.Errorf("--plan: %w", err))
	}
	var advice plan.Advice
	if err := json.Unmarshal(content, &advice); err != nil {
		return failure.New(failure.Input, fmt.Errorf("--plan %s: it is not what 'runjob plan --json' prints: %w", c.Plan, err))
	}
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return failure.New(failure.Input, err)
	}
	cores := c.VCPUs
	if cores == 0 {
		cores = runtime.NumCPU()
	}
	found, err := plan.Calibrate(&advice, &folder.Summary, cores)
	if err != nil {
		return failure.New(failure.Input, fmt.Errorf("--plan %s: %w", c.Plan, err))
	}
	if c.JSON {
		return printJSON(out, found)
	}
	printCalibration(out, &found)
	return nil
}

func printCalibration(w io.Writer, c *plan.Calibration) {
	say(w, "%-26s %12s %12s %6s\n", "", "planned", "real", "times")
	for _, row := range c.Compared {
		times := "?"
		if row.Planned > 0 {
			times = fmt.Sprintf("%.2f", row.Real/row.Planned)
		}
		say(w, "%-26s %12s %12s %6s\n", row.What, amount(row.Planned, row.Unit), amount(row.Real, row.Unit), times)
	}
	settings := fmt.Sprintf("-rate %.3g", c.Rate)
	if c.Busy > 0 {
		settings += fmt.Sprintf(" -busy %.2g", c.Busy)
	}
	if c.Answer > 0 {
		settings += fmt.Sprintf(" -answer %.2g", c.Answer)
	}
	say(w, "for scripts/scale: %s\n", settings)
	if c.Answer == 0 {
		say(w, "The job read from no bucket, so -answer stays a guess.\n")
	}
}

// amount returns an amount with its unit.
func amount(n float64, unit string) string {
	switch unit {
	case "bytes":
		return size(rounded(n))
	case "seconds":
		return fmt.Sprintf("%.1f s", n)
	}
	return count(rounded(n))
}
