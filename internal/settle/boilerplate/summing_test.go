package boilerplate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/carry/work/worktest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// TestSumming: over however many splits and ranges, the documents of each shingle add up, by the cause, and its split gets the
// first of them. Only shingles of the corpus are listed as frequent.
func TestSumming(t *testing.T) {
	type key struct {
		shingle uint64
		cause   records.Cause
	}
	for seed, shards := range []int{1, 4, 20} {
		random := rand.New(rand.NewPCG(uint64(seed), 8))
		runs := worktest.Runs(t)
		var hashes []uint64
		for range 40 {
			hashes = append(hashes, random.Uint64()>>16)
		}
		want, splits := map[key]records.Holder{}, map[docref.Ref]int{}
		var paths []string
		for split := range 5 {
			paths = append(paths, worktest.Write(t, runs, func(run *runfile.Writer) error {
				for _, cause := range []records.Cause{records.OfBaseText, records.OfCorpus} {
					seen := records.Sightings{}
					for i := range 30 {
						ref, err := docref.New(split, int64(10*i)+int64(cause))
						if err != nil {
							return err
						}
						splits[ref] = split
						for _, hash := range hashes {
							if random.IntN(20) > 0 {
								continue
							}
							seen.Add(hash, ref)
							h := want[key{hash, cause}]
							if h.Documents == 0 { // documents come in their order
								h = records.Holder{Ref: ref, Shingle: hash, Cause: cause}
							}
							h.Documents++
							want[key{hash, cause}] = h
						}
					}
					if err := seen.Write(run, cause, split, shards); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		outcomes := worktest.Do(t, runs, worktest.Tasks(t, runs, SummingDelivery(), paths...), Summing)
		found, frequent := map[key]records.Holder{}, map[uint64]int64{}
		for _, path := range work.RunsOf(outcomes) {
			for split, packed := range worktest.Read(t, records.FirstHolders, path) {
				for h := range records.All[records.Holder](packed) {
					if found[key{h.Shingle, h.Cause}] = h; splits[h.Ref] != split {
						t.Errorf("%+v goes to split %d, want %d", h, split, splits[h.Ref])
					}
				}
			}
			for f := range records.All[records.Frequent](slices.Concat(worktest.Read(t, records.FrequentShingles, path)[0])) {
				frequent[f.Shingle] = f.Documents
			}
		}
		if len(found) != len(want) || len(want) < 60 {
			t.Errorf("%d ranges: %d shingles of a cause, want %d", shards, len(found), len(want))
		}
		ofCorpus := 0
		for k, h := range want {
			if found[k] != h {
				t.Errorf("%d ranges: %+v, want %+v", shards, found[k], h)
			}
			if k.cause == records.OfCorpus {
				if ofCorpus++; frequent[k.shingle] != h.Documents {
					t.Errorf("%d documents are listed, want %d", frequent[k.shingle], h.Documents)
				}
			}
		}
		if len(frequent) != ofCorpus {
			t.Errorf("%d shingles are listed, want %d", len(frequent), ofCorpus)
		}
	}
}
