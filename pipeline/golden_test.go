package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/corporatest"
	"mirrorbeam.dev/internal/util/goldentest"
	"mirrorbeam.dev/internal/util/racetest"
	"mirrorbeam.dev/job"
)

// The law of these tests: no change to the program changes the bytes of its results. They run the job in every mode and
// compare digests of its outputs with those in a file. UPDATE=1 rewrites the file, for a change that is meant to change
// results.

// goldenFile holds a line for each digest: the row, a tab, the content that the digest is of, a tab, and the digest. It
// holds no text of a corpus.
const goldenFile = "testdata/golden.txt"

// goldenConfig is a job with all outputs.
func goldenConfig(t testing.TB, input string) job.Config {
	config := testConfig(t, input)
	config.Emit = append(config.Emit, output.Sketches)
	return config
}

// golden compares digests with those in the file.
type golden struct {
	want, got map[string]string // digests by row and content
	folders   map[string]string // folders of corpora that were made
	stopWords string
	home      *testing.T // the test at whose end the folders go
}

// TestGolden compares the results of jobs, queries and plans of every mode over made-up documents with the file.
func TestGolden(t *testing.T) { compareGolden(t, false) }

// TestGoldenOfCorpora does so over real texts.
func TestGoldenOfCorpora(t *testing.T) { compareGolden(t, true) }

// compareGolden compares the results of the rows over real texts, or of the others.
func compareGolden(t *testing.T, real bool) {
	if racetest.On {
		t.Skip("the jobs are those of other tests, and take minutes with the race detector")
	}
	g := newGolden(t)
	row := func(name, input string, compare func(t *testing.T)) {
		if isReal := goldenCorpora[input] == nil; isReal == real {
			t.Run(name, compare)
		}
	}
	for _, run := range goldenRuns {
		row(run.name, run.input, func(t *testing.T) { g.run(t, run) })
	}
	for _, query := range goldenQueries {
		row(query.name, query.input, func(t *testing.T) { g.query(t, query) })
	}
	for _, plan := range goldenPlans {
		row(plan.name, plan.input, func(t *testing.T) { g.plan(t, plan) })
	}
	if goldentest.Updates() {
		g.write(t)
	}
}

func newGolden(t *testing.T) *golden {
	g := &golden{want: map[string]string{}, got: map[string]string{}, folders: map[string]string{}, home: t}
	words := []string{
		"# The most frequent English words, and some of the made-up ones.", "the", "of", "and", "to",
		"a", "in", "is", "that", "for", "it",
	}
	words = append(words, newWriter(301).words[:60]...)
	g.stopWords = put(t, filepath.Join(t.TempDir(), "stopwords.txt"), []byte(strings.Join(words, "\n")+"\n"), plain)
	content, err := os.ReadFile(goldenFile)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && goldentest.Updates()) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		at := strings.LastIndexByte(line, '\t')
		g.want[line[:at]] = strings.TrimSpace(line[at:])
	}
	return g
}

// corpus returns the path of a corpus.
func (g *golden) corpus(t *testing.T, name string) string {
	t.Helper()
	if g.folders[name] != "" {
		return g.folders[name]
	}
	if makeCorpus := goldenCorpora[name]; makeCorpus != nil {
		g.folders[name] = makeCorpus(g.home)
		return g.folders[name]
	}
	return corporatest.Path(t, name)
}

// config returns the configuration of a row.
func (g *golden) config(t *testing.T, run goldenRun) job.Config {
	t.Helper()
	config := goldenConfig(t, g.corpus(t, run.input))
	if strings.Contains(run.change, `"containment"`) {
		config.Keys, config.Emit = methods.Auto, []string{"auto"}
	}
	decoder := json.NewDecoder(strings.NewReader(run.change))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if run.reference != "" {
		config.Reference = []string{g.corpus(t, run.reference)}
	}
	if config.StopWords != "" {
		config.StopWords = g.stopWords
	}
	return config
}

// run compares the results of a job and their description in its summary.
func (g *golden) run(t *testing.T, run goldenRun) {
	config := g.config(t, run)
	summary := runJob(t, config)
	if summary.Counts.Pairs == 0 || run.isDense && summary.Skipped.Groups == 0 {
		t.Errorf("a corpus with too little to compare: counts %+v, skipped %+v", summary.Counts, summary.Skipped)
	}
	outputs := append(config.Outputs(), output.Rejects)
	for _, name := range outputs {
		g.compare(t, run.name, name, outputFiles(t, config.Output, name))
	}
	g.compare(t, run.name, "counts", canonical(t, summary.Counts))
	g.compare(t, run.name, "skipped", canonical(t, summary.Skipped))
	g.compare(t, run.name, "plan", canonical(t, summary.Plan))
	g.compare(t, run.name, "audit", canonical(t, summary.Audit))
	if t.Failed() {
		t.Logf("counts %+v, skipped %+v, plan %+v, audit %+v", summary.Counts, summary.Skipped, summary.Plan,
			summary.Audit)
	}
}

