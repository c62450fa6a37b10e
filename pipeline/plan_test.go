package pipeline

import (
	"context"
	"fmt"
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
	for name, input := range map[string][]string{
		"mirrors": {"mirrors"},
		"prose":   {"prose"},
		"prose without heaps": { // of template pages
			"prose/debian_langdocs.jsonl.zst", "prose/dict_entries.jsonl.zst", "prose/fortunes.jsonl.zst",
			"prose/gnome_help.jsonl.zst", "prose/goldminer_zh.jsonl.zst", "prose/libreoffice_help.jsonl.zst",
			"prose/linux_doc.jsonl.zst", "prose/tweets_tweeteval.jsonl.zst", "prose/unicode_data.jsonl.zst",
		},
	} {
		for _, keys := range []transforms.Keys{transforms.MinHash, transforms.ExactKeys} {
			for _, threshold := range []float64{0.5, 0.8} {
				if threshold < 0.8 && name == "prose" {
					continue // half a minute each
				}
				t.Run(fmt.Sprintf("%s, %s at %g", name, keys, threshold), func(t *testing.T) {
					config := testConfig(t)
					for _, path := range input {
						path = filepath.Join(corpora, path)
						if _, err := os.Stat(path); err != nil {
							t.Skipf("the corpus is not here: %v", err)
						}
						config.Input = append(config.Input, path)
					}
					config = byKeys(config, keys)
					config.Threshold, config.Audit, config.Emit = threshold, "off", []string{transforms.Clusters}
					comparePlan(t, config)
				})
			}
		}
	}
}

// comparePlan compares a plan with the run that it is for.
func comparePlan(t *testing.T, config Config) {
	advice, err := MakePlan(context.Background(), planConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	planned, facts := advice.Choices[advice.Chosen], advice.Corpus
	summary := runJob(t, config)
	real, pairs := float64(summary.Counts.Candidates), summary.Counts.Pairs-summary.Counts.Identical
	t.Logf("%.0f candidates planned +- %.0f, %.0f in the run; %.0f pairs planned, %d in the run; %.0f identical documents planned, %d in the run; 1 of %.0f documents compared",
		planned.Candidates, planned.CandidatesError, real, facts.Pairs, pairs, facts.Identical, summary.Counts.Identical, 1/facts.DocumentShare)
	for _, stage := range summary.Stages {
		if stage.Name == "group" {
			t.Logf("%.1f MB of keys planned, %.1f in the run", planned.Bytes/1e6, float64(stage.Bytes)/1e6)
			if factor := planned.Bytes / float64(stage.Bytes); factor < 0.8 || factor > 1.25 {
				t.Errorf("%.2f times the bytes of keys of the run are planned", factor)
			}
		}
	}
	if factor := planned.Candidates / real; factor < 0.5 || factor > 2 {
		t.Errorf("%.2f times the candidates of the run are planned: want half to twice", factor)
	}
	if planned.CandidatesError == 0 && planned.Candidates != real {
		t.Errorf("all was counted, and %.0f candidates are planned in place of %.0f", planned.Candidates, real)
	}
}
