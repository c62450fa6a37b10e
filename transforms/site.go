package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/sites/mirrors"
)

func init() {
	beam.RegisterDoFn(&siteFn{})
}

// Site sums up what sites have in common: PCollection<[]byte> of cluster outcomes to one of outcomes with sums by range of
// hashes of sites. Only jobs about sites have this stage.
func Site(s beam.Scope, job *Job, clusters beam.PCollection) beam.PCollection {
	s = s.Scope("site")
	pages := job.Fingerprinting.Kept.Pages
	summing := mirrors.Summing{Judging: job.Sites, Rule: pages.Rule, Ranges: pages.Ranges}
	return sideBySide(s, &siteFn{Work: summing, bundle: job.bundle()}, exchange(s, job, summing.Delivery(), clusters))
}

var siteStage = newStage(work.Site)

// siteFn sums up the clusters of an output shard.
type siteFn struct {
	Work mirrors.Summing

	bundle
}

func (f *siteFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, siteStage, element, &f.Work)
}
