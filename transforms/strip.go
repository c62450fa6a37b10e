package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/work"
)

// Strip takes the shingles that very many documents have out of all sketch blocks. It counts them unless an earlier job
// has. It takes the outcomes of Fingerprint, PCollection<[]byte>, whose blocks are whole, and returns these with its
// own, whose blocks are stripped.
func Strip(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Strip)
	var tasks beam.PCollection
	if job.KnowsCommon {
		tasks = exchange(at, job.whole(common.FirstRound), sketches)
	} else {
		last := common.NewListing(job.whole(common.FirstRound))
		last.Stays = true
		tasks = plan(at, &commonFn{newStep(at, last)}, Common(s, job, sketches), sketches)
	}
	stripping := job.Stripping
	stripping.Law = job.Common
	return beam.Flatten(s, sketches, sideBySide(at, &stripFn{newTasks(at, stripping)}, tasks))
}

func init() { declare(&commonFn{}, &stripFn{}) }

type commonFn struct{ stepFn[common.Listing] }

type stripFn struct{ taskFn[common.Stripping] }
