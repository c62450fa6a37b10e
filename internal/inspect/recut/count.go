package recut

import (
	"context"

	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// Count counts what the pairs of a run give from a threshold on, by the rule of the run. It reads rows and writes
// nothing. It is an error if rows do not suffice.
func Count(ctx context.Context, folder *finished.Folder, threshold float64) (counts findings.Counts, err error) {
	c := folder.Summary.Config
	o := Options{Threshold: threshold, Keep: c.Keep, Split: c.Split, Drop: c.Drop}
	if err := check(folder, &o); err != nil {
		return counts, err
	}
	if why := whyInput(folder, o); why != nil {
		return counts, setting.Errorf("rows do not suffice (%w): 'runjob recut' reads the input again", why)
	}
	r, err := read(ctx, folder, o)
	if err != nil {
		return counts, err
	}
	c.Threshold = threshold
	found := &findings.Findings{Totals: findings.Totals{Counts: folder.Summary.Counts.OfInput()}}
	all, _, err := r.shards(found)
	if err != nil {
		return counts, err
	}
	for _, shard := range all {
		if err := decide(ctx, shard, &c, found); err != nil {
			return counts, err
		}
	}
	found.Finish()
	return found.Counts, nil
}

// shards cuts the clusters of the rows into output shards, each with the numbers of its pairs, and counts what is sent
// to these.
func (r *rows) shards(found *findings.Findings) (all []*clusters.Shard, pairs [][]int, err error) {
	all, pairs, err = clusters.Cut(&r.layout, r.members, r.edges, work.OutputShards(found.Counts))
	for _, shard := range all {
		named, sent := shard.Sent()
		found.Counts.NamedByRef, found.Sent = found.Counts.NamedByRef+named, found.Sent+sent
	}
	return all, pairs, err
}

// decide decides what stays of the clusters of a shard, and adds what that gives.
func decide(ctx context.Context, shard *clusters.Shard, c *job.Config, found *findings.Findings) error {
	if err := shard.Decide(c.Rule(), ctx.Err); err != nil {
		return err
	}
	own, err := shard.Findings(c.LeastSimilarity())
	if err == nil {
		findings.Merge(found, own)
	}
	return err
}
