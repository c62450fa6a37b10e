package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/racetest"
	"mirrorbeam.dev/job"
)

// clusterRecall returns the share of the similar pairs of documents with words that are in one cluster, and the number
// of such pairs.
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

// listedRecall returns the share of the similar pairs of documents with words that
// follow from the rows of pairs: a row joins them, or documents equal to them.
func listedRecall(tr *truth, rows []pairRow, threshold float64) float64 {
	classes, names := map[string]int{}, map[string]int{} // by set, by name
	class := make([]int, len(tr.documents))
	for i, d := range tr.documents {
		key := fmt.Sprint(d.set)
		if _, known := classes[key]; !known {
			classes[key] = i
		}
		class[i] = classes[key]
		names[d.name] = class[i]
	}
	listed := map[[2]int]bool{}
	for _, row := range rows {
		a, b := names[row.A], names[row.B]
		listed[[2]int{min(a, b), max(a, b)}] = true
	}
	pairs, found := 0, 0
	for i := range tr.documents {
		for j := i + 1; j < len(tr.documents); j++ {
			if len(tr.documents[i].set) == 0 || tr.similarity(i, j) < threshold {
				continue
			}
			pairs++
			if a, b := class[i], class[j]; listed[[2]int{min(a, b), max(a, b)}] {
				found++
			}
		}
	}
	return float64(found) / float64(pairs)
}

// chained returns documents in chains A, B, C: each is like the one before it.
func chained(seed uint64) []line {
	w := newWriter(seed)
	for range 300 {
		words := w.text(60)
		for range 5 {
			words[w.random.IntN(60)] = fmt.Sprintf("w%d", w.random.IntN(1_000_000))
			w.add(strings.Join(words, " "))
		}
	}
	return w.lines
}

// TestAuditOfAllDocuments samples every document. Both figures are the true ones, even if keys were thinned so that
// pairs are missed; and every pair was seen from both ends. In chains with thin bands a pair A, C is often missed
// though both are joined to B: the two figures differ.
func TestAuditOfAllDocuments(t *testing.T) {
	odd, chains := cut(oddities(91), 3), cut(chained(17), 1)
	for _, c := range []struct {
		name        string
		files       []file
		bands, rows int
		threshold   float64
		low, high   float64 // bounds of the expected recall
		apart       float64 // the least difference of the two figures
	}{
		{"usual bands", odd, 0, 0, 0.5, 0.999, 1, 0},
		{"thin bands", odd, 3, 4, 0.5, 0.5, 0.99, 0},
		{"one band", odd, 1, 3, 0.6, 0.3, 0.97, 0},
		{"chains", chains, 5, 4, 0.6, 0.9, 1, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := naiveTruth(3, true, c.files...)
			config := byKeys(testConfig(t, putCorpus(t, plain, c.files...)), methods.MinHash)
			config.Emit = []string{output.Clusters, output.Pairs}
			config.Bands, config.Rows, config.Threshold, config.Audit = c.bands, c.rows, c.threshold, "100000"
			if config.Recall = job.UsualRecall; c.bands == 0 {
				config.Recall = certain
			}
			audit := runJob(t, config).Audit
			want, pairs := clusterRecall(tr, readRows[clusterRow](t, config.Output, output.Clusters), c.threshold)
			if audit == nil || math.Abs(audit.Recall-want) > 1e-12 || audit.Pairs != 2*pairs {
				t.Fatalf("audit %+v, the recall is %g of %d pairs", audit, want, pairs)
			}
			if want < c.low || want > c.high || audit.Low != audit.Recall || audit.High < want ||
				audit.High-audit.Low > 0.2 || audit.Wide {
				t.Errorf("a recall of %g, audit %+v; want one from %g to %g", want, audit, c.low, c.high)
			}
			listed := listedRecall(tr, readRows[pairRow](t, config.Output, output.Pairs), c.threshold)
			if math.Abs(audit.Listed-listed) > 1e-12 || audit.ListedLow != audit.Listed ||
				audit.Recall-audit.Listed < c.apart {
				t.Errorf("audit %+v, %g of the pairs are listed", audit, listed)
			}
		})
	}
}

// TestAuditOfMuchAlike: thousands of equal lines, or of pages of one template, form hundreds of millions of pairs. An
// audit counts them in few records and little memory.
func TestAuditOfMuchAlike(t *testing.T) {
	const documents = 20_000
	words := "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
	for name, line := range map[string]func(i int) string{
		"equal":    func(int) string { return words },
		"template": func(i int) string { return fmt.Sprintf("%s %s page%d", words, words[:40], i) },
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for i := range documents {
				fmt.Fprintf(&text, "{\"text\":%q}\n", line(i))
			}
			path := filepath.Join(t.TempDir(), "alike.jsonl")
			if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			config := byKeys(testConfig(t, path), methods.MinHash)
			config.Emit = []string{output.Clusters}
			config.Audit = "off"
			without := runJob(t, config).TempBytes
			config.Audit, config.Output = "auto", t.TempDir()
			summary := runJob(t, config)
			a := summary.Audit
			if a == nil || a.Recall != 1 || a.Listed > a.Recall || a.Wide || a.Partnered < 100 {
				t.Errorf("audit %+v, want all pairs together", a)
			}
			if name == "equal" && (a.Low < 0.999 || a.Listed != 1 || a.Pairs != int64(a.Sampled)*(documents-1)) {
				t.Errorf("audit %+v, want all equal pairs", a)
			}
			if truth := float64(summary.Counts.Pairs) / (documents * (documents - 1) / 2); name == "template" &&
				(truth < a.ListedLow || truth > a.ListedHigh || a.Listed > 0.01) {
				t.Errorf("audit %+v, and %g of the pairs are listed", a, truth)
			}
			// The documents set aside for the sample, and some megabytes of classes.
			if more := summary.TempBytes - without; more > 24<<20 {
				t.Errorf("the audit wrote %d bytes", more)
			}
			if summary.PeakMemoryBytes > 1<<30 && !racetest.On {
				t.Errorf("%d MiB of memory", summary.PeakMemoryBytes>>20)
			}
		})
	}
}

// TestAuditCountsReference: pairs of the input with the reference count, pairs within the reference do not. Each
// document of the reference shares all words but the last with a document of the input, so every document of the input
// has a partner there.
func TestAuditCountsReference(t *testing.T) {
	reference, input := newWriter(19), newWriter(20)
	for range 200 {
		text := strings.Join(input.text(40), " ")
		for _, end := range []string{" old", " old", " older"} {
			reference.add(text + end)
		}
		input.add(text + " new")
	}
	folder := putCorpus(t, plain, file{"reference.jsonl", reference.lines}, file{"input.jsonl", input.lines})
	config := byKeys(testConfig(t, filepath.Join(folder, "input.jsonl")), methods.MinHash)
	config.Reference, config.Emit = []string{filepath.Join(folder, "reference.jsonl")}, []string{output.Pairs}
	config.Audit = "100000"
	if a := runJob(t, config).Audit; a == nil || a.Sampled != 200 || a.Partnered != 200 || a.Pairs != 600 ||
		a.Listed < 0.95 || a.Low != a.Recall {
		t.Errorf("audit %+v, want 600 pairs with the reference", a)
	}
	config.Bands, config.Rows, config.Output = 1, 16, t.TempDir()
	a := runJob(t, config).Audit
	if rows := readRows[pairRow](t, config.Output, output.Pairs); a.Listed > 0.9 || a.Pairs != 600 || len(rows) == 0 {
		t.Errorf("thin bands: audit %+v, %d rows", a, len(rows))
	}
}
