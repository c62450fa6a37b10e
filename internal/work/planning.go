package work

// Planning is what a step has at hand that sees the outcomes of all tasks before it and
// makes the tasks that come next.
type Planning struct {
	*Memory
	Runs Runs
	// Outcomes are in the order of stages and tasks. Counts is the sum of their counts.
	Outcomes []Outcome
	Counts   Counts
	// Outcome is what the step puts out itself, for steps that hand it on.
	Outcome Outcome
	// Emit puts out a task.
	Emit func(Task)
}

// Deliver makes the tasks of a delivery over the runs.
func (p *Planning) Deliver(d Delivery, runs []string) error {
	return d.Deliver(string(p.Runs.Folder), runs, p.Counts, p.Emit)
}
