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

// TestPlanOfSmallCorpus: of a corpus that is no larger than the samples all
// candidates are counted, as a run counts them.
func TestPlanOfSmallCorpus(t *testing.T) {
	input := putCorpus(t, gzipped, cut(oddities(21), 4)...)
	// The one reference has nothing of the input, the other half of it.
	references := [][]string{
		nil,
		{putCorpus(t, plain, cut(synthetic(22), 1)...)},
		{putCorpus(t, plain, append(cut(oddities(21), 4)[:2], file{"more.jsonl", synthetic(22)})...)},
	}
	for _, keys := range []transforms.Keys{transforms.MinHash, transforms.ExactKeys, transforms.SimHash} {
		for n, reference := range references {
			t.Run(fmt.Sprintf("%s, reference %d", keys, n), func(t *testing.T) {
				config := testConfig(t, input)
				config.Keys, config.Threshold, config.Audit, config.Emit = keys, 0.5, "off", []string{transforms.Clusters}
				if keys == transforms.SimHash {
					config.Threshold = usualThreshold
				}
				config.Reference = reference
				advice, err := MakePlan(context.Background(), planConfig(config))
				if err != nil {
					t.Fatal(err)
				}
				counts := runJob(t, config).Counts
				planned, real := advice.Choices[advice.Chosen].Candidates, counts.Candidates
				if keys == transforms.SimHash {
					planned, real = advice.Corpus.Pairs, counts.Pairs-counts.Identical
				}
				if planned != float64(real) || real == 0 {
					t.Errorf("%g pairs are planned, %d are in the run", planned, real)
				}
				// Those without words are among them; a run lists few of the reference.
				if facts := advice.Corpus; reference == nil && (facts.Identical != float64(counts.Identical) || facts.Wordless == 0) {
					t.Errorf("%g identical documents are planned, %d are in the run; %d are without words", facts.Identical, counts.Identical, facts.Wordless)
				}
				if facts := advice.Corpus; facts.Documents != counts.Documents || facts.ReferenceDocuments != counts.ReferenceDocuments ||
					facts.Bytes != counts.Bytes+counts.ReferenceBytes || facts.Rejected != counts.Rejected {
					t.Errorf("the corpus is %+v, in the run %+v", *facts, counts)
				}
			})
		}
	}
}

// TestNextChoices: the next choices find less for less, and more.
func TestNextChoices(t *testing.T) {
	input := putCorpus(t, plain, cut(synthetic(23), 2)...)
	for _, change := range []func(c *Config){
		func(c *Config) { c.Recall = 1 },
		func(c *Config) { c.Recall = 0.99 },
		func(c *Config) { c.Recall, c.Threshold = 0.9, 0.3 },
		func(c *Config) { c.Recall, c.Bands, c.Rows = 0.99, 4, 4 },
		func(c *Config) { c.Keys = transforms.SimHash },
		func(c *Config) { c.Keys, c.Hamming, c.Bits = transforms.SimHash, 0, 128 },
	} {
		config := testConfig(t, input)
		change(&config)
		advice, err := MakePlan(context.Background(), planConfig(config))
		if err != nil {
			t.Fatal(err)
		}
		chosen := advice.Choices[advice.Chosen]
		if chosen.Flags != "" {
			t.Errorf("%+v: the choice of the configuration has the flags %s", chosen, chosen.Flags)
		}
		if i := advice.Cheaper; i >= 0 {
			if c := advice.Choices[i]; c.Flags == "" || c.Seconds >= chosen.Seconds || c.Missed < chosen.Missed {
				t.Errorf("%+v\nis cheaper than\n%+v", c, chosen)
			}
		}
		if i := advice.Safer; i >= 0 {
			if c := advice.Choices[i]; c.Flags == "" || c.Missed > chosen.Missed || c.Probability < chosen.Probability || c.Distance < chosen.Distance {
				t.Errorf("%+v\nis safer than\n%+v", c, chosen)
			}
		} else if chosen.Keys != transforms.ExactKeys {
			t.Errorf("nothing is safer than %+v", chosen)
		}
		for i, c := range advice.Choices {
			if i > 0 && c.Seconds < advice.Choices[i-1].Seconds {
				t.Error("the ranking is not by CPU time")
			}
		}
	}
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
		for _, keys := range []transforms.Keys{transforms.MinHash, transforms.ExactKeys, transforms.SimHash} {
			for _, threshold := range []float64{0.5, 0.8} {
				switch {
				case threshold < 0.8 && name == "prose", keys == transforms.SimHash && (threshold < 0.8 || name == "prose without heaps"):
					continue // half a minute each; fingerprints know no threshold
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
	candidates := planned.Candidates
	if planned.Keys == transforms.SimHash {
		// Those within the distance are all that a job keeps of its candidates.
		real, candidates = float64(pairs), facts.Pairs
	}
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
	if factor := candidates / real; factor < 0.5 || factor > 2 {
		t.Errorf("%.2f times the candidates of the run are planned: want half to twice", factor)
	}
	if planned.CandidatesError == 0 && planned.Keys != transforms.SimHash && candidates != real {
		t.Errorf("all was counted, and %.0f candidates are planned in place of %.0f", candidates, real)
	}
	if share := facts.DocumentShare; share == 1 && facts.Identical != float64(summary.Counts.Identical) {
		t.Errorf("all documents were compared, and %.0f identical ones are planned in place of %d", facts.Identical, summary.Counts.Identical)
	}
}
