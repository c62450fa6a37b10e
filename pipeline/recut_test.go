package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/inspect/recut"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// recutRun are the further exceptions of results that recut makes and of a run at the same threshold.
var recutRun = []exception{
	{"summary.json/audit...", "recut forms no pairs, so it measures no recall"},
	{"summary.json/sources...", "rows do not say which sources their documents are of"},
	{"summary.json/lost...", "rows do not have the numbers of shingles"},
	{"summary.json/counts/candidates", "recut scores no pairs"},
	{"summary.json/warnings/source_loss*...", "it is about sources"},
	{"summary.json/warnings/short_records*...", "rows do not have the numbers of shingles"},
	{"summary.json/warnings/preset*...", "rows do not tell what most of the texts are"},
	{"summary.json/warnings/other_title*...", "rows do not tell the titles of pages"},
	{"summary.json/variants...", "recut reads no texts"},
	{"summary.json/warnings/variants*...", "recut reads no texts"},
	{"summary.json/plan/bands", "the pairs were found by the keys of the run, which has a lower threshold"},
	{"summary.json/plan/rows", "the pairs were found by the keys of the run, which has a lower threshold"},
	{"summary.json/plan/expected_recall", "the keys of the run promise more at a higher threshold"},
}

// TestRecutLaw: recut writes what a run at the threshold writes, and its whole summary, for random jobs and policies.
func TestRecutLaw(t *testing.T) {
	first, cases := drawnCases(t, 10)
	done := 0
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h, again := drawRecut(t, 100*seed)
			for _, config := range []job.Config{h.config, again} {
				if _, err := Run(t.Context(), config); err != nil {
					t.Skip(err)
				}
			}
			folder, err := finished.Open(h.config.Output)
			if err != nil {
				t.Fatal(err)
			}
			options := recut.Options{
				Threshold: again.Threshold,
				Keep:      again.Keep,
				Split:     again.Split,
				Drop:      again.Drop,
				Emit:      again.Emit,
				Format:    again.OutputFormat,
				Layout:    again.Layout,
				Output:    filepath.Join(t.TempDir(), "recut"),
				Overwrite: again.Overwrite,
			}
			if !again.Rule().Prefers() {
				options.Keep = ""
			}
			if _, err := recut.Run(t.Context(), folder, options); err != nil {
				t.Skip(err)
			}
			done++
			sameResults(t, fmt.Sprintf("recut of %+v", h.config.Measure), options.Output, again.Output, recutRun...)
		})
	}
	if done < cases/4 {
		t.Errorf("%d of %d results could be cut again", done, cases)
	}
}

// drawRecut draws a job, and another job over the same input with settings that recut may have.
func drawRecut(t *testing.T, seed int) (h *history, again job.Config) {
	t.Helper()
	for try := range 50 {
		h = newHistory(t, seed+try, false)
		c, usual := &h.config, job.Default()
		c.State = ""
		c.Add = false
		c.AllowRemoval = false
		c.Guard = nil
		c.Mirroring = usual.Mirroring
		c.Trimming = usual.Trimming
		c.Input = []string{filepath.Join(h.root, h.folders[0])}
		c.Emit = []string{output.Clusters, output.Pairs, output.Removed}
		c.Recall = 0 // a higher threshold has other keys
		if c.Keys == methods.MinHash {
			c.Recall = 0.999999
		}
		c.Threshold, c.OutputFormat, c.Verify = 0.5, output.JSONL, methods.VerifyExact
		c.Split = one(h, keep.Splits...)
		again = *c
		again.Emit = append(slices.Clone(c.Emit), one(h, nil, nil, output.Copies[:1], output.Copies[:2])...)
		again.Layout = one(h, output.Shards, output.Tree)
		if !again.EmitsCopies() {
			again.Layout = usual.Layout
		}
		again.Threshold, again.Output = one(h, 0.5, 0.6, 0.75, 0.9, 1), filepath.Join(t.TempDir(), "out")
		again.Keep = one(h, preference.First, preference.Last, "longest")
		again.Split = one(h, keep.Splits...)
		again.Drop = one(h, keep.Drops...)
		again.OutputFormat = one(h, output.Formats...)
		if c.Validate() == nil && again.Validate() == nil {
			return h, again
		}
	}
	t.Fatal("no valid settings")
	return nil, again
}
