package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
)

func init() {
	beam.RegisterDoFn(&keyFn{})
	beam.RegisterDoFn(&orderFn{})
}

// Key spreads the keys of all documents over shards: it takes the outcomes of Fingerprint
// and, if the method needs an order of shingles, of Spread and Count, PCollection<[]byte>
// each, and returns one of outcomes with key runs.
func Key(s beam.Scope, job *Job, sketches beam.PCollection, counts ...beam.PCollection) beam.PCollection {
	s = s.Scope("key")
	var tasks beam.PCollection
	if method := job.method(); method.Ordered {
		s := s.Scope("order")
		order := methods.Ordering{Method: job.Method, Parameters: job.Parameters}
		tasks = beam.ParDo(s, &orderFn{Work: order, planner: job.planner(s)}, together(s, append(counts, sketches)...))
	} else {
		tasks = exchange(s, job, method.Needs(), sketches)
	}
	return sideBySide(s, &keyFn{Work: methods.Keying{Method: job.Method, Parameters: job.Parameters}, bundle: job.bundle()}, tasks)
}

var keyStage = newStage(work.Key)

// orderFn makes an order of the shingles, and the tasks that make keys in this order.
type orderFn struct {
	Work methods.Ordering

	planner
}

func (f *orderFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, keyStage, elements, emit, f.Work.Plan)
	return err
}

// keyFn makes the keys of the documents of a split.
type keyFn struct {
	Work methods.Keying

	bundle
}

func (f *keyFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, keyStage, element, &f.Work)
}
