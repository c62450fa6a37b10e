package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/sites/mirrors"
)

// Site sums up what sites have in common: PCollection<[]byte> of outcomes of Group and of Cluster to one of outcomes with sums by range of
// hashes of sites. Only jobs about sites have this stage. Group says which components stand.
func Site(s beam.Scope, job *Job, groups, clusters beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Site)
	pages := job.Fingerprinting.Kept.Pages
	summing := mirrors.Summing{Judging: job.Sites, Rule: pages.Rule, Ranges: pages.Ranges, Notes: job.Rows.Standing.Notes}
	sums := sideBySide(at, &siteFn{newTasks(at, summing)}, exchange(at, summing.Delivery(), clusters))
	if job.Rows.Standing.List == "" {
		return sums
	}
	at = at.part("standing")
	standing := mirrors.Standing{Parts: job.SiteParts, Ranges: pages.Ranges}
	return beam.Flatten(s, sums, sideBySide(at, &standingFn{newTasks(at, standing)}, exchange(at, standing.Delivery(), groups)))
}

// siteFn sums up the clusters of an output shard.
type siteFn struct{ taskFn[mirrors.Summing] }

// standingFn adds what the last run has noted of components that stand.
type standingFn struct{ taskFn[mirrors.Standing] }
