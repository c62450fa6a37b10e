package groups

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Equals brings only equal documents together. It serves where all pairs of a corpus are compared.
type Equals struct {
	FirstInput docref.Ref
	// Shards is the number of shards over which the keys are spread.
	Shards int

	large large
}

// Shard writes the stars of equal documents of a shard, and its distinct documents.
func (e *Equals) Shard(w *work.TaskContext, shard int) error {
	equal := Stars{run: &w.Run, part: shard, shard: shard, shards: e.Shards, large: e.large}
	var failed error
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64,
		FirstInput:     e.FirstInput,
		Stopped:        func() bool { return stopped(w, &failed) },
		Candidate:      func(_, _ *candidates.Record) {},
		Identical:      func(first, other *candidates.Record) { failed = cmp.Or(failed, equal.add(first, other)) },
	}
	distinct := graphs.Node(0)
	sorting := sorting{
		kind:      records.Digests,
		shard:     shard,
		shards:    e.Shards,
		held:      e.large.records,
		premerger: &premerger{stars: &equal, firstInput: e.FirstInput},
	}
	return sorting.read(w, func(keys []candidates.Record) error {
		if distinct, failed = e.writeDistinct(&w.Run, shard, keys, distinct); failed == nil {
			g.Groups(keys)
		}
		return failed
	})
}

// writeDistinct writes the first document under each key as a node. Each of these is compared with every other. The
// second document of its class, if any, is a node joined to it; see [candidates.Class]. Next is the number of the next
// node.
func (e *Equals) writeDistinct(run *runfile.Writer, shard int, keys []candidates.Record,
	next graphs.Node,
) (graphs.Node, error) {
	for class := range graphs.Runs(keys, func(a, b *candidates.Record) bool { return a.Digest == b.Digest }) {
		first := &class[0]
		if first.Size == 0 {
			continue
		}
		second := slices.IndexFunc(class, func(r candidates.Record) bool {
			return r.Side != first.Side || first.Ref < e.FirstInput && r.Ref >= e.FirstInput
		})
		center := next
		for _, i := range []int{0, second} {
			if i < 0 {
				continue
			}
			if err := records.WriteNode(run, records.Distinct, shard, records.Node{
				Ref:    class[i].Ref,
				Weight: first.Size,
				Parent: center,
			}); err != nil {
				return next, err
			}
			next++
		}
	}
	return next, nil
}
