package main

import (
	"fmt"
	"io"

	"mirrorbeam/internal/look/plan"
)

// printStages prints what each stage of a choice reads and writes of the temporary files.
func printStages(w io.Writer, c *plan.Choice) {
	if len(c.Stages) == 0 {
		return
	}
	say(w, "\n  %-11s %9s %9s %9s %9s   of temporary files\n", "stage", "tasks", "pieces", "read", "written")
	line := func(s plan.Stage) {
		say(w, "  %-11s %9s %9s %9s %9s\n", s.Name, short(s.Tasks), short(s.Pieces), size(rounded(s.ReadBytes)), size(rounded(s.WrittenBytes)))
	}
	all := plan.Stage{Name: "in all"}
	for _, s := range c.Stages {
		line(s)
		all.Tasks += s.Tasks
		all.Pieces += s.Pieces
		all.ReadBytes += s.ReadBytes
		all.WrittenBytes += s.WrittenBytes
	}
	line(all)
	wrapped(w, "In a bucket they take about %s requests to read and %s to write: %s at the list prices of Cloud Storage and S3.",
		short(c.Requests.Reads), short(c.Requests.Writes), dollars(c.Requests.Dollars))
}

// dollars writes a sum.
func dollars(sum float64) string {
	if sum < 0.01 {
		return "less than a cent"
	}
	return fmt.Sprintf("$%.2f", sum)
}
