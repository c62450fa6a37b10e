package groups

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestLargeShard: a shard that is too large to be held is read twice, and has the same records in the same order of
// keys as one that is held.
func TestLargeShard(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	runs := worktest.Runs(t)
	want := make([][]candidates.Record, shards)
	written := write(t, runs, func(run *runfile.Writer) error {
		for i := range 200_000 {
			r := candidates.Record{
				Key:    candidates.KeyOf(random.Uint64N(1<<20)<<44, i%3),
				Ref:    docref.Ref(i),
				Digest: digest.Digest{random.Uint64()},
			}
			if i < 150_000 { // these have one of the shards
				r.Key = candidates.KeyOf(random.Uint64()>>20, i%3)
			}
			for k := range r.Known() {
				r.Previous[k] = random.Uint32()
			}
			if i%7 == 0 {
				r.Side = 1 + random.Uint64N(9)
			}
			shard := records.ShardOf(r.Key, shards)
			want[shard] = append(want[shard], r)
			b, err := run.Record(records.Keys, shard, records.LengthOfKey(&r))
			if err != nil {
				return err
			}
			records.PutKey(b, r)
		}
		return nil
	})
	large, held := 0, 0
	doShards(t, runs, written, func(_ context.Context, task work.Task, w *work.TaskContext) error {
		var got []candidates.Record
		all := len(want[task.Number])
		for _, most := range []int{0, all / 4} {
			w.Figures, got = work.Figures{}, nil
			visits := 0
			err := sorting{kind: records.Keys, shard: task.Number, shards: shards, held: most}.read(w,
				func(keys []candidates.Record) error {
					visits++
					got = append(got, keys...)
					return nil
				})
			if err != nil {
				return err
			}
			if isOne := visits == 1; isOne != (most == 0) {
				t.Errorf("shard %d: %d visits of %d records", task.Number, visits, all)
			}
		}
		if w.Figures.Bytes > HeldBytes {
			large++
		} else {
			held++
		}
		byKey := func(a, b candidates.Record) int { return cmp.Compare(a.Key, b.Key) }
		if !slices.IsSortedFunc(got, byKey) {
			t.Errorf("shard %d: the records are not sorted", task.Number)
		}
		byRef := func(a, b candidates.Record) int { return cmp.Compare(a.Ref, b.Ref) }
		got = slices.SortedFunc(slices.Values(got), byRef)
		if !slices.Equal(got, want[task.Number]) {
			t.Errorf("shard %d: other records than were written", task.Number)
		}
		return nil
	})
	if large == 0 || held == 0 {
		t.Errorf("%d large shards and %d that are held test one way only", large, held)
	}
}

// TestRecordsAtATime: memory for more records than usual is used, and less memory changes nothing.
func TestRecordsAtATime(t *testing.T) {
	for bytes, want := range map[int64]int{
		0:                              leastRecords,
		leastRecords:                   leastRecords,
		3 * leastRecords * recordBytes: 3 * leastRecords,
	} {
		if got := RecordsAtATime(bytes); got != want {
			t.Errorf("%d records in %d bytes, want %d", got, bytes, want)
		}
	}
}