// outputFiles returns the names and contents of the files of an output, by name. Contents are uncompressed, since
// compression may change.
func outputFiles(t *testing.T, folder, name string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, name+"-[0-9]*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s (%v)", name, folder, err)
	}
	slices.Sort(files)
	var all []byte
	for _, file := range files {
		content := readFile(t, file)
		shown := filepath.Base(file)
		if name == output.Unique {
			shown = strings.TrimSuffix(strings.TrimSuffix(shown, ".gz"), ".zst") // compressed as the input is
		}
		all = fmt.Appendf(all, "%s %d\n", shown, len(content))
		all = append(all, content...)
	}
	return all
}

// canonical returns the JSON of a value, with the fields of objects by name. It leaves out the fields named in without.
func canonical(t *testing.T, value any, without ...string) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	leaveOut(decoded, without)
	if encoded, err = json.Marshal(decoded); err != nil {
		t.Fatal(err)
	}
	return encoded
}

// leaveOut removes fields of objects, however deep.
func leaveOut(decoded any, names []string) {
	switch decoded := decoded.(type) {
	case map[string]any:
		for _, name := range names {
			delete(decoded, name)
		}
		for _, inner := range decoded {
			leaveOut(inner, names)
		}
	case []any:
		for _, inner := range decoded {
			leaveOut(inner, names)
		}
	}
}

// query compares the matches of a query.
func (g *golden) query(t *testing.T, q goldenQuery) {
	asked := g.corpus(t, q.asked)
	x := queryState(t, g.config(t, q.goldenRun))
	var rows bytes.Buffer
	counts, err := x.Answer(context.Background(), query.Request{
		Input:     []string{asked},
		Threshold: q.threshold,
		Top:       q.top,
	}, &rows)
	if err != nil {
		t.Fatal(err)
	}
	if counts.Matches < 10 {
		t.Errorf("too few matches: %+v", counts)
	}
	g.compare(t, q.name, "matches", rows.Bytes())
	g.compare(t, q.name, "counts",
		fmt.Appendf(nil, "%d %d %d %d %q", counts.Documents, counts.Matched, counts.Matches, counts.Rejected,
			counts.FirstReject))
}

// queryState runs a job with a state, unless it has one, and opens an index of that.
func queryState(t testing.TB, config job.Config) *query.Index {
	t.Helper()
	if config.State == "" {
		config.State = filepath.Join(t.TempDir(), "state")
		runJob(t, config)
	}
	x, err := query.OpenState(t.Context(), config.State, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// plan compares the advice of a plan.
func (g *golden) plan(t *testing.T, run goldenRun) {
	config := g.config(t, run)
	advice, err := plan.Make(context.Background(), plan.Config{Input: config.Input, Measure: config.Measure})
	if err != nil {
		t.Fatal(err)
	}
	// The configuration names folders of this machine; the other fields depend on its cores, or are not advice.
	g.compare(t, run.name, "advice", canonical(t, advice, "config", "lanes", "shards", "memory_bytes", "reads"))
}

// compare compares the digest of some bytes with the digest in the file.
func (g *golden) compare(t *testing.T, row, of string, content []byte) {
	t.Helper()
	key := row + "\t" + of
	sum := sha256.Sum256(content)
	g.got[key] = hex.EncodeToString(sum[:])
	if !goldentest.Updates() && g.got[key] != g.want[key] {
		t.Errorf("%s: %d bytes have the digest %s, want %s (UPDATE=1 rewrites %s)", of, len(content), g.got[key],
			g.want[key], goldenFile)
	}
}

// write rewrites the file. A row that did not run keeps its digests, unless it was removed.
func (g *golden) write(t *testing.T) {
	t.Helper()
	rows := slices.Concat(goldenRuns, goldenPlans)
	for _, query := range goldenQueries {
		rows = append(rows, query.goldenRun)
	}
	ran := map[string]bool{}
	var lines []string
	for key, digest := range g.got {
		row, _, _ := strings.Cut(key, "\t")
		ran[row] = true
		lines = append(lines, key+"\t"+digest+"\n")
	}
	for key, digest := range g.want {
		row, _, _ := strings.Cut(key, "\t")
		isRow := slices.ContainsFunc(rows, func(run goldenRun) bool { return run.name == row })
		if isRow && !ran[row] {
			lines = append(lines, key+"\t"+digest+"\n")
		}
	}
	slices.Sort(lines)
	put(t, goldenFile, []byte(strings.Join(lines, "")), plain)
}
