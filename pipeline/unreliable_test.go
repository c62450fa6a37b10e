package pipeline

import (
	"testing"

	"mirrorbeam/internal/match/methods"
)

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
