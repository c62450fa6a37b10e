package plan

import (
	"math"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
)

// Scaled returns the work of a job on a corpus that is factor times as large and otherwise alike: a document has as many
// shingles, keys and near-duplicates. The temporary files are in a bucket. The job is cut for processes that aim to stay
// below memory bytes, 0 for ample, and work on so many tasks at a time.
func (w *Work) Scaled(factor float64, memory int64, tasks int) Work {
	s := *w
	for _, amount := range []*float64{
		&s.Documents, &s.Bytes, &s.Shingles, &s.IDs, &s.IDBytes, &s.Rejected, &s.Signature, &s.Weighed, &s.Records, &s.RecordBytes,
		&s.Gathered, &s.GatheredShingles, &s.Listed, &s.Candidates, &s.Scanned, &s.Edges, &s.Identical, &s.Ordered, &s.Blocks,
	} {
		*amount *= factor
	}
	bytes := int64(s.Bytes)
	sizing := job.PlanMemory(memory, bytes, tasks)
	s.Splits = math.Ceil(s.Bytes / float64(listing.SplitBytes(bytes)))
	s.Shards, s.Outputs = float64(sizing.Shards), float64(work.OutputShards(findings.Counts{Documents: int64(s.Documents)}))
	s.Lanes, s.RunBytes, s.PlaceBytes = float64(tasks), 0, float64(sizing.PlaceBytes)
	if s.Drawn > 0 {
		s.setAside(audit.UsualSample, bytes)
	}
	return s
}

// setAside adds the work of an audit that samples so many documents of a corpus of so many bytes of text.
func (w *Work) setAside(sample int, bytes int64) {
	shares := audit.NewShares(sample, bytes)
	w.Probed = w.Shingles * shares.Probed
	// The sample is drawn from documents that are set aside, and so are those that are looked at, unless all are.
	share := shares.Sampled
	if shares.Probed < 1 {
		share = shares.Probed
	}
	w.SetAside = w.Shingles * share
	drawn := float64(shares.Elements(int64(w.Shingles))) * w.Documents / max(w.Shingles, 1)
	w.Drawn = min(float64(sample), drawn, w.Documents*shares.Sampled)
}
