package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// sides are values of a field in JSON. The last one is none.
var sides = []string{`"a"`, `"b"`, `17`, `null`}

// sided returns documents that have one of some values in the field source.
func sided(lines []line, values []string, seed uint64) []line {
	random := newWriter(seed)
	return marked(lines, func(_ int, l *line) map[string]string {
		l.side = pick(random, values)
		return map[string]string{"source": l.side}
	})
}

// spread returns documents of many texts. Each has copies and near-copies.
func spread(seed uint64) []line {
	w := newWriter(seed)
	w.made = 20_000
	for range 30 {
		text := w.text(30)
		for range 1 + w.random.IntN(4) {
			near := w.set(w.change(text, 0.02))
			for range 1 + w.random.IntN(4) {
				w.add(near)
			}
		}
	}
	return w.lines
}

// TestAcrossFollows: the rows of a job follow from the rows of a job that compares all documents, whatever the method.
func TestAcrossFollows(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(synthetic(61), equalTexts(62), spread(63))
	lines = marked(sided(lines, sides, 64), func(i int, l *line) map[string]string {
		l.scope = []string{`"en"`, `"de"`}[i/2%2]
		return map[string]string{"lang": l.scope}
	})
	files := cut(lines, 4)
	tr, input := naiveTruth(3, true, files...), putCorpus(t, plain, files...)
	for _, c := range []struct {
		name   string
		change func(*job.Config)
	}{
		{"sketches", func(c *job.Config) { c.Keys, c.Verify = methods.MinHash, methods.VerifySketch }},
		{"no verification", func(c *job.Config) {
			c.Keys, c.Verify, c.Audit = methods.MinHash, methods.VerifyNone, "off"
		}},
		{"simhash in scopes", func(c *job.Config) {
			c.Keys, c.Hamming, c.Threshold, c.Within = methods.SimHash, 9, 0.8, "lang"
		}},
		{"simhash, then sets", func(c *job.Config) {
			c.Keys, c.Hamming, c.Score, c.Audit = methods.SimHash, 9, methods.Jaccard, "off"
		}},
		{"same words", func(c *job.Config) { c.Keys, c.Threshold = methods.SameWords, 0.8 }},
		{"passages", func(c *job.Config) {
			c.Keys, c.Similarity, c.Emit = methods.Auto, methods.Containment, []string{output.Pairs}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, input)
			config.Threshold, config.Emit = 0.5, []string{output.Clusters, output.Pairs, output.Removed, output.Unique}
			c.change(&config)
			runJob(t, config)
			f := newFollowing(tr, readPairs(t, &config))
			config.Across, config.Output = "source", filepath.Join(t.TempDir(), "across")
			summary := runJob(t, config)
			edges := tr.edgesAcross(f.first, f.isNear)
			var got, want []string
			for _, row := range readPairs(t, &config) {
				got = append(got, row.A+" "+row.B)
			}
			for _, e := range edges {
				want = append(want, tr.documents[e[0]].name+" "+tr.documents[e[1]].name)
			}
			slices.Sort(got)
			slices.Sort(want)
			sameText(t, "pairs", strings.Join(got, "\n"), strings.Join(want, "\n"))
			if len(want) < 100 || summary.Counts.Pairs != int64(len(want)) {
				t.Errorf("%d pairs are wanted, %d counted", len(want), summary.Counts.Pairs)
			}
			if config.Similarity == methods.Containment {
				return
			}
			clusters, root := readRows[clusterRow](t, config.Output, output.Clusters), tr.components(edges)
			checkKeepLaw(t, tr, f.first, readPairs(t, &config), clusters,
				readRows[removedRow](t, config.Output, output.Removed))
			for _, row := range clusters {
				if first := tr.documents[root[f.number[row.Ref]]].name; row.Cluster != first {
					t.Errorf("%s is in the cluster of %s, want %s", row.ID, row.Cluster, first)
				}
			}
			for _, e := range edges {
				if clustered := summary.Counts.Clustered; clustered != int64(len(clusters)) ||
					root[e[0]] != root[e[1]] {
					t.Fatalf("%d documents are clustered, of %v", clustered, e)
				}
			}
		})
	}
}

