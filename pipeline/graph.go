package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/transforms"
)

// graph lays out the job: the way of the data from the input to the results.
func graph(s beam.Scope, job transforms.Job) {
	splits := transforms.Read(s, job)
	sketches := transforms.Fingerprint(s, job, splits)
	var counts []beam.PCollection
	if job.Keys == transforms.ExactKeys {
		counts = append(counts, transforms.Count(s, job, sketches))
	}
	keys := transforms.Key(s, job, sketches, counts...)
	groups := transforms.Group(s, job, keys)
	gathered := transforms.Gather(s, job, groups, sketches)
	edges := transforms.Score(s, job, gathered)
	var audit []beam.PCollection
	if job.AuditSample > 0 {
		audit = append(audit, transforms.Audit(s, job, sketches))
	}
	clusters := transforms.Cluster(s, job, groups, edges, sketches, gathered, audit...)
	transforms.Write(s, job, clusters, sketches, groups, edges)
}
