package pipeline

import (
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// TestAttemptsChangeNothing: tasks and steps of every stage break off, lose their outcomes, or run twice at a time, as
// they do on a cluster that loses workers. The results and the counts are those of a job whose tasks run once.
func TestAttemptsChangeNothing(t *testing.T) {
	t.Parallel()
	input := putCorpus(t, plain, cut(oddities(lawSeed), 3)...)
	for _, keys := range []methods.Name{methods.MinHash, methods.Exact, methods.SimHash, methods.All} {
		config := byKeys(lawConfig(t, input), keys)
		config.Emit = []string{output.Clusters, output.Pairs, output.Unique, output.Removed, output.Annotated, output.Sketches}
		want, whole := runInner(t, config, wholeJob)
		if whole.Counts.Pairs < 50 {
			t.Fatalf("%s: a corpus with too little to compare: %+v", keys, whole.Counts)
		}
		for seed := range uint64(3) {
			sameInCuts(t, config, want, whole,
				innerJob{splitBytes: 20 << 10, shards: 3, placeBytes: 4 << 10, graphBytes: 32 << 10, lanes: 3, unreliable: seed + 1},
			)
		}
	}
}

// TestAttemptsOnHeaps does the same to groups too large to be compared fully.
func TestAttemptsOnHeaps(t *testing.T) {
	t.Parallel()
	w := newWriter(5)
	base := w.text(100)
	for range 120 {
		w.add(w.set(w.change(base, 0.01)))
	}
	config := testConfig(t, putCorpus(t, plain, cut(w.lines, 2)...))
	config.Keys, config.Bands, config.Rows = methods.MinHash, 4, 2 // few wide bands: large groups
	job := innerJob{splitBytes: 10 << 10, shards: 3, placeBytes: 4 << 10, lanes: 2, bounds: denseBounds}
	want, whole := runInner(t, config, job)
	if whole.Skipped.Groups == 0 {
		t.Fatal("no group is too large")
	}
	for seed := range uint64(4) {
		job.unreliable = seed + 1
		sameInCuts(t, config, want, whole, job)
	}
}
