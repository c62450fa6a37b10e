package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

type sketchRow struct {
	ID          string   `json:"id"`
	Ref         string   `json:"ref"`
	Shingles    int      `json:"shingles"`
	SimHash     string   `json:"simhash"`
	Fingerprint []uint64 `json:"fingerprint"`
}

// wantSketch is the row of a document.
func wantSketch(id, ref string, f sketch.Fingerprint, hashes int) sketchRow {
	row := sketchRow{ID: id, Ref: ref, Shingles: len(f.Set), Fingerprint: slices.Clone(f.Set[:min(len(f.Set), hashes)])}
	for _, word := range slices.Backward(f.SimHash) {
		row.SimHash += fmt.Sprintf("%016x", word)
	}
	return row
}

func sameSketches(t *testing.T, got, want []sketchRow) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Fatalf("row %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}

// TestSketches: every document of the input has a row and no document of the reference has one, in document order,
// whether the blocks hold full sets or not, with as many hashes as the configuration says.
func TestSketches(t *testing.T) {
	files := cut(oddities(71), 3)
	config := byKeys(testConfig(t, putCorpus(t, plain, files...)), methods.MinHash)
	config.Reference = []string{putCorpus(t, plain, file{"reference.jsonl", synthetic(72)})}
	config.Emit, config.Bits = []string{output.Clusters, output.Sketches}, 192
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3, Tokens: sketch.ScriptTokens}, SimHashBits: 192})
	if err != nil {
		t.Fatal(err)
	}
	tr := naiveTruth(3, true, files...)
	for i, c := range []struct {
		verify methods.Verification
		size   int
	}{{methods.VerifyExact, 0}, {methods.VerifySketch, 0}, {methods.VerifyExact, 32}, {methods.VerifySketch, 45}} {
		var want []sketchRow
		for i := range tr.documents {
			f := fingerprinter.Texts([][]byte{[]byte(tr.documents[i].text)})
			want = append(want, wantSketch(tr.id(i), tr.documents[i].ref, f, cmp.Or(c.size, 128)))
		}
		config.Verify, config.SketchSize, config.Lanes = c.verify, c.size, 1+i%3
		config.Output = filepath.Join(t.TempDir(), "out")
		runJob(t, config)
		sameSketches(t, readRows[sketchRow](t, config.Output, output.Sketches), want)
	}
}

// measured is a record with all possible parts of a document.
type measured struct {
	ID       string         `json:"id"`
	Title    string         `json:"title,omitempty"`
	Text     string         `json:"text"`
	Features map[string]any `json:"features"`
}

// putMeasured writes records as a corpus.
func putMeasured(t *testing.T, records []measured) string {
	var b strings.Builder
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(string(line) + "\n")
	}
	return put(t, filepath.Join(t.TempDir(), "x.jsonl"), []byte(b.String()), plain)
}

// TestMeasures changes what similarity is computed from: the job lists the pairs that the change brings together.
func TestMeasures(t *testing.T) {
	const words = "one two three four five six seven eight nine ten"
	stopWords := put(t, filepath.Join(t.TempDir(), "stop.txt"), []byte("# English\nthe\nof\n"), plain)
	records := []measured{
		{ID: "a", Title: "some title of a page", Text: words, Features: map[string]any{"x": 1, "y": 2, "z": 3}},
		{ID: "b", Text: strings.ReplaceAll(words, " ", " the "), Features: map[string]any{"x": 3, "y": 1, "z": 1}},
		{ID: "c", Text: "o'n-e two thr-ee four fi-ve six sev-en eight ni-ne ten", Features: map[string]any{"x": 1}},
		{ID: "d", Title: "some title of a page", Text: "another text", Features: map[string]any{"z": 1, "w": 1}},
		{ID: "e", Text: "the of", Features: map[string]any{}},
		{ID: "f", Text: "of the", Features: map[string]any{}},
	}
	for _, c := range []struct {
		name   string
		change func(*job.Config)
		want   string
	}{
		{"as it is", func(*job.Config) {}, ""},
		{"stop words removed", func(c *job.Config) { c.StopWords = stopWords }, "a-b"},
		{"punctuation removed", func(c *job.Config) { c.Normalize.Punctuation = true }, "a-c"},
		{"both", func(c *job.Config) { c.Normalize.Punctuation, c.StopWords = true, stopWords }, "a-b a-c"},
		{"stop words required", func(c *job.Config) { c.StopWords, c.StopWordUse, c.Threshold = stopWords, sketch.RequireStopWords, 0.3 }, ""},
		{"titles", func(c *job.Config) { c.Weight, c.Threshold = map[string]float64{"title": 2, "text": 1}, 0.2 }, "a-d"},
		{"features", func(c *job.Config) { c.Features = "features" }, "a-b"},
		{"some features", func(c *job.Config) { c.Features, c.Threshold = "features", 0.25 }, "a-b a-c a-d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, putMeasured(t, records))
			config.Keys = methods.All
			c.change(&config)
			if summary := runJob(t, config); summary.Counts.Documents != int64(len(records)) {
				t.Errorf("counts %+v", summary.Counts)
			}
			var pairs []string
			for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
				pairs = append(pairs, row.A+"-"+row.B)
			}
			if got := strings.Join(pairs, " "); got != c.want {
				t.Errorf("pairs %q, want %q", got, c.want)
			}
		})
	}
}
