package pipeline

import (
	"path/filepath"
	"testing"

	"mirrorbeam/internal/match/methods"
)

// TestAutoKeys: the three exact ways give the same bytes, with and without a reference,
// and auto takes all pairs for a small corpus.
func TestAutoKeys(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	reference := putCorpus(t, plain, cut(synthetic(22), 1)...)
	for name, references := range map[string][]string{"alone": nil, "with a reference": {reference}} {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, keys := range []methods.Name{methods.Exact, methods.All, methods.Auto} {
				config := byKeys(lawConfig(t, input), keys)
				config.Reference = references
				config.Output = filepath.Join(t.TempDir(), "out")
				summary := runJob(t, config)
				wantKeys := keys
				if keys == methods.Auto {
					wantKeys = methods.All
				}
				if summary.Plan.Keys != wantKeys || summary.Plan.ExpectedRecall != 1 || summary.Audit != nil {
					t.Errorf("--keys %s: plan %+v, audit %+v", keys, summary.Plan, summary.Audit)
				}
				got := lawful(t, config.Output)
				if want == "" {
					want = got
				}
				sameText(t, string(keys), got, want)
			}
		})
	}
}

// TestAutoKeysOfLargeCorpus: a corpus of more documents is compared by exact keys.
func TestAutoKeysOfLargeCorpus(t *testing.T) {
	w := newWriter(91)
	for range methods.SmallCorpus + 1 {
		w.add(w.set(w.text(12)))
	}
	config := byKeys(testConfig(t, putCorpus(t, plain, cut(w.lines, 1)...)), methods.Auto)
	if summary := runJob(t, config); summary.Plan.Keys != methods.Exact {
		t.Errorf("plan %+v", summary.Plan)
	}
}
