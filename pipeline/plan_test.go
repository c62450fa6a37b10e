package pipeline

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mirrorbeam/transforms"
)

// planConfig plans for the job of a configuration.
func planConfig(config Config) PlanConfig {
	return PlanConfig{Input: config.Input, Measure: config.Measure, Shingles: 100, Comparison: 170 * time.Nanosecond}
}

// TestPlannedCandidates holds the candidates that are planned for against those
// of real runs.
func TestPlannedCandidates(t *testing.T) {
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	inputs := map[string][]string{
		"mirrors": {"mirrors"},
		"prose":   {"prose"},
		// Without its two heaps, of template pages.
		"prose without heaps": {
			"prose/debian_langdocs.jsonl.zst", "prose/dict_entries.jsonl.zst", "prose/fortunes.jsonl.zst",
			"prose/gnome_help.jsonl.zst", "prose/goldminer_zh.jsonl.zst", "prose/libreoffice_help.jsonl.zst",
			"prose/linux_doc.jsonl.zst", "prose/tweets_tweeteval.jsonl.zst", "prose/unicode_data.jsonl.zst",
		},
	}
	for name, paths := range inputs {
		for _, threshold := range []float64{0.5, 0.8} {
			t.Run(name, func(t *testing.T) {
				var input []string
				for _, path := range paths {
					path = filepath.Join(corpora, path)
					if _, err := os.Stat(path); err != nil {
						t.Skipf("the corpus is not here: %v", err)
					}
					input = append(input, path)
				}
				config := testConfig(t, input...)
				config.Threshold, config.Audit, config.Emit = threshold, "off", []string{transforms.Clusters}
				advice, err := MakePlan(context.Background(), planConfig(config))
				if err != nil {
					t.Fatal(err)
				}
				planned := advice.Choices[advice.Chosen]
				summary := runJob(t, config)
				real, identical := float64(summary.Counts.Candidates), float64(summary.Counts.Identical)
				edges := float64(summary.Counts.Pairs - summary.Counts.Identical)
				t.Logf("%g: %.0f candidates planned +- %.0f, %.0f in the run; %.0f pairs planned, %.0f in the run; %.0f identical documents planned, %.0f in the run; 1 of %.0f documents compared",
					threshold, planned.Candidates, planned.CandidatesError, real, advice.Corpus.Pairs, edges, advice.Corpus.Identical, identical, 1/advice.Corpus.DocumentShare)
				if factor := planned.Candidates / real; math.Abs(math.Log2(factor)) > 1 {
					t.Errorf("%.2f times the candidates of the run are planned: want half to twice", factor)
				}
				if advice.Corpus.DocumentShare == 1 && planned.Candidates != real {
					t.Errorf("the whole corpus was compared, and %.0f candidates are planned in place of %.0f", planned.Candidates, real)
				}
			})
		}
	}
}
