package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/work"
)

// Trim finds the passages that stand elsewhere before, and says what is cut from documents: PCollection<[]byte> of the
// outcomes of Fingerprint to the outcomes of its own tasks. The last ones come from the tasks that say it.
func Trim(s beam.Scope, job *Job, sketches beam.PCollection) []beam.PCollection {
	at := job.stage(s, work.Trim)
	if job.Trimming.Rule.Unit == trim.Items {
		return []beam.PCollection{sideBySide(at, &matchItemsFn{newTasks(at, trim.Matching{Trimming: job.Trimming})},
			exchange(at, trim.HashingDelivery(), sketches))}
	}
	find, cut := at.part("find"), at.part("cut")
	hashed := sideBySide(at, &hashPassagesFn{newTasks(at, trim.Hashing{Trimming: job.Trimming})},
		exchange(at, trim.HashingDelivery(), sketches))
	found := sideBySide(find, &findRepeatsFn{newTasks(find, trim.Finding{Trimming: job.Trimming})},
		exchange(find, trim.FindingDelivery(), hashed))
	said := sideBySide(cut, &cutPassagesFn{newTasks(cut, trim.Cutting{Trimming: job.Trimming})},
		exchange(cut, trim.CuttingDelivery(), found))
	return []beam.PCollection{hashed, found, said}
}

func init() { declare(&matchItemsFn{}, &hashPassagesFn{}, &findRepeatsFn{}, &cutPassagesFn{}) }

type (
	matchItemsFn   struct{ taskFn[trim.Matching] }
	hashPassagesFn struct{ taskFn[trim.Hashing] }
	findRepeatsFn  struct{ taskFn[trim.Finding] }
	cutPassagesFn  struct{ taskFn[trim.Cutting] }
)
