package groups

import (
	"math"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Equals brings only equal documents together. It serves where all pairs of a corpus are compared.
type Equals struct {
	FirstInput docref.Ref
	// Shards is the number of shards over which the keys are spread.
	Shards int
}

// Shard writes the stars of equal documents of a shard, and its distinct documents.
func (e *Equals) Shard(w *work.Desk, shard int) error {
	keys, err := sorting{kind: records.Digests, shard: shard, shards: e.Shards}.read(w)
	if err != nil {
		return err
	}
	if err := e.writeDistinct(&w.Run, shard, keys); err != nil {
		return err
	}
	var failed error
	equal := stars{run: &w.Run, shard: shard}
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64, FirstInput: e.FirstInput,
		Candidate: func(_, _ *candidates.Record) {},
		Identical: func(first, other *candidates.Record) {
			if err := equal.add(first, other); err != nil {
				failed = err
			}
		},
	}
	g.Groups(keys)
	if failed != nil {
		return failed
	}
	return equal.finish()
}

// writeDistinct writes the first document under each key as a node. Each of these is compared with every other. If it
// is of the reference, the first equal document of the input, if any, is a node joined to it.
func (e *Equals) writeDistinct(run *runfile.Writer, shard int, keys []candidates.Record) error {
	next, first := components.Node(0), components.Node(0)
	for i, r := range keys {
		isEqual := i > 0 && keys[i-1].Digest == r.Digest
		if !isEqual {
			first = next
		}
		if r.Size == 0 || isEqual && (keys[i-1].Ref >= e.FirstInput || r.Ref < e.FirstInput) {
			continue
		}
		if err := records.WriteNode(run, records.Distinct, shard, records.Node{Ref: r.Ref, Weight: r.Size, Parent: first}); err != nil {
			return err
		}
		next++
	}
	return nil
}
