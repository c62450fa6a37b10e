package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/work"
)

// Key spreads the keys of all documents over shards: it takes the outcomes of Fingerprint and, for an order of
// shingles, of Spread and Count, PCollection<[]byte> each, and returns one of outcomes with key runs.
func Key(s beam.Scope, job *Job, sketches beam.PCollection, counts ...beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Key)
	var tasks beam.PCollection
	if method := job.method; method.Ordered {
		at := at.part("order")
		order := methods.Ordering{Method: job.Method, Parameters: job.Parameters}
		tasks = plan(at, &orderFn{newStep(at, order)}, append(counts, sketches)...)
	} else {
		tasks = exchange(at, method.Needs(job.Parameters.Shards), sketches)
	}
	return sideBySide(at, &keyFn{newTasks(at, methods.Keying{Method: job.Method, Parameters: job.Parameters})}, tasks)
}

func init() { declare(&orderFn{}, &keyFn{}) }

type orderFn struct{ stepFn[methods.Ordering] }

type keyFn struct{ taskFn[methods.Keying] }
