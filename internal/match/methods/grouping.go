package methods

import (
	"context"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/measure/documents"
)

// GroupNeeds returns which records the tasks of a [Grouping] get.
func (m *Method) GroupNeeds() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{m.Records, allRecords, records.IDs}}
}

// Crowding returns the step that decides about crowds. There is nothing to decide if they [NeverWait].
func (m *Method) Crowding(bounds groups.Bounds) groups.Crowds {
	return groups.Crowds{Bounds: bounds, Exact: m.Exact, Stars: m.Crowds == ToStars}
}

// Grouping brings the documents of a shard of keys together. In a shard of ids, it finds the documents that share an
// id.
type Grouping struct {
	Method Name
	Parameters

	method, small *Method
	layout        documents.Layout
}

// Setup prepares the tasks.
func (g *Grouping) Setup() (err error) {
	if g.method, err = mustOf(g.Method); err != nil {
		return err
	}
	if g.small, err = mustOf(All); err != nil {
		return err
	}
	if err = g.layout.Read(string(g.Inputs)); err != nil {
		return err
	}
	g.settled, err = groups.NewSettled(string(g.Verdicts), g.layout.Inputs.Unchanged())
	return err
}

// Task goes through a shard: for the first time or, in [groups.CrowdsStep], through the crowds that have waited.
func (g *Grouping) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	if t.Step == groups.CrowdsStep {
		return g.method.keyed(&g.Parameters, &g.layout).Crowds(w, t)
	}
	m := g.method
	if w.Has(g.small.Records) {
		m = g.small
	}
	if err := m.Group(ctx, &g.Parameters, &g.layout, t.Number, w); err != nil {
		return err
	}
	return groups.RepeatedIDs(w, &g.layout)
}
