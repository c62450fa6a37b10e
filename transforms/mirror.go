package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/work"
)

// Guard compares all pages with the pages of protected sites: PCollection<[]byte> of fingerprint outcomes to one of
// outcomes with the copies by range of hashes of the protected sites. Only jobs with protected sites have this stage.
func Guard(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at, pages := job.stage(s, work.Guard), job.Fingerprinting.Kept.Pages
	guarding := mirrors.Guarding{Judging: job.Sites, Rule: pages.Rule}
	found := sideBySide(at, &guardFn{newTasks(at, guarding)}, exchange(at, guarding.Delivery(), sketches))
	watch := at.part("watch")
	watching := mirrors.Watching{
		Judging: job.Sites,
		Rule:    pages.Rule,
		Ranges:  pages.Ranges,
		State:   job.Watch,
		ForNext: job.Rows.ForNext,
	}
	return sideBySide(watch, &watchFn{newTasks(watch, watching)},
		plan(watch, &guardsFn{newStep(watch, mirrors.GuardListing{})}, found, sketches))
}

// Mirror finds the pairs of sites that have much in common and their groups, and writes their rows. It takes
// fingerprint, site and guard outcomes, and returns outcomes with all sites by output shard, and with the groups of
// some.
func Mirror(s beam.Scope, job *Job, sketches beam.PCollection,
	sums ...beam.PCollection,
) (sites, groups beam.PCollection) {
	at := job.stage(s, work.Mirror)
	totalling := mirrors.Totalling{Limits: job.Sites.Limits}
	sites = sideBySide(at, &totalFn{newTasks(at, totalling)},
		exchange(at.part("total"), totalling.Delivery(), append(sums, sketches)...))
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

func init() {
	declare(&guardFn{}, &guardsFn{}, &watchFn{}, &totalFn{}, &pairFn{}, &mirrorFn{}, &sitesFn{})
}

type (
	guardFn  struct{ taskFn[mirrors.Guarding] }
	guardsFn struct{ stepFn[mirrors.GuardListing] }
	watchFn  struct{ taskFn[mirrors.Watching] }
	totalFn  struct{ taskFn[mirrors.Totalling] }
	pairFn   struct{ taskFn[mirrors.Pairing] }
	mirrorFn struct{ taskFn[mirrors.Grouping] }
	sitesFn  struct{ taskFn[mirrors.SiteRows] }
)
