package evaluation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/inspect/evaluation"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/corporatest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
	"mirrorbeam.dev/sketch"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// newConfig is a job over inputs by exact keys, with the outputs that are named.
func newConfig(t *testing.T, threshold float64, outputs []string, inputs ...string) job.Config {
	config := job.Default()
	config.Input, config.Output = inputs, filepath.Join(t.TempDir(), "out")
	config.Keys, config.Threshold, config.Emit = methods.Exact, threshold, outputs
	return config
}

// run runs a job.
func run(t *testing.T, config job.Config) pipeline.Summary {
	t.Helper()
	summary, err := pipeline.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// rowsOf returns the rows of an output.
func rowsOf[Row any](t *testing.T, config job.Config, name string) (rows []Row) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(config.Output, name+"-[0-9]*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows of %s (%v)", name, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(content) {
			var row Row
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// known is what an independent program has found: all pairs of a corpus from a similarity on.
type known struct {
	documents *evaluation.Documents
	pairs     []evaluation.Pair
}

// readKnown reads the pairs in a file of the corpora.
func readKnown(t *testing.T, name string) known {
	t.Helper()
	documents := evaluation.NewDocuments()
	lines := func(yield func([]byte, error) bool) {
		for line := range bytes.Lines(corporatest.Read(t, name)) {
			if !yield(bytes.TrimSuffix(line, []byte("\n")), nil) {
				return
			}
		}
	}
	truth, err := evaluation.ReadTruth(name, lines, 0, documents)
	if err != nil || len(truth.Pairs) == 0 {
		t.Fatalf("%s: %d pairs (%v)", name, len(truth.Pairs), err)
	}
	return known{documents, truth.Pairs}
}

// names returns the names of both documents of a pair.
func (k known) names(p evaluation.Pair) (a, b string) {
	return k.documents.Name(p.A), k.documents.Name(p.B)
}

// judge compares the rows of pairs of a job with those that are known, unless they are left out.
func (k known) judge(t *testing.T, config job.Config, leftOut func(p evaluation.Pair) bool) evaluation.PairCounts {
	t.Helper()
	truth := &evaluation.Truth{Documents: k.documents.Len()}
	for _, p := range k.pairs {
		if p.Similarity >= config.Threshold && (leftOut == nil || !leftOut(p)) {
			truth.Pairs = append(truth.Pairs, p)
		}
	}
	var identical, listed []evaluation.Pair
	for _, row := range rowsOf[output.Pair](t, config, output.Pairs) {
		a, b := k.documents.Add(row.A), k.documents.Add(row.B)
		pair := evaluation.Pair{A: min(a, b), B: max(a, b)}
		if row.Identical {
			identical = append(identical, pair)
		} else {
			listed = append(listed, pair)
		}
	}
	judge := evaluation.NewJudge(truth, evaluation.Components(k.documents.Len(), identical))
	for _, pair := range listed {
		judge.See(pair.A, pair.B)
	}
	return judge.Counts()
}

// inClusters returns the share of the known pairs that are in one cluster.
func (k known) inClusters(t *testing.T, config job.Config) float64 {
	t.Helper()
	cluster := map[string]string{}
	for _, row := range rowsOf[output.Member](t, config, output.Clusters) {
		cluster[row.ID] = row.Cluster
	}
	total, found := 0, 0
	for _, p := range k.pairs {
		if p.Similarity < config.Threshold {
			continue
		}
		total++
		if a, b := k.names(p); cluster[a] != "" && cluster[a] == cluster[b] {
			found++
		}
	}
	return float64(found) / float64(total)
}

// truths are the corpora whose pairs are known, and the files of these pairs.
func truths(t *testing.T) map[string]string {
	all := map[string]string{
		"reuters21578/reuters": "reuters21578/exact_w3_j0.5.tsv.zst",
		"licenses/all":         "licenses/exact_w3_j0.5.tsv.zst",
		"tang/tang":            "tang/exact_w3cjk_j0.5.tsv.zst",
	}
	paths, _ := filepath.Glob(filepath.Join(corporatest.Folder(t), "mirrors", "*.exact_*.tsv.zst"))
	for _, path := range paths {
		name, _, _ := strings.Cut(filepath.Base(path), ".exact_")
		all["mirrors/"+name] = "mirrors/" + filepath.Base(path)
	}
	return all
}

// tokensOf returns the tokens by which the known pairs were found.
func tokensOf(pairs string) sketch.Tokens {
	if strings.Contains(pairs, "_w3cjk_") {
		return sketch.SingleTokens
	}
	return sketch.WordTokens
}

// TestCorpora measures recall and precision on real texts against all pairs that an independent program found.
func TestCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	audits, covered := 0, 0
	for name, truth := range truths(t) {
		t.Run(name, func(t *testing.T) {
			input, pairs := corporatest.Path(t, name+".jsonl.zst"), readKnown(t, truth)
			for _, threshold := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
				config := newConfig(t, threshold, []string{output.Pairs}, input)
				config.Tokens, config.Audit = tokensOf(truth), "500"
				summary := run(t, config)
				if n := pairs.judge(t, config, nil); n.Found != n.True || n.Wrong > 0 || summary.Skipped.Pairs > 0 ||
					summary.Audit.Recall != 1 {
					t.Errorf("exact keys, %g: %+v, skipped %+v, audit %+v; want all pairs and nothing else", threshold,
						n, summary.Skipped, summary.Audit)
				}
			}
			for _, threshold := range []float64{0.5, 0.7, 0.8} {
				config := newConfig(t, threshold, []string{output.Clusters, output.Pairs}, input)
				config.Tokens, config.Keys = tokensOf(truth), methods.MinHash
				summary := run(t, config)
				if n := pairs.judge(t, config, nil); n.Score().Recall < 0.99 || n.Wrong > 0 {
					t.Errorf("%g: %+v; want a recall of 0.99 and a precision of 1", threshold, n)
				}
				audits++
				exact := pairs.inClusters(t, config)
				if audit := summary.Audit; audit.Low <= exact && exact <= audit.High {
					covered++
				} else {
					t.Logf("%g: %.5f of the pairs are in clusters, the audit says %+v", threshold, exact, *audit)
				}
			}
			if name == "tang/tang" {
				return // there are five thousand million pairs
			}
			config := newConfig(t, 0.8, []string{output.Pairs}, input)
			config.Tokens, config.Keys = tokensOf(truth), methods.All
			run(t, config)
			if n := pairs.judge(t, config, nil); n.Found != n.True || n.Wrong > 0 {
				t.Errorf("all pairs: %+v; want all and nothing else", n)
			}
		})
	}
	t.Logf("the interval of the audit holds the exact recall in %d of %d runs", covered, audits)
	if 10*covered < 9*audits {
		t.Error("want nine tenths of them")
	}
}

// TestReferenceOfCorpora splits corpora in two. All true pairs follow from the rows, except pairs of two documents of
// the reference.
func TestReferenceOfCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	for _, name := range []string{"reuters21578/reuters", "licenses/all"} {
		var parts [2][]byte // the reference, the input
		isKnown, n := map[string]bool{}, 0
		for line := range bytes.Lines(corporatest.Read(t, name+".jsonl.zst")) {
			var record struct{ ID string }
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			isKnown[record.ID], parts[n%2] = n%2 == 0, append(parts[n%2], line...)
			n++
		}
		folder := t.TempDir()
		reference, input := filepath.Join(folder, "r.jsonl"), filepath.Join(folder, "x.jsonl")
		for i, path := range []string{reference, input} {
			if err := os.WriteFile(path, parts[i], 0o666); err != nil {
				t.Fatal(err)
			}
		}
		pairs := readKnown(t, filepath.Dir(name)+"/exact_w3_j0.5.tsv.zst")
		for _, threshold := range []float64{0.5, 0.8} {
			t.Run(fmt.Sprintf("%s at %g", name, threshold), func(t *testing.T) {
				config := newConfig(t, threshold, []string{output.Pairs, output.Removed}, input)
				config.Reference, config.Tokens = []string{reference}, sketch.WordTokens
				summary := run(t, config)
				within := func(p evaluation.Pair) bool { a, b := pairs.names(p); return isKnown[a] && isKnown[b] }
				if n := pairs.judge(t, config, within); n.Found != n.True || n.Wrong > 0 || summary.Skipped.Pairs > 0 {
					t.Errorf("%+v, skipped %+v; want all pairs and nothing else", n, summary.Skipped)
				}
				for _, row := range rowsOf[output.Pair](t, config, output.Pairs) {
					if isKnown[row.A] && isKnown[row.B] && !row.Identical {
						t.Errorf("%+v joins two documents of the reference", row)
					}
				}
				like := map[string]bool{} // documents of the input that are like one of the reference
				for _, p := range pairs.pairs {
					if a, b := pairs.names(p); p.Similarity >= threshold && isKnown[a] != isKnown[b] {
						like[a], like[b] = !isKnown[a], !isKnown[b]
					}
				}
				gone, want := int64(0), int64(0)
				for _, row := range rowsOf[output.Removal](t, config, output.Removed) {
					if like[row.ID] {
						gone++
					}
					if isKnown[row.ID] {
						t.Errorf("%+v is of the reference", row)
					}
				}
				for _, is := range like {
					if is {
						want++
					}
				}
				if n := summary.Counts; gone != want || n.RemovedForReference != want ||
					n.Kept+n.Removed != n.Documents {
					t.Errorf("%d documents are like the reference, %d of them go; counts %+v", want, gone, n)
				}
			})
		}
	}
}

