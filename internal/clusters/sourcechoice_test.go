package clusters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestChoose counts values that several runs have documents of, in one range of hashes and in many. The choice must be
// the choice of all counts together.
func TestChoose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shards := range []int{1, 2, 30} {
		for _, values := range []int{1, 50, 3000} {
			runs := worktest.Runs(t)
			runs.Held = 1 << 10 // sections of a few records
			var sums [sources.Corpora]map[uint64]sources.Value
			for corpus := range sums {
				sums[corpus] = map[uint64]sources.Value{}
			}
			hashes := make([]uint64, values)
			for i := range hashes {
				hashes[i] = random.Uint64()
			}
			var paths []string
			for range 3 {
				paths = append(paths, worktest.Write(t, runs, func(run *runfile.Writer) error {
					for range 4 * values {
						i := random.IntN(values)
						c := records.SourceCount{
							Hash:      hashes[i],
							Documents: 1 + random.Int64N(3),
							Corpus:    sources.Corpus(random.IntN(2)),
							Name:      fmt.Appendf(nil, "site %d", i),
						}
						sum := sums[c.Corpus][c.Hash]
						sums[c.Corpus][c.Hash] = sources.Value{
							Hash:      c.Hash,
							Name:      string(c.Name),
							Documents: sum.Documents + c.Documents,
						}
						if err := records.Write(
							run, records.SourceCounts, records.ShardOf(c.Hash, shards), &c,
						); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			var all [sources.Corpora]*sources.Leading
			for corpus := range sources.Corpora {
				all[corpus] = sources.LeadingOf(corpus)
				for _, v := range sums[corpus] {
					all[corpus].Add(v)
				}
			}
			want := sources.Choose(all)

			outcomes := worktest.Do(t, runs, worktest.Tasks(t, runs, SourceCounting{}.Delivery(), paths...),
				SourceCounting{}.Task)
			for i := range outcomes {
				outcomes[i].Stage = work.Source
			}
			worktest.Plan(t, runs, outcomes, func(_ context.Context, p *work.Planning) error {
				return ChooseSources(p)
			})
			if got, err := ReadSourceChoice(string(runs.Folder)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%d values in %d ranges: %+v (%v), want %+v", values, shards, got, err, want)
			}
		}
	}
}

// TestNoDocuments: a corpus without documents has no sources. Without a choice there is an error.
func TestNoDocuments(t *testing.T) {
	runs := worktest.Runs(t)
	if _, err := ReadSourceChoice(string(runs.Folder)); err == nil {
		t.Error("no choice, yet no error")
	}
	worktest.Plan(t, runs, nil, func(_ context.Context, p *work.Planning) error { return ChooseSources(p) })
	if choice, err := ReadSourceChoice(string(runs.Folder)); err != nil || len(choice.Sources) != 0 {
		t.Errorf("sources %+v (%v)", choice, err)
	}
}
