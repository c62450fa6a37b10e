package work

import "mirrorbeam/internal/carry/findings"

// Planning is what a step gets that sees the outcomes of all earlier tasks and makes the next tasks.
type Planning struct {
	*Memory
	Runs Runs
	// Outcomes are in the order of stages and tasks. Counts is the sum of their counts.
	Outcomes []Outcome
	Counts   findings.Counts
	// Outcome is the step's own outcome, for steps that emit one.
	Outcome Outcome
	// Emit emits a task.
	Emit func(Task)
}

// Deliver makes the tasks of a delivery over the runs.
func (p *Planning) Deliver(d Delivery, runs []string) error {
	return d.Deliver(string(p.Runs.Folder), runs, p.Counts, p.Emit)
}
