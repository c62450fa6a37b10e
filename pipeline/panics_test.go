package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// A format of the test: lines of JSON with documents over which the program panics. The id of such a document says in
// which step.
const (
	overDecoding   = "decoding"   // whenever the record is decoded
	overMarking    = "marking"    // when the value of a field is looked up
	overMaking     = "making"     // when the fingerprint is made
	overDecoding2  = "again"      // when the record is decoded by a stage after fingerprint
	overHashing    = "hashing"    // when passages are hashed
	overCutting    = "cutting"    // when it is said what is cut
	overAnnotation = "annotation" // when the record is annotated
	overCut        = "cut"        // when the record is cut
)

func init() {
	d := *corpus.JSONLines.Definition()
	d.Format, d.Name, d.Endings, d.Begins, d.Magics = 201, "fragile", []string{".fragile"}, nil, nil
	decoder, annotator, cutter := d.Decoder, d.Annotator, d.Cutter
	d.Decoder = func(w corpus.Wanted) corpus.Decoder { return fragileDecoder{decoder(w), len(w.Fields.Others) > 0} }
	d.Annotator = func(w corpus.Wanted) corpus.Annotator { return fragileAnnotator{annotator(w)} }
	d.Cutter = func(w corpus.Wanted) corpus.Cutter { return fragileCutter{cutter(w)} }
	corpus.Register(d)
}

// readAgain has the ids of documents that a stage after fingerprint has read.
var readAgain sync.Map

// fragileDecoder is for the stage fingerprint if other fields are wanted.
type fragileDecoder struct {
	corpus.Decoder
	isFirst bool
}

func (d fragileDecoder) Decode(header, record []byte) (corpus.Record, error) {
	content, err := d.Decoder.Decode(header, record)
	step, _, _ := bytes.Cut(content.ID, []byte("-"))
	switch step := string(step); {
	case step == overDecoding, step == overDecoding2 && !d.isFirst:
		panic("the decoder of the test")
	case step == overMarking && d.isFirst:
		content.Others = nil
	case step == overMaking && d.isFirst, step == overHashing && !d.isFirst:
		content.Texts = nil
	case step == overCutting && !d.isFirst:
		if _, again := readAgain.LoadOrStore(string(content.ID), true); again {
			content.Texts = nil
		}
	}
	return content, err
}

type fragileAnnotator struct{ corpus.Annotator }

func (f fragileAnnotator) Record(b, record []byte, a corpus.Annotation) []byte {
	if bytes.Contains(record, []byte(`"`+overAnnotation+"-")) {
		panic("the annotator of the test")
	}
	return f.Annotator.Record(b, record, a)
}

type fragileCutter struct{ corpus.Cutter }

func (f fragileCutter) Cut(b, header, record []byte, cuts []corpus.Cut) ([]byte, error) {
	if bytes.Contains(record, []byte(`"`+overCut+"-")) {
		panic("the cutter of the test")
	}
	return f.Cutter.Cut(b, header, record, cuts)
}

// fragileLines are some documents with common passages, and a near-duplicate of the first with an id of its own.
func fragileLines(id string) (lines []string) {
	text := strings.Repeat("words of a passage that more than one document has, and ", 2)
	for i := range 12 {
		own := "nothing else"
		for word := range 40 {
			own += fmt.Sprintf(" w%dx%d", i/2, word)
		}
		lines = append(lines, fmt.Sprintf(`{"id": "d%02d", "lang": "en", "text": %q}`, i, text+own))
	}
	return append(lines,
		strings.NewReplacer("d00", id, "nothing else",
			"nothing else but these eight words of its own").Replace(lines[0]))
}

