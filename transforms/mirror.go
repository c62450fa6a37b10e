package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/work"
)

// Mirror finds the pairs of sites that have much in common and their groups, and writes their rows: PCollection<[]byte>
// of fingerprint and site outcomes to two of outcomes, with all sites by output shard, and with the groups of some of
// them.
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

func init() { declare(&totalFn{}, &pairFn{}, &mirrorFn{}) }

// totalFn adds up the sums of the sites in a range of hashes.
type totalFn struct{ taskFn[mirrors.Totalling] }

type pairFn struct{ taskFn[mirrors.Pairing] }

type mirrorFn struct{ taskFn[mirrors.Grouping] }
