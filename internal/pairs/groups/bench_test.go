package groups

import (
	"context"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// BenchmarkShard groups a shard of exact keys that 32 tasks have written. As in a corpus of web pages and manuals, two
// records of three are of a shingle that no other document has, and most other shingles have a few documents.
func BenchmarkShard(b *testing.B) {
	const tasks, perTask, shardsOfJob = 32, 250, 80
	random := rand.New(rand.NewPCG(1, 2))
	runs := work.Runs{Folder: work.Path(b.TempDir()), Held: 1 << 20}
	low, high := records.RangeOf(0, shardsOfJob)
	shingleOf := func(random *rand.Rand) uint64 {
		for { // all shingles of the benchmark are of the first shard
			if shingle := random.Uint64() >> 16; candidates.PrefixKeyOf(shingle)-low <= high-low {
				return shingle
			}
		}
	}
	var paths []string
	for task := range tasks {
		paths = append(paths, worktest.Write(b, runs, func(run *runfile.Writer) error {
			for i := range perTask {
				family := rand.New(rand.NewPCG(random.Uint64N(tasks*perTask/4), 3))
				r := candidates.Record{
					Ref:    docref.Ref(task*perTask + i),
					Digest: digest.Digest{random.Uint64()},
					Size:   uint32(60 + random.IntN(10)),
					First:  true,
				}
				for position := range uint32(8) {
					shingle := shingleOf(family)
					if random.IntN(3) > 0 {
						shingle = shingleOf(random)
					}
					r.Key, r.Position = candidates.PrefixKeyOf(shingle), position
					if err := writeKey(run, r); err != nil {
						return err
					}
					r.SetPrevious(shingle)
					r.First = false
				}
			}
			return nil
		}))
	}
	d := work.Delivery{Needed: []runfile.Kind{records.Keys}, Shards: shardsOfJob}
	job := worktest.Tasks(b, runs, d, paths...)
	keyed := Keyed{
		Layout:    &documents.Layout{},
		Shards:    shardsOfJob,
		Threshold: .8,
		Exact:     true,
		Bounds:    &Bounds{Group: 8128},
	}
	memory := &work.Memory{}
	for b.Loop() {
		var outcome work.Outcome
		taskContext := work.TaskContext{Memory: memory, Runs: runs, Outcome: &outcome}
		err := taskContext.Do(context.Background(), job[0],
			func(_ context.Context, t work.Task, w *work.TaskContext) error {
				return keyed.Shard(w, t.Number)
			})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks*perTask*8), "ns/record")
}

// writeKey writes a record to the first shard.
func writeKey(run *runfile.Writer, r candidates.Record) error {
	packed, err := run.Record(records.Keys, 0, records.LengthOfKey(&r))
	if err == nil {
		records.PutKey(packed, r)
	}
	return err
}
