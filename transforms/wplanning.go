package transforms

// Planning is what a step has at hand that sees the outcomes of all tasks before it and
// makes the tasks that come next.
type Planning struct {
	*memory
	Runs Runs
	// Outcomes are in the order of stages and tasks. Counts is the sum of their counts.
	Outcomes []outcome
	Counts   Counts
	// Outcome is what the step puts out itself, for steps that hand it on.
	Outcome outcome
	// Emit puts out a task.
	Emit func(task)
}

// Deliver makes the tasks of a delivery over the runs.
func (p *Planning) Deliver(d delivery, runs []string) error {
	return d.deliver(string(p.Runs.Folder), runs, p.Counts, p.Emit)
}