// TestAuditFindsThinBandsInCorpora: bands that miss one pair in fourteen of real texts are detected by a sample of a
// tenth of the documents. One interval in twenty may miss the truth. So several samples are drawn: which documents are
// in a sample depends on the name of their file.
func TestAuditFindsThinBandsInCorpora(t *testing.T) {
	input := corporatest.Path(t, "mirrors/installguide_text.jsonl.zst")
	pairs := readKnown(t, "mirrors/installguide_text.exact_w3cjk_j0.5.tsv.zst")
	content, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	misses, sum, samples := 0, 0.0, 5
	if testing.Short() {
		samples = 2
	}
	seen := map[string]bool{}
	for i := range samples {
		named := filepath.Join(t.TempDir(), fmt.Sprint(i, ".jsonl.zst"))
		if err := os.WriteFile(named, content, 0o600); err != nil {
			t.Fatal(err)
		}
		config := newConfig(t, 0.5, []string{output.Clusters}, named)
		config.Keys = methods.MinHash
		config.Bands = 3
		config.Rows = 3
		config.Audit = "1000"
		config.Tokens = sketch.SingleTokens
		audit := run(t, config).Audit
		exact := pairs.inClusters(t, config)
		sum += audit.Recall - exact
		if exact < audit.Low || exact > audit.High {
			misses++
		}
		if exact > 0.95 || audit.High-audit.Low > 0.07 || audit.Sampled > 1000 {
			t.Errorf("%.4f of the pairs are in clusters, the audit says %+v", exact, *audit)
		}
		seen[fmt.Sprint(*audit)] = true
	}
	if mean := sum / float64(samples); misses > 1 || math.Abs(mean) > 0.02 || len(seen) < samples {
		t.Errorf(
			"%d of %d intervals do not hold the truth, the estimates are %+.4f off on average, %d samples are different", misses, samples, mean, len(seen))
	}
}

