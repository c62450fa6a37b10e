package groups

import (
	"cmp"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/work"
)

// Keyed goes through the groups of documents that share a key.
type Keyed struct {
	Layout *documents.Layout
	// Shards is the number of shards over which the keys are spread.
	Shards int
	// Threshold is the least similarity that the sizes of two documents must allow, from 0 to 1; 0 rules no pair out.
	Threshold float64
	// Exact says that the keys are made by [candidates.PrefixKeyOf].
	Exact bool
	// Stars says that documents of a dense group are compared with the first one instead of gathered in hot groups.
	Stars  bool
	Bounds *Bounds
	// KeyBytes is about how many bytes of key records a task may hold. It changes no result.
	KeyBytes int64
	// Unchanged, if not nil, are the files of an incremental run whose documents are pruned. Reused are these files if
	// [Known] writes the pairs of two unchanged documents, so that no other stage forms them.
	Unchanged, Reused documents.Unchanged
	// TellsLasting writes, for the next run of a scheduled job, the keys of oversized groups and of equal documents.
	// What is compared under these depends on all documents that have them.
	TellsLasting bool

	large large
}

// Shard goes through a shard for the first time. It writes the candidate pairs, the stars of equal documents, which are
// edges already, and the oversized groups, which wait.
func (k *Keyed) Shard(w *work.TaskContext, shard int) error {
	equal := Stars{
		run:          &w.Run,
		part:         shard,
		shard:        shard,
		shards:       k.Shards,
		large:        k.large,
		tellsLasting: k.TellsLasting,
	}
	var failed error
	pairs := NewPairs(w, shard)
	pairs.reused = k.Reused
	g := k.grouper(w, &pairs, &failed)
	g.Identical = func(first, other *candidates.Record) { failed = cmp.Or(failed, equal.add(first, other)) }
	g.Oversized = func(group []candidates.Record, pairs int64) {
		w.Outcome.OversizedPairs += pairs
		w.Outcome.NewOversizedPairs += pairs - g.OversizedWithout(group, func(r *candidates.Record) bool {
			return !k.Unchanged.Has(r.Ref)
		})
		w.Outcome.OversizedGroups = append(w.Outcome.OversizedGroups, work.OversizedGroup{
			ID:    g.KeyID(&group[0]),
			Pairs: pairs,
		})
		failed = cmp.Or(failed, records.WriteOversized(&w.Run, shard, group, pairs), equal.tellLasting(group[0].Key))
	}
	sorting := sorting{
		kind:      records.Keys,
		shard:     shard,
		shards:    k.Shards,
		held:      cmp.Or(k.large.records, RecordsAtATime(k.KeyBytes)),
		previous:  func(packed []byte) uint64 { return records.PreviousKey(packed, k.Exact) },
		premerger: &premerger{stars: &equal, firstInput: k.Layout.FirstInput},
	}
	err := sorting.read(w, func(keys []candidates.Record) error {
		g.Groups(keys)
		return failed
	})
	if err != nil {
		return err
	}
	return pairs.Finish()
}

func stopped(w *work.TaskContext, failed *error) bool {
	if *failed == nil && w.Run.Stopped != nil {
		*failed = w.Run.Stopped()
	}
	return *failed != nil
}

// grouper returns a Grouper that writes its pairs. It stops when the task has failed or nobody wants its outcome.
func (k *Keyed) grouper(w *work.TaskContext, pairs *Pairs, failed *error) *candidates.Grouper {
	return &candidates.Grouper{
		Threshold:      k.Threshold,
		MaxComparisons: k.Bounds.Group,
		Exact:          k.Exact,
		FirstInput:     k.Layout.FirstInput,
		Stopped:        func() bool { return stopped(w, failed) },
		Candidate: func(a, b *candidates.Record) {
			if err := pairs.Add(a, b); err != nil {
				*failed = err
			}
		},
	}
}
