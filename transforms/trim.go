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
	find, cut := at.part("find"), at.part("cut")
	hashing := trim.Hashing{
		Rule:      job.Trimming,
		Inputs:    job.Inputs,
		Sketching: job.Fingerprinting.Sketching,
		Ranges:    job.PassageRanges,
		ByFile:    !job.HasSources(),
	}
	hashed := sideBySide(at, &hashPassagesFn{newTasks(at, hashing)}, exchange(at, trim.HashingDelivery(), sketches))

	finding := trim.Finding{Rule: job.Trimming, Inputs: job.Inputs, Held: job.HeldPassages}
	found := sideBySide(find, &findRepeatsFn{newTasks(find, finding)}, exchange(find, trim.FindingDelivery(), hashed))

	cutting := trim.Cutting{
		Rule:      job.Trimming,
		Inputs:    job.Inputs,
		Sketching: job.Fingerprinting.Sketching,
		Held:      job.HeldPassages,
		ByFile:    !job.HasSources(),
	}
	said := sideBySide(cut, &cutPassagesFn{newTasks(cut, cutting)}, exchange(cut, trim.CuttingDelivery(), found))
	return []beam.PCollection{hashed, found, said}
}

func init() { declare(&hashPassagesFn{}, &findRepeatsFn{}, &cutPassagesFn{}) }

type hashPassagesFn struct{ taskFn[trim.Hashing] }

// findRepeatsFn finds the passages of a range of hashes that occur earlier.
type findRepeatsFn struct{ taskFn[trim.Finding] }

// cutPassagesFn says what is cut from the documents of a split.
type cutPassagesFn struct{ taskFn[trim.Cutting] }
