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
		transforms.Write(s, job, clusters, sketches, groups)
		return
	}
	gathered := transforms.Gather(s, job, groups, sketches)
	edges := transforms.Score(s, job, gathered)
	outcomes = append(outcomes, sketches, groups, gathered, edges)
	if job.Fingerprinting.AuditSample > 0 {
		outcomes = append(outcomes, transforms.Audit(s, job, sketches))
	}
	clusters := transforms.Cluster(s, job, outcomes...)
	transforms.Write(s, job, clusters, sketches, groups, edges)
}
