package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/work"
)

func (j *Job) ranges() union.Ranges { return union.Ranges{Inputs: j.Inputs, Count: j.JoinRanges} }

func (j *Job) finishing() union.Finishing {
	return union.Finishing{Ranges: j.ranges(), GraphBytes: j.RangeBytes}
}

// unionFns join the parts of a graph by many tasks: spread, link and move do what package union does, and unite is the
// step before move. Finish gets the components that begin in a range.
type unionFns struct{ spread, link, unite, move, finish any }

// unite joins the parts of a graph by many tasks, and returns the outcomes of the tasks that finish.
func unite(s stage, parts work.Delivery, fns unionFns, outcomes ...beam.PCollection) beam.PCollection {
	spread, link, move, finish := s.part("spread"), s.part("link"), s.part("move"), s.part("finish")
	nodes := sideBySide(spread, fns.spread, exchange(spread, parts, outcomes...))
	trees := sideBySide(link, fns.link, exchange(link, union.LinkingDelivery(s.job.JoinRanges), nodes))
	moved := sideBySide(move, fns.move, plan(move, fns.unite, append(outcomes, trees)...))
	return sideBySide(finish, fns.finish, exchange(finish, union.ComponentsDelivery(), trees, moved))
}