// readPairs returns the rows of pairs of a job, without their passages.
func readPairs(t *testing.T, config *job.Config) (rows []pairRow) {
	t.Helper()
	if config.Similarity != methods.Containment {
		return readRows[pairRow](t, config.Output, output.Pairs)
	}
	for _, row := range readRows[passageRow](t, config.Output, output.Pairs) {
		rows = append(rows, row.pairRow)
	}
	return rows
}

// following holds what the rows of pairs say of documents, whatever their sides are.
type following struct {
	tr     *truth
	number map[string]int // of documents, by name and ref
	first  []int          // the first document that is identical to each
	near   map[[2]int]bool
}

func newFollowing(tr *truth, rows []pairRow) *following {
	f := &following{tr: tr, number: map[string]int{}, first: make([]int, len(tr.documents)), near: map[[2]int]bool{}}
	for i := range tr.documents {
		f.number[tr.documents[i].ref], f.number[tr.documents[i].name], f.first[i] = i, i, i
	}
	for _, row := range rows {
		if a, b := f.number[row.A], f.number[row.B]; row.Identical {
			f.first[b] = f.first[a]
		}
	}
	for _, row := range rows {
		a, b := f.first[f.number[row.A]], f.first[f.number[row.B]]
		f.near[[2]int{a, b}], f.near[[2]int{b, a}] = true, true
	}
	return f
}

// isNear reports whether two classes of identical documents are near each other, given their first documents.
func (f *following) isNear(i, j int) bool { return f.near[[2]int{i, j}] }

// scopes are values of a field in JSON. The last one is none.
var scopes = []string{`"en"`, `"de"`, `""`, `17`, `true`, `null`}

// scoped returns documents that have one of some values in the field lang.
func scoped(lines []line, seed uint64) []line {
	random := newWriter(seed)
	return marked(lines, func(_ int, l *line) map[string]string {
		l.scope = pick(random, scopes)
		return map[string]string{"lang": l.scope}
	})
}

// only returns the files with the documents of a scope only.
func only(scope string, files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		files[i].lines = slices.DeleteFunc(slices.Clone(files[i].lines), func(l line) bool { return l.scope != scope })
	}
	return files
}

// checkAudit checks the recall that an audit of all documents has found.
func checkAudit(t *testing.T, config job.Config, summary Summary, tr *truth) {
	t.Helper()
	want, pairs := clusterRecall(tr, readRows[clusterRow](t, config.Output, output.Clusters), config.Threshold)
	if audit := summary.Audit; audit == nil || math.Abs(audit.Recall-want) > 1e-12 || audit.Pairs != 2*pairs ||
		want < .999 {
		t.Errorf("audit %+v, the recall is %g of %d pairs", audit, want, pairs)
	}
}

// equalTexts returns documents of few texts, with and without words.
func equalTexts(seed uint64) []line {
	w := newWriter(seed)
	w.made = 10_000
	for range 6 {
		text := w.set(w.text(25))
		for range 20 {
			w.add(text)
		}
	}
	for range 30 {
		w.add(" ...")
	}
	return w.lines
}

// withinParts are what the results of a job hold, without what depends on other documents.
type withinParts struct {
	rows   []string // of all outputs, sorted
	counts findings.Counts
}

// withinPartsOf runs a job and returns its parts.
func withinPartsOf(t *testing.T, config job.Config) withinParts {
	t.Helper()
	config.Output = filepath.Join(t.TempDir(), "out")
	summary := runJob(t, config)
	p := withinParts{counts: summary.Counts}
	for _, name := range config.Outputs() {
		for row := range strings.Lines(string(readOutput(t, config.Output, name))) {
			if at := strings.Index(row, `"ref":`); at >= 0 { // positions differ
				row = row[:at] + row[at+strings.IndexByte(row[at:], ','):]
			}
			p.rows = append(p.rows, name+" "+row)
		}
	}
	return p
}

