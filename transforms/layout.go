package transforms

import (
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// LayOut lays out the graph of the job, from the input to the results.
func LayOut(s beam.Scope, job *Job) { layOut(s, job, Read(s, job)) }

// layOut lays out the graph from the tasks that read the splits. It returns the outcomes that name rows.
func layOut(s beam.Scope, job *Job, splits beam.PCollection) beam.PCollection {
	sketches := Fingerprint(s, job, splits)
	if !job.Common.IsOff() {
		sketches = Strip(s, job, sketches)
	}
	var trims []beam.PCollection
	if slices.Contains(job.Rows.Emit, output.Trimmed) || slices.Contains(job.Rows.Emit, output.Passages) {
		trims = Trim(s, job, sketches)
	}
	pruned := sketches
	if job.Parameters.Pruned {
		pruned = Prune(s, job, sketches)
	}
	var counts []beam.PCollection
	if job.method.Ordered { // keys depend on an order of all shingles
		spread := Spread(s, job, pruned)
		counts = append(counts, spread, Count(s, job, spread))
	}
	keys := Key(s, job, pruned, counts...)
	groups := Group(s, job, keys, pruned)
	var outcomes []beam.PCollection
	if job.HasSources() {
		outcomes = append(outcomes, Source(s, job, sketches))
	}
	if job.scorer.Reads == methods.Nothing { // pairs are scored as soon as they meet
		clusters := Cluster(s, job, append(outcomes, pruned, groups)...)
		return Write(s, job, clusters, sketches, groups, trims, sites(s, job, sketches, clusters)...)
	}
	scored := pruned
	if !job.Common.IsOff() {
		scored = sketches // which have the common shingles apart
	}
	gathered := Gather(s, job, groups, scored)
	edges := Score(s, job, scored, gathered)
	outcomes = append(outcomes, pruned, groups, gathered, edges)
	if job.auditSample() > 0 {
		audited := sketches
		if job.Parameters.Pruned {
			audited = beam.Flatten(s, sketches, pruned)
		}
		outcomes = append(outcomes, Audit(s, job, audited))
	}
	clusters := Cluster(s, job, outcomes...)
	return Write(s, job, clusters, sketches, groups, trims, append(sites(s, job, sketches, clusters), edges)...)
}

// sites lays out what finds mirrors among sites, and writes it, if the job is about sites. It returns the outcomes.
func sites(s beam.Scope, job *Job, sketches, clusters beam.PCollection) []beam.PCollection {
	if job.Fingerprinting.Kept.Pages.Rule == "" {
		return nil
	}
	sums := []beam.PCollection{Site(s, job, clusters)}
	if job.Fingerprinting.Kept.Pages.Watched {
		sums = append(sums, Guard(s, job, sketches))
	}
	totals, groups := Mirror(s, job, sketches, sums...)
	return append(sums, totals, groups, WriteSites(s, job, sketches, totals, groups))
}
