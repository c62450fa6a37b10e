package pipeline

import (
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/settle/keep"
)

// TestChainsOfCorpora runs on corpora whose documents form long chains at a low threshold: template pages in many languages, and
// licences. A component may be large, but no document is removed for one that it is not similar to. A star is as tight
// as the threshold.
func TestChainsOfCorpora(t *testing.T) {
	t.Parallel()
	for _, corpus := range []string{"mirrors/installguide_text.jsonl.zst", "licenses/all.jsonl.zst"} {
		t.Run(filepath.Dir(corpus), func(t *testing.T) {
			config := testConfig(t, corporatest.Path(t, corpus))
			config.Threshold = 0.5
			config.Emit = []string{output.Clusters, output.Removed}
			largest := map[keep.Split]int{}
			for _, split := range []keep.Split{keep.Component, keep.Star} {
				config.Split, config.Output = split, filepath.Join(t.TempDir(), "out")
				summary := runJob(t, config)
				kept := map[string]int{}
				for _, row := range readRows[clusterRow](t, config.Output, output.Clusters) {
					largest[split] = max(largest[split], row.Size)
					if row.Kept {
						kept[row.Cluster]++
					}
					if row.Least < config.Threshold || row.Mean+1e-4 < row.Least || row.Similarity < row.Least {
						t.Fatalf("%s: %+v", split, row)
					}
				}
				for cluster, n := range kept {
					if split == keep.Star && n != 1 {
						t.Errorf("the star of %s keeps %d documents", cluster, n)
					}
				}
				if int64(len(kept)) != summary.Counts.Clusters {
					t.Errorf("%s: %d of %d clusters keep a document", split, len(kept), summary.Counts.Clusters)
				}
			}
			if largest[keep.Star] > largest[keep.Component] || largest[keep.Component] > 300 {
				t.Errorf("the largest clusters have %v documents", largest)
			}
		})
	}
}
