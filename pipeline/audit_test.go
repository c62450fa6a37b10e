package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/transforms"
)

// clusterRecall returns the share of the similar pairs of documents with words
// that are in one cluster, and how many pairs there are.
func clusterRecall(tr *truth, rows []clusterRow, threshold float64) (float64, int64) {
	cluster := map[string]string{} // by ref
	for _, row := range rows {
		cluster[row.Ref] = row.Cluster
	}
	pairs, found := int64(0), 0
	for i := range tr.documents {
		for j := i + 1; j < len(tr.documents); j++ {
			a, b := &tr.documents[i], &tr.documents[j]
			if len(a.set) == 0 || tr.similarity(i, j) < threshold {
				continue
			}
			pairs++
			if cluster[a.ref] != "" && cluster[a.ref] == cluster[b.ref] {
				found++
			}
		}
	}
	return float64(found) / float64(pairs), pairs
}

// TestAuditOfAllDocuments samples every document: the recall is the true one, also
// where keys were thinned so that pairs are missed, and every pair was seen from
// both ends.
func TestAuditOfAllDocuments(t *testing.T) {
	files := cut(oddities(91), 3)
	tr := naiveTruth(3, true, files...)
	input := putCorpus(t, plain, files...)
	for _, c := range []struct {
		bands, rows int
		threshold   float64
		low, high   float64 // where the recall is to be
	}{
		{0, 0, 0.5, 0.999, 1},
		{3, 4, 0.5, 0.5, 0.99},
		{1, 3, 0.6, 0.3, 0.97},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := testConfig(t, input)
			config.Emit = []string{transforms.Clusters}
			config.Bands, config.Rows, config.Threshold, config.Audit = c.bands, c.rows, c.threshold, "100000"
			if config.Recall = usualRecall; c.bands == 0 {
				config.Recall = certain
			}
			audit := runJob(t, config).Audit
			want, pairs := clusterRecall(tr, readRows[clusterRow](t, config.Output, transforms.Clusters), c.threshold)
			if audit == nil || math.Abs(audit.Recall-want) > 1e-12 || audit.Pairs != 2*pairs {
				t.Fatalf("audit %+v, the recall is %g of %d pairs", audit, want, pairs)
			}
			if want < c.low || want > c.high || audit.Low > want || audit.High < want || audit.High-audit.Low > 0.2 {
				t.Errorf("a recall of %g, audit %+v; want one from %g to %g", want, audit, c.low, c.high)
			}
			// The second estimate knows other pairs, of about the same recall.
			if math.Abs(audit.Recapture-audit.Recall) > 0.15 {
				t.Errorf("audit %+v: the two estimates are far apart", audit)
			}
		})
	}
}

// TestAuditDependsOnDocumentsOnly: the sample and what is found do not depend on
// how the job is cut or run, nor on a reference.
func TestAuditDependsOnDocumentsOnly(t *testing.T) {
	files := cut(synthetic(92), 2)
	config := testConfig(t, putCorpus(t, plain, files...))
	config.Audit, config.Emit = "60", []string{transforms.Clusters}
	want := runJob(t, config).Audit
	if want == nil || want.Sampled < 20 || want.Sampled > 120 || want.Pairs == 0 {
		t.Fatalf("audit %+v of about 60", want)
	}
	for name, change := range map[string]func(*Config){
		"lanes":  func(c *Config) { c.Lanes = 5 },
		"memory": func(c *Config) { c.Memory = leastMemory },
		"zstd":   func(c *Config) { c.Input = []string{putCorpus(t, zstded, files...)} },
	} {
		other := config
		other.Output = t.TempDir()
		change(&other)
		if got := runJob(t, other).Audit; got == nil || *got != *want {
			t.Errorf("%s: audit %+v, want %+v", name, got, want)
		}
	}
	config.Audit, config.Output = "off", t.TempDir()
	if got := runJob(t, config).Audit; got != nil {
		t.Errorf("audit %+v, though it is off", got)
	}
}

// TestAuditFindsThinBands: bands that miss one pair in fourteen of real texts are
// found out by a sample of a tenth of the documents.
func TestAuditFindsThinBands(t *testing.T) {
	input := filepath.Join(corpora, "mirrors", "installguide_text.jsonl.zst")
	if _, err := os.Stat(input); err != nil {
		t.Skipf("the corpus is not here: %v", err)
	}
	config := testConfig(t, input)
	config = byKeys(config, transforms.MinHash)
	config.Threshold, config.Bands, config.Rows, config.Audit = 0.5, 3, 3, "1000"
	config.Emit = []string{transforms.Clusters}
	audit := runJob(t, config).Audit
	pairs := readTruePairs(t, filepath.Join(corpora, "mirrors", "installguide_text.exact_w3cjk_j0.5.tsv.zst"))
	exact := inClusters(readRows[clusterRow](t, config.Output, transforms.Clusters), pairs, config.Threshold)
	if exact > 0.95 || exact < audit.Low || exact > audit.High || audit.High-audit.Low > 0.05 || audit.Sampled > 1500 {
		t.Errorf("%.4f of the pairs are in clusters, the audit says %+v", exact, *audit)
	}
}
