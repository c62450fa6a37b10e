package methods

import (
	"context"

	"mirrorbeam/internal/carry/work"
)

// Ordering makes the tasks of a [Keying] that make keys of rare shingles first.
type Ordering struct {
	Method Name
	Parameters
}

// Plan makes the tasks: as the method makes them or, for a small corpus, tasks that compare all pairs.
func (o *Ordering) Plan(_ context.Context, p *work.Planning) error {
	name, step := o.Method, 0
	if o.isSmall(p.Counts) {
		name, step = All, allPairsStep
	}
	m, err := mustOf(name)
	if err != nil {
		return err
	}
	p.Runs.ReleaseStage(p.Outcomes, work.Spread)
	d := m.Needs()
	d.Step = step
	return p.Deliver(d, work.RunsBut(p.Outcomes, work.Spread))
}