// TestChainsOfCorpora runs on corpora whose documents form long chains at a low threshold: template pages in many
// languages, and licences. A component may be large, but no document is removed for one that it is not similar to. A
// star is as tight as the threshold.
func TestChainsOfCorpora(t *testing.T) {
	for _, corpus := range []string{"mirrors/installguide_text.jsonl.zst", "licenses/all.jsonl.zst"} {
		t.Run(filepath.Dir(corpus), func(t *testing.T) {
			largest := map[keep.Split]int64{}
			for _, split := range []keep.Split{keep.Component, keep.Star} {
				config := newConfig(t, 0.5, []string{output.Clusters}, corporatest.Path(t, corpus))
				config.Split = split
				summary := run(t, config)
				kept := map[string]int{}
				for _, row := range rowsOf[output.Member](t, config, output.Clusters) {
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

// TestMirrorCorpora compares the mirrors among versions and translations of real sites with what is known from the
// names of their files: two sites are mirrors if at least half of the pages of the one with fewer pages have a page at
// the same path on the other, and a Jaccard similarity of at least .5 to it.
func TestMirrorCorpora(t *testing.T) {
	for corpus, rule := range map[string]site.Rule{
		"installguide_text": site.Host,
		"etcd_docs":         "prefix:4",
		"powershell_docs":   "prefix:2",
		"react_l10n":        site.Host,
		"clang_text":        site.Host,
	} {
		t.Run(corpus, func(t *testing.T) {
			config := newConfig(t, 0.5, []string{output.Mirrors, output.Sites},
				corporatest.Path(t, "mirrors/"+corpus+".jsonl.zst"))
			config.URLField, config.Site = "id", rule
			run(t, config)
			siteOf := func(id string) string {
				address, _ := site.Parse(id)
				name, _ := rule.Of(address)
				return name
			}
			pages, aligned, truth := map[string]int64{}, map[[2]string]int64{}, map[[2]string]bool{}
			for _, row := range rowsOf[output.Site](t, config, output.Sites) {
				pages[row.Site] = row.Pages
			}
			pairs := readKnown(t, "mirrors/"+corpus+".aligned_sim.tsv.zst")
			for _, p := range pairs.pairs {
				if a, b := pairs.names(p); p.Similarity >= 0.5 {
					a, b = siteOf(a), siteOf(b)
					aligned[[2]string{min(a, b), max(a, b)}]++
				}
			}
			for pair, n := range aligned {
				if n >= 3 && 2*n >= min(pages[pair[0]], pages[pair[1]]) {
					truth[pair] = true
				}
			}
			rows, right := rowsOf[output.Mirror](t, config, output.Mirrors), 0
			for _, row := range rows {
				if pair := [2]string{row.A, row.B}; truth[pair] {
					right++
				} else {
					t.Logf("%v has %d aligned pages of %d and %d", pair, aligned[pair], pages[row.A], pages[row.B])
				}
			}
			precision, recall := float64(right)/float64(max(len(rows), 1)), float64(right)/float64(max(len(truth), 1))
			// Pages that have moved make mirrors of sites that have a little less than half of their pages at the same
			// paths.
			if precision < 0.85 || recall < 1 {
				t.Errorf("%d mirrors: precision %.3f, recall %.3f", len(rows), precision, recall)
			}
		})
	}
}

// TestQueryOfCorpora compares the answers for all documents of real corpora with all pairs that an independent program
// found.
func TestQueryOfCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	for _, name := range []string{"licenses/all", "tang/tang"} {
		t.Run(filepath.Dir(name), func(t *testing.T) {
			truth := truths(t)[name]
			config := newConfig(t, 0.5, []string{output.Clusters}, corporatest.Path(t, name+".jsonl.zst"))
			config.Tokens, config.Audit = tokensOf(truth), "off"
			config.State = filepath.Join(t.TempDir(), "state")
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			run(t, config)
			x, err := query.OpenState(t.Context(), config.State, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			var answer bytes.Buffer
			if _, err := x.Answer(t.Context(), query.Request{Input: config.Input}, &answer); err != nil {
				t.Fatal(err)
			}
			want, times := map[string]float64{}, map[string]int{}
			pairs := readKnown(t, truth)
			for _, p := range pairs.pairs {
				a, b := pairs.names(p)
				want[min(a, b)+"\t"+max(a, b)] = p.Similarity
			}
			for line := range bytes.Lines(answer.Bytes()) {
				var row struct {
					ID, Match    string
					Jaccard      float64
					ContainmentA float64 `json:"containment_a"`
					Identical    bool
				}
				if err := json.Unmarshal(line, &row); err != nil {
					t.Fatal(err)
				}
				pair := min(row.ID, row.Match) + "\t" + max(row.ID, row.Match)
				if times[pair]++; row.ID == row.Match {
					continue
				}
				// The truth has five digits, and no documents without words.
				jaccard, found := want[pair]
				if !found && row.ContainmentA > 0 && !row.Identical || found && math.Abs(jaccard-row.Jaccard) > 1e-5 {
					t.Fatalf("%+v; the truth has %g", row, jaccard)
				}
			}
			for pair := range want {
				if times[pair] != 2 {
					t.Fatalf("%s is found %d times, want once from each side", pair, times[pair])
				}
			}
		})
	}
}
