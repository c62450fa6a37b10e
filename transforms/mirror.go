package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/sites/mirrors"
)

func init() {
	beam.RegisterDoFn(&totalFn{})
	beam.RegisterDoFn(&pairFn{})
	beam.RegisterDoFn(&mirrorFn{})
}

// Mirror finds the pairs of sites that have much in common and their groups, and writes their rows: PCollection<[]byte> of
// fingerprint and site outcomes to two of outcomes, with all sites by output shard, and with the groups of some of them.
func Mirror(s beam.Scope, job *Job, sketches, sums beam.PCollection) (sites, groups beam.PCollection) {
	s = s.Scope("mirror")
	totalling := mirrors.Totalling{Limits: job.Sites.Limits}
	total := &totalFn{Work: totalling, bundle: job.bundle()}
	sites = sideBySide(s, total, exchange(s.Scope("total"), job, totalling.Delivery(), sketches, sums))
	pairing := mirrors.Pairing{Judging: job.Sites}
	pairs := sideBySide(s, &pairFn{Work: pairing, bundle: job.bundle()}, exchange(s.Scope("pair"), job, pairing.Delivery(), sites))
	grouping := mirrors.Grouping{Judging: job.Sites, Results: job.siteResults(), ForNext: job.Rows.ForNext}
	return sites, sideBySide(s, &mirrorFn{Work: grouping, bundle: job.bundle()}, exchange(s.Scope("group"), job, grouping.Delivery(), pairs, sketches))
}

var mirrorStage = newStage(work.Mirror)

// totalFn adds up the sums of the sites in a range of hashes.
type totalFn struct {
	Work mirrors.Totalling

	bundle
}

func (f *totalFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, mirrorStage, element, &f.Work)
}

// pairFn judges pairs of sites.
type pairFn struct {
	Work mirrors.Pairing

	bundle
}

func (f *pairFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, mirrorStage, element, &f.Work)
}

// mirrorFn makes groups of all mirrors.
type mirrorFn struct {
	Work mirrors.Grouping

	bundle
}

func (f *mirrorFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, mirrorStage, element, &f.Work)
}
