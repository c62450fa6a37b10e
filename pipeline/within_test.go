package pipeline

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
)

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
	if audit := summary.Audit; audit == nil || math.Abs(audit.Recall-want) > 1e-12 || audit.Pairs != 2*pairs || want < .999 {
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

// TestWithinIsTheUnion: the results of a job are the results of one job for each value, put together, whatever the method. TestLaws has
// the methods that brute force can follow.
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
		{"simhash, then sets", func(c *job.Config) { c.Keys, c.Hamming, c.Score, c.Audit = methods.SimHash, 9, methods.Jaccard, "off" }},
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
			config.Keep = preference.Longest
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
			checkSame(t, "counts", got.counts, want.counts)
			if got.counts.Pairs < 100 || got.counts.Identical < 50 {
				t.Errorf("too few pairs: counts %+v", got.counts)
			}
		})
	}
}
