package pipeline

import (
	"fmt"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// TestTemplatePages runs on 20,000 pages of one template, far more than are compared with each other. The clusters are
// still right, the skipped pairs are counted, and an example is named.
func TestTemplatePages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("20,000 documents take some seconds")
	}
	const pages = 20_000
	for _, c := range []struct {
		name           string
		common, shared int // number of words common to all pages, and to those of a variant
		variants       int
		pairs          float64 // the least share of all pairs that must be listed
		keys           methods.Name
	}{
		{"one heap", 120, 0, 1, 0, methods.MinHash},
		{"variants", 60, 60, 100, 0.99, methods.MinHash},
		{"one heap", 120, 0, 1, 0, methods.Exact},
		{"variants", 60, 60, 100, 1, methods.Exact},
	} {
		t.Run(fmt.Sprintf("%s by %s keys", c.name, c.keys), func(t *testing.T) {
			w := newWriter(81)
			common := w.text(c.common)
			variants := make([][]string, c.variants)
			for i := range variants {
				variants[i] = w.text(c.shared)
			}
			for i := range pages {
				page := append(append(append([]string(nil), common...), variants[i%c.variants]...), w.text(6)...)
				w.add(w.set(page))
			}
			config := testConfig(t, putCorpus(t, plain, file{"x.jsonl", w.lines}))
			config = byKeys(config, c.keys)
			config.Emit = []string{output.Clusters}
			summary := runJob(t, config)
			n := summary.Counts
			if c.pairs < 1 && (summary.Skipped.Pairs == 0 || summary.Skipped.Example == nil) {
				t.Errorf("skipped %+v: there are too many pairs for all", summary.Skipped)
			}
			if n.Clusters != int64(c.variants) || n.Clustered < pages-5 {
				t.Errorf("%d documents in %d clusters, want %d in %d", n.Clustered, n.Clusters, pages, c.variants)
			}
			perVariant := pages / c.variants
			if all := float64(c.variants * perVariant * (perVariant - 1) / 2); float64(n.Pairs) < c.pairs*all {
				t.Errorf("%d pairs of %.0f are listed, want a share of %g", n.Pairs, all, c.pairs)
			}
			t.Logf("%d candidates, %d pairs, %d kept, skipped %d pairs in %d groups", n.Candidates, n.Pairs, n.Kept, summary.Skipped.Pairs, summary.Skipped.Groups)
		})
	}
}