// TestWithinIsTheUnion: the results of a job are the results of one job for each value, put together, whatever the
// method. TestLaws has the methods that brute force can follow.
func TestWithinIsTheUnion(t *testing.T) {
	t.Parallel()
	lines := scoped(slices.Concat(synthetic(44), equalTexts(45)), 46)
	files := cut(lines, 4)
	known, files := files[:1], files[1:]
	for n, c := range []struct {
		name   string
		change func(*job.Config)
	}{
		{"sketches", func(c *job.Config) { c.Keys, c.Verify = methods.MinHash, methods.VerifySketch }},
		{"simhash", func(c *job.Config) { c.Keys, c.Hamming, c.Threshold = methods.SimHash, 9, 0.8 }},
		{"simhash, then sets", func(c *job.Config) {
			c.Keys, c.Hamming, c.Score, c.Audit = methods.SimHash, 9, methods.Jaccard, "off"
		}},
		{"passages", func(c *job.Config) {
			c.Keys, c.Similarity, c.Emit = methods.Auto, methods.Containment, []string{output.Pairs}
			c.Keep = preference.First
		}},
	} {
		hasReference := n%2 == 0
		t.Run(fmt.Sprintf("%s/%v", c.name, hasReference), func(t *testing.T) {
			config := testConfig(t, putCorpus(t, plain, files...))
			config.Threshold, config.Within = 0.5, "lang"
			config.Emit = []string{output.Clusters, output.Pairs, output.Removed, output.Unique}
			config.Keep = "longest"
			c.change(&config)
			if hasReference {
				config.Reference = []string{putCorpus(t, plain, known...)}
			}
			got := withinPartsOf(t, config)
			var want withinParts
			for _, scope := range scopes {
				config := config
				config.Within, config.Input = "", []string{putCorpus(t, plain, only(scope, files)...)}
				if hasReference {
					config.Reference = []string{putCorpus(t, plain, only(scope, known)...)}
				}
				part := withinPartsOf(t, config)
				want.rows = append(want.rows, part.rows...)
				findings.Merge(&want.counts, part.counts)
			}
			slices.Sort(got.rows)
			slices.Sort(want.rows)
			sameText(t, "rows", strings.Join(got.rows, ""), strings.Join(want.rows, ""))
			// Which pairs are candidates depends on how rare shingles are.
			got.counts.Candidates, got.counts.Unscoped, want.counts.Candidates = 0, 0, 0
			got.counts.MedianCluster, want.counts.MedianCluster = 0, 0 // medians do not add up
			checkSame(t, "counts", got.counts, want.counts)
			if got.counts.Pairs < 100 || got.counts.Identical < 50 {
				t.Errorf("too few pairs: counts %+v", got.counts)
			}
		})
	}
}

// TestAcrossNames: names are texts if documents share an id, whether or not these are in clusters, in each kind of run.
func TestAcrossNames(t *testing.T) {
	record := func(id int, text, lang string) []byte {
		return fmt.Appendf(nil, `{"id":%d,"text":%q,"lang":%q}`+"\n", id, text, lang)
	}
	for _, keys := range methods.Resembling() {
		if keys == methods.None {
			continue // no documents are in clusters
		}
		t.Run(string(keys), func(t *testing.T) {
			h := newHistory(t, 1, false)
			h.config = byKeys(testConfig(t), keys)
			h.config.Across = "lang"
			h.config.Emit = []string{output.Clusters, output.Pairs, output.Unique, output.Annotated, output.Removed}
			h.config.State, h.config.Overwrite, h.rebuilt = filepath.Join(t.TempDir(), "state"), true, ""
			in := filepath.Join(h.root, h.folders[0])
			if err := os.RemoveAll(in); err != nil {
				t.Fatal(err)
			}
			h.put(t, filepath.Join(in, "a.jsonl"), slices.Concat(
				record(1, "equal texts of one side", "a"), record(1, "equal texts of one side", "a"),
				record(3, "equal texts of two sides", "a"), record(4, "equal texts of two sides", "b"),
			))
			h.run(t)
			h.put(t, filepath.Join(in, "b.jsonl"), record(5, "another text that resembles none", "c"))
			if s, isDone := h.run(t); !isDone || s.Counts.NamedByRef != 2 || s.Counts.Clustered != 2 {
				t.Errorf("counts %+v", s.Counts)
			}
		})
	}
}