// TestPanicOverDocument: a panic over one document makes it a reject, or leaves it as it is, whatever the step. All
// other documents are treated as without it.
func TestPanicOverDocument(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		over, step string
		emit       []string
		isReject   bool
		set        func(*job.Config)
	}{
		{over: overDecoding, step: "read", isReject: true},
		{over: overMarking, step: "fingerprinted", isReject: true},
		{
			over:     overMarking,
			step:     "fingerprinted",
			isReject: true,
			set:      func(c *job.Config) { c.State = filepath.Join(filepath.Dir(c.Output), "state") },
		},
		{over: overMarking, step: "fingerprinted", isReject: true, set: func(c *job.Config) {
			c.Similarity, c.Keys, c.Emit = "containment", methods.Auto, []string{output.Pairs}
		}},
		{over: overMaking, step: "fingerprinted", isReject: true, set: func(c *job.Config) { c.Keys = bag }},
		{over: overDecoding2, step: "read", emit: []string{output.Passages}},
		{over: overHashing, step: "searched for passages", emit: []string{output.Trimmed, output.Passages}},
		{over: overCutting, step: "searched for passages", emit: []string{output.Trimmed, output.Passages}},
		{over: overAnnotation, step: "annotated", emit: []string{output.Annotated}},
		{over: overCut, step: "cut", emit: []string{output.Trimmed}},
	} {
		t.Run(one.over+" "+strings.Join(one.emit, ","), func(t *testing.T) {
			t.Parallel()
			id := one.over + "-" + strings.ReplaceAll(t.Name(), "/", "-")
			lines := fragileLines(id)
			without := lines
			if one.isReject {
				without = lines[:len(lines)-1]
			}
			run := func(name string, lines []string) (job.Config, Summary) {
				path := put(t, filepath.Join(t.TempDir(), name), []byte(strings.Join(lines, "\n")+"\n"), plain)
				config := testConfig(t, path)
				config.Format = strings.TrimPrefix(filepath.Ext(name), ".")
				config.SourceField, config.FailOn = "lang", []string{job.FailOnPanics}
				if slices.Contains(one.emit, output.Trimmed) || slices.Contains(one.emit, output.Passages) {
					config.PassageWords, config.MinWords = 10, 1
				}
				config.Emit = append([]string{output.Clusters, output.Removed, output.Unique}, one.emit...)
				if one.set != nil {
					one.set(&config)
				}
				return config, runJob(t, config)
			}
			config, summary := run("in.fragile", lines)
			usual, expected := run("in.jsonl", without)
			before, _, _ := strings.Cut(strings.Join(lines, "\n"), `{"id": "`+one.over)
			ref := fmt.Sprintf("in.fragile:%d", len(before))
			n := summary.Counts
			if want := int64(len(lines)); n.Panics != 1 || n.Documents+n.Rejected != want ||
				n.Kept != expected.Counts.Kept || n.Removed != expected.Counts.Removed {
				t.Errorf("counts %+v, want 1 panic over %d records, and otherwise %+v", n, want, expected.Counts)
			}
			if met := summary.Failing(); !slices.Equal(met, []string{job.FailOnPanics}) || len(expected.Failing()) > 0 {
				t.Errorf("the conditions %v are met, and %v of a job without a panic", met, expected.Failing())
			}
			if w := summary.Warnings; len(w) == 0 || w[0].Kind != warnings.Panics || w[0].A != ref ||
				!strings.Contains(w[0].Text, one.step) || !strings.Contains(w[0].Text, "please report") {
				t.Errorf("warnings %+v, want one about %s, which was %s", w, ref, one.step)
			}
			rejects := readRows[rejectedRow](t, config.Output, output.Rejects)
			if one.isReject != (len(rejects) == 1) ||
				one.isReject && !strings.Contains(rejects[0].Error, "when the document was "+one.step) {
				t.Errorf("rejects %+v", rejects)
			}
			for _, name := range config.Emit {
				if slices.Contains(one.emit, name) || name == output.Unique {
					continue
				}
				got := strings.ReplaceAll(string(readOutput(t, config.Output, name)), "in.fragile", "in.jsonl")
				if want := string(readOutput(t, usual.Output, name)); got != want {
					t.Errorf("%s are\n%s, and without a panic\n%s", name, got, want)
				}
			}
			for _, name := range []string{output.Annotated, output.Trimmed} {
				if !slices.Contains(one.emit, name) {
					continue
				}
				rows := strings.Split(strings.TrimSpace(string(readFile(t,
					filepath.Join(config.Output, output.ShardName(name, 0, 1, "fragile"))))), "\n")
				gone := int64(0)
				if summary.Trimmed != nil {
					gone = summary.Trimmed.Gone
				}
				if last := rows[len(rows)-1]; last != lines[len(lines)-1] || int64(len(rows)) != n.Documents-gone {
					t.Errorf("%s has %d rows, the last one is %s", name, len(rows), last)
				}
			}
		})
	}
}

// TestPanicOverOneAskedFor: a query and an explanation do not end with a panic over a document.
func TestPanicOverOneAskedFor(t *testing.T) {
	t.Parallel()
	path := put(t, filepath.Join(t.TempDir(), "in.fragile"),
		[]byte(strings.Join(fragileLines(overDecoding+"-asked"), "\n")+"\n"), plain)
	config := testConfig(t, path)
	config.Emit, config.Format = []string{output.Pairs}, "fragile"
	config.State = filepath.Join(t.TempDir(), "state")
	runJob(t, config)
	x := queryState(t, config)
	var rows bytes.Buffer
	counts, err := x.Answer(t.Context(), query.Request{Input: []string{path}, Format: "fragile"}, &rows)
	if err != nil || counts.Documents != 12 || counts.Rejected != 1 ||
		!strings.Contains(counts.FirstReject, "the program panicked when the document was read") {
		t.Errorf("the query counts %+v (%v)", counts, err)
	}
	folder, err := finished.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	explained, err := explain.Explain(t.Context(), folder, "d00", "d01", false, difference.Brief())
	if err != nil {
		t.Fatal(err)
	}
	if encoded, _ := json.Marshal(explained); !bytes.Contains(encoded, []byte(`"d01"`)) {
		t.Errorf("the explanation is %s", encoded)
	}
	if _, err := explain.Explain(t.Context(), folder, "d00", overDecoding+"-asked", false, difference.Brief()); err == nil {
		t.Error("a document over which the program panics is explained")
	}
}
