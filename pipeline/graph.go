package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/transforms"
)

// graphOf returns the pipeline of a job.
func graphOf(job *transforms.Job) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	layOut(s, job)
	return p
}

// layOut lays out the graph of the job, from the input to the results.
func layOut(s beam.Scope, job *transforms.Job) {
	splits := transforms.Read(s, job)
	sketches := transforms.Fingerprint(s, job, splits)
	var counts []beam.PCollection
	if job.IsOrdered() {
		spread := transforms.Spread(s, job, sketches)
		counts = append(counts, spread, transforms.Count(s, job, spread))
	}
	keys := transforms.Key(s, job, sketches, counts...)
	groups := transforms.Group(s, job, keys, sketches)
	var outcomes []beam.PCollection
	if job.HasSources() {
		outcomes = append(outcomes, transforms.Source(s, job, sketches))
	}
	if !job.IsScored() {
		clusters := transforms.Cluster(s, job, append(outcomes, sketches, groups)...)
		transforms.Write(s, job, clusters, sketches, append(sites(s, job, sketches, clusters), groups)...)
		return
	}
	gathered := transforms.Gather(s, job, groups, sketches)
	edges := transforms.Score(s, job, gathered)
	outcomes = append(outcomes, sketches, groups, gathered, edges)
	if job.Fingerprinting.AuditSample > 0 {
		outcomes = append(outcomes, transforms.Audit(s, job, sketches))
	}
	clusters := transforms.Cluster(s, job, outcomes...)
	transforms.Write(s, job, clusters, sketches, append(sites(s, job, sketches, clusters), groups, edges)...)
}

// sites lays out what finds mirrors among sites, and writes it, if the job is about sites. It returns the outcomes.
func sites(s beam.Scope, job *transforms.Job, sketches, clusters beam.PCollection) []beam.PCollection {
	if !job.HasPages() {
		return nil
	}
	sums := transforms.Site(s, job, clusters)
	totals, groups := transforms.Mirror(s, job, sketches, sums)
	return []beam.PCollection{sums, totals, groups, transforms.WriteSites(s, job, sketches, totals, groups)}
}
