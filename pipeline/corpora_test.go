package pipeline

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/match/methods"
)

// TestCorpora measures recall and precision on real texts against all pairs that
// an independent program found.
func TestCorpora(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	type corpusTruth struct{ corpus, pairs string }
	list := []corpusTruth{
		{"reuters21578/reuters.jsonl.zst", "reuters21578/exact_w3_j0.5.tsv.zst"},
		{"licenses/all.jsonl.zst", "licenses/exact_w3_j0.5.tsv.zst"},
		{"tang/tang.jsonl.zst", "tang/exact_w3cjk_j0.5.tsv.zst"},
	}
	mirrors, _ := filepath.Glob(filepath.Join(corporatest.Folder(t), "mirrors", "*.exact_*.tsv.zst"))
	for _, path := range mirrors {
		name, _, _ := strings.Cut(filepath.Base(path), ".exact_")
		list = append(list, corpusTruth{"mirrors/" + name + ".jsonl.zst", "mirrors/" + filepath.Base(path)})
	}
	audits, covered := 0, 0
	for _, c := range list {
		t.Run(strings.TrimSuffix(c.corpus, ".jsonl.zst"), func(t *testing.T) {
			input, pairs := corporatest.Path(t, c.corpus), readTruePairs(t, corporatest.Path(t, c.pairs))
			for _, threshold := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
				config := testConfig(t, input)
				config.Emit, config.Audit = []string{output.Pairs}, "500"
				config.Threshold, config.Tokens = threshold, measureOf(strings.Contains(c.pairs, "_w3cjk_"))
				summary := runJob(t, config)
				recall, precision, figures := judge(readRows[pairRow](t, config.Output, output.Pairs), pairs, threshold)
				t.Logf("exact keys, %g: %s; %d candidates", threshold, figures, summary.Counts.Candidates)
				if recall != 1 || precision != 1 || summary.Skipped.Pairs > 0 || summary.Audit.Recall != 1 {
					t.Errorf("exact keys, %g: %s, skipped %+v, audit %+v; want all pairs and nothing else", threshold, figures, summary.Skipped, summary.Audit)
				}
			}
			for _, threshold := range []float64{0.5, 0.7, 0.8} {
				config := byKeys(testConfig(t, input), methods.MinHash)
				config.Emit = []string{output.Clusters, output.Pairs}
				config.Threshold, config.Tokens = threshold, measureOf(strings.Contains(c.pairs, "_w3cjk_"))
				summary := runJob(t, config)
				recall, precision, figures := judge(readRows[pairRow](t, config.Output, output.Pairs), pairs, threshold)
				t.Logf("%g: %s; %d candidates, %d clusters, skipped %d", threshold, figures,
					summary.Counts.Candidates, summary.Counts.Clusters, summary.Skipped.Pairs)
				if recall < 0.99 || precision < 1 {
					t.Errorf("%g: %s; want a recall of 0.99 and a precision of 1", threshold, figures)
				}
				audits++
				exact := inClusters(readRows[clusterRow](t, config.Output, output.Clusters), pairs, threshold)
				if audit := summary.Audit; audit.Low <= exact && exact <= audit.High {
					covered++
				} else {
					t.Logf("%g: %.5f of the pairs are in clusters, the audit says %+v", threshold, exact, *audit)
				}
			}
			config := testConfig(t, input)
			config.Emit = []string{output.Clusters, output.Pairs}
			config.Threshold, config.Tokens, config.Keys = 0.8, measureOf(strings.Contains(c.pairs, "_w3cjk_")), methods.All
			if strings.HasPrefix(c.corpus, "tang/") {
				return // there are five thousand million pairs
			}
			runJob(t, config)
			if recall, precision, figures := judge(readRows[pairRow](t, config.Output, output.Pairs), pairs, config.Threshold); recall != 1 || precision != 1 {
				t.Errorf("all pairs: %s; want all and nothing else", figures)
			}
		})
	}
	t.Logf("the interval of the audit holds the exact recall in %d of %d runs", covered, audits)
	if 10*covered < 9*audits {
		t.Error("want nine tenths of them")
	}
}

// inClusters returns the share of the true pairs that are in one cluster.
func inClusters(rows []clusterRow, pairs []truePair, threshold float64) float64 {
	cluster := map[string]string{}
	for _, row := range rows {
		cluster[row.ID] = row.Cluster
	}
	total, found := 0, 0
	for _, pair := range pairs {
		if pair.jaccard < threshold {
			continue
		}
		total++
		if cluster[pair.a] != "" && cluster[pair.a] == cluster[pair.b] {
			found++
		}
	}
	return float64(found) / float64(total)
}

// truePair is a pair of the truth.
type truePair struct {
	a, b    string
	jaccard float64
}

func readTruePairs(t testing.TB, path string) []truePair {
	t.Helper()
	var pairs []truePair
	for row := range strings.Lines(string(readFile(t, path))) {
		fields := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		jaccard, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, truePair{fields[0], fields[1], jaccard})
	}
	if len(pairs) == 0 {
		t.Fatalf("%s holds no pair", path)
	}
	return pairs
}

// judge compares listed pairs with the true ones. A true pair is found if both are in one class of identical documents,
// or if a listed pair joins their classes. A listed pair of classes that is not true is wrong.
func judge(rows []pairRow, pairs []truePair, threshold float64) (recall, precision float64, figures string) {
	class := map[string]string{} // the first identical document
	for _, row := range rows {
		if row.Identical {
			class[row.B] = row.A
		}
	}
	classes := func(a, b string) [2]string {
		if first, ok := class[a]; ok {
			a = first
		}
		if first, ok := class[b]; ok {
			b = first
		}
		return [2]string{min(a, b), max(a, b)}
	}
	listed := map[[2]string]bool{}
	for _, row := range rows {
		if !row.Identical {
			listed[classes(row.A, row.B)] = true
		}
	}
	known := map[[2]string]bool{}
	total, found, wrong := 0, 0, 0
	for _, pair := range pairs {
		if pair.jaccard < threshold {
			continue
		}
		c := classes(pair.a, pair.b)
		known[c] = true
		total++
		if c[0] == c[1] || listed[c] {
			found++
		}
	}
	for c := range listed {
		if !known[c] {
			wrong++
		}
	}
	recall, precision = float64(found)/float64(max(total, 1)), 1-float64(wrong)/float64(max(len(listed), 1))
	return recall, precision, fmt.Sprintf("recall %.5f (%d of %d), precision %.5f (%d wrong of %d)", recall, found, total, precision, wrong, len(listed))
}

// TestJudge makes sure that the judge finds faults.
func TestJudge(t *testing.T) {
	rows := []pairRow{{A: "a", B: "b", Identical: true, Jaccard: 1}, {A: "a", B: "c", Jaccard: 0.8}, {A: "c", B: "d", Jaccard: 0.7}}
	pairs := []truePair{{"a", "b", 1}, {"a", "c", 0.8}, {"b", "c", 0.8}, {"x", "y", 0.9}, {"c", "e", 0.5}}
	recall, precision, figures := judge(rows, pairs, 0.6)
	if recall != 0.75 || precision != 0.5 {
		t.Errorf("%s; want 3 of 4, and one of 2 wrong", figures)
	}
}
