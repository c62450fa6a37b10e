package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/work"
)

// Mirror finds the pairs of sites that have much in common and their groups, and writes their rows. It takes
// fingerprint and site outcomes, and returns outcomes with all sites by output shard, and with the groups of some.
func Mirror(s beam.Scope, job *Job, sketches, sums beam.PCollection) (sites, groups beam.PCollection) {
	at := job.stage(s, work.Mirror)
	totalling := mirrors.Totalling{Limits: job.Sites.Limits}
	sites = sideBySide(at, &totalFn{newTasks(at, totalling)},
		exchange(at.part("total"), totalling.Delivery(), sketches, sums))
	pairing := mirrors.Pairing{Judging: job.Sites}
	pairs := sideBySide(at, &pairFn{newTasks(at, pairing)}, exchange(at.part("pair"), pairing.Delivery(), sites))
	grouping := mirrors.Grouping{Judging: job.Sites, Results: job.siteResults(), ForNext: job.Rows.ForNext}
	return sites,
		sideBySide(at, &mirrorFn{newTasks(at, grouping)},
			exchange(at.part("group"), grouping.Delivery(), pairs, sketches))
}

// WriteSites writes the rows of all sites: PCollection<[]byte> of the outcomes of Mirror to one of outcomes with the
// files. The outcomes of Fingerprint only say how many documents there are.
func WriteSites(s beam.Scope, job *Job, sketches, sites, groups beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Write).part("sites")
	rows := mirrors.SiteRows{Judging: job.Sites, Results: job.siteResults()}
	return sideBySide(at, &sitesFn{newTasks(at, rows)}, exchange(at, rows.Delivery(), sites, groups, sketches))
}

func init() { declare(&totalFn{}, &pairFn{}, &mirrorFn{}, &sitesFn{}) }

type (
	totalFn  struct{ taskFn[mirrors.Totalling] }
	pairFn   struct{ taskFn[mirrors.Pairing] }
	mirrorFn struct{ taskFn[mirrors.Grouping] }
	sitesFn  struct{ taskFn[mirrors.SiteRows] }
)
