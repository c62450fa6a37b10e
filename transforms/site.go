package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/work"
)

// Site sums up what sites have in common: PCollection<[]byte> of outcomes of Cluster to one of outcomes with sums by
// range of hashes of sites. Only jobs about sites have this stage.
func Site(s beam.Scope, job *Job, clusters beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Site)
	pages := job.Fingerprinting.Kept.Pages
	summing := mirrors.Summing{Judging: job.Sites, Rule: pages.Rule, Ranges: pages.Ranges}
	return sideBySide(at, &siteFn{newTasks(at, summing)}, exchange(at, summing.Delivery(), clusters))
}

func init() { declare(&siteFn{}) }

type siteFn struct{ taskFn[mirrors.Summing] }
