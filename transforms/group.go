package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
)

func init() {
	beam.RegisterDoFn(&groupFn{})
	beam.RegisterDoFn(&groupCrowdsFn{})
	beam.RegisterDoFn(&crowdFn{})
}

// Group brings the documents of a key together. It finds the candidate pairs, which form a part of the candidate graph
// for each shard; the stars of identical documents; and the documents that share an id.
//
// A crowd, a group of very many pairs, waits until all crowds are known, if the method has any. The corpus sets a bound
// on pairs: crowds are compared within it, the smallest first. Larger groups are dense. The documents of dense groups
// may be gathered in heaps, and scored there.
//
// It takes the outcomes of Key and Fingerprint, PCollection<[]byte> each, and returns one of outcomes.
func Group(s beam.Scope, job *Job, keys, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("group")
	method := job.method()
	grouping := methods.Grouping{Method: job.Method, Parameters: job.Parameters}
	tasks := exchange(s, job, method.GroupNeeds(), keys)
	found := sideBySide(s, &groupFn{Work: grouping, bundle: job.bundle()}, tasks)
	if method.Crowds == methods.NeverWait {
		return found
	}
	s = s.Scope("crowds")
	tasks = beam.ParDo(s, &crowdFn{Work: method.Crowding(job.Parameters.Bounds), planner: job.planner(s)}, together(s, keys, sketches, found))
	found = beam.Flatten(s, found, sideBySide(s, &groupCrowdsFn{groupFn{Work: grouping, bundle: job.bundle()}}, tasks))
	if method.Crowds != methods.ToHeaps {
		return found
	}
	return beam.Flatten(s, found, heaps(s, job, found, sketches))
}

var groupStage = newStage(work.Group)

// groupFn goes through the groups of a shard.
type groupFn struct {
	Work methods.Grouping

	bundle
}

// groupCrowdsFn goes through the crowds of a shard. It has a type of its own for the reason of [gatherSetsFn].
type groupCrowdsFn struct{ groupFn }

func (f *groupFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, groupStage, element, &f.Work)
}

// crowdFn decides which crowds are compared and makes the tasks that compare them.
type crowdFn struct {
	Work groups.Crowds

	planner
}

func (f *crowdFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, groupStage, elements, emit, f.Work.Plan)
	return err
}
