package pipeline

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// run makes a small corpus whose files come and go. Near-duplicates and identical documents lie in several files.
type incrementalJob struct {
	folder   string
	random   *rand.Rand
	words    []string
	next     int // number of the next document
	files    int // written so far
	texts    []string
	template string
	known    int // documents of a reference of one file
	output   string

	ofPassages bool     // texts have passages of others
	blocks     []string // some passages are made of them
}

func newIncrementalJob(t *testing.T, seed uint64) *incrementalJob {
	n := &incrementalJob{folder: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1))}
	for i := range 300 {
		n.words = append(n.words, fmt.Sprintf("w%d", i))
	}
	return n
}

// file writes a file of documents, which are pages of sites. Half of them are like earlier ones.
func (n *incrementalJob) file(t *testing.T, name string, documents int) {
	t.Helper()
	var b bytes.Buffer
	text := n.text
	if n.ofPassages {
		text = n.passageText
	}
	for range documents {
		text := text()
		n.texts = append(n.texts, text)
		fmt.Fprintf(&b,
			"{\"id\":\"d%d\",\"text\":%q,\"lang\":\"l%d\",\"day\":%d,\"url\":\"http://s%d.example/p%d\",\"date\":\"2026-11-%02d\"}\n",
			n.next, text, n.random.IntN(4), n.random.IntN(100), n.random.IntN(6), n.next%60, 1+n.random.IntN(28))
		n.next++
	}
	n.put(t, name, b.Bytes())
}

// pages writes a file of documents of one template.
func (n *incrementalJob) pages(t *testing.T, name string, documents int) {
	t.Helper()
	if n.template == "" {
		n.template = n.text() + " " + n.text()
	}
	var b bytes.Buffer
	for range documents {
		fmt.Fprintf(&b, "{\"id\":\"t%d\",\"text\":%q}\n", n.next,
			fmt.Sprintf("%s z%d y%d", n.template, n.random.IntN(1000), n.random.IntN(1000)))
		n.next++
	}
	n.put(t, name, b.Bytes())
}

// put writes a file that looks as if it were not new.
func (n *incrementalJob) put(t *testing.T, name string, content []byte) {
	t.Helper()
	path := put(t, filepath.Join(n.folder, name), content, plain)
	n.files++
	old := time.Now().Add(-time.Hour).Add(time.Duration(n.files) * time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func (n *incrementalJob) text() string {
	if len(n.texts) > 0 && n.random.IntN(2) == 0 {
		words := strings.Fields(n.texts[n.random.IntN(len(n.texts))])
		for range n.random.IntN(4) {
			words[n.random.IntN(len(words))] = n.words[n.random.IntN(len(n.words))]
		}
		return strings.Join(words, " ")
	}
	words := make([]string, 30+n.random.IntN(40))
	for i := range words {
		words[i] = n.words[n.random.IntN(len(n.words))]
	}
	return strings.Join(words, " ")
}

// names returns the names of the files.
func (n *incrementalJob) names(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(n.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// goOn does the steps of a run, which have spaces between them: a:30 writes a.jsonl with 30 documents, a~30 with 30
// pages of one template, a.txt a text, and -a.txt removes a file that may be there. It returns how many documents a run
// then has to read, and how many files it finds new, changed or removed.
func (n *incrementalJob) goOn(t *testing.T, steps string) (documents int64, files int) {
	t.Helper()
	written, before := map[string]int{}, n.names(t)
	for step := range strings.FieldsSeq(steps) {
		if name, isGone := strings.CutPrefix(step, "-"); isGone {
			delete(written, name)
			_ = os.Remove(filepath.Join(n.folder, name)) // some are not there
			continue
		}
		if strings.HasSuffix(step, ".txt") {
			n.texts = append(n.texts, n.text())
			n.put(t, step, []byte(n.texts[len(n.texts)-1]))
			written[step] = 1
			continue
		}
		at := strings.IndexAny(step, ":~")
		name, count := step[:at]+".jsonl", 0
		if _, err := fmt.Sscan(step[at+1:], &count); err != nil {
			t.Fatal(step, err)
		}
		if written[name] = count; step[at] == ':' {
			n.file(t, name, count)
		} else {
			n.pages(t, name, count)
		}
	}
	for _, count := range written {
		documents += int64(count)
	}
	left := n.names(t)
	gone := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(left, name) })
	return documents, len(written) + len(gone)
}

// run runs a job with the state and compares its results with a job without. It returns the summary of the first.
func (n *incrementalJob) run(t *testing.T, config job.Config) Summary {
	t.Helper()
	scheduled := config
	if n.output == "" {
		n.output = filepath.Join(t.TempDir(), "out")
	}
	scheduled.Output, scheduled.Overwrite = n.output, true
	got := runJob(t, scheduled)
	whole := config
	whole.Output, whole.State, whole.Add, whole.AllowRemoval, whole.Republish, whole.Rebuild = filepath.Join(
		t.TempDir(), "out"), "", false, false, false, false
	runJob(t, whole)
	sameResults(t, "incremental run", scheduled.Output, whole.Output, incrementalRun...)
	return got
}

// checkSaved checks that a run has read a number of documents, all of new or changed files.
func (n *incrementalJob) checkSaved(t *testing.T, s Summary, read int64) {
	t.Helper()
	for _, stage := range s.Stages {
		if stage.Name == "fingerprint" && stage.Records != read {
			t.Errorf("%d documents were read, want %d", stage.Records, read)
		}
	}
}

// runSteps runs a job again and again, each time after the steps of that run. "compact" is a run that begins with a
// compacted state.
func (n *incrementalJob) runSteps(t *testing.T, config job.Config, runs []string, check func(run int, s Summary)) {
	t.Helper()
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	generation := 0
	for run, steps := range runs {
		if generation++; steps == "compact" {
			compact(t, config.State)
			generation++
			steps = ""
		}
		documents, files := n.goOn(t, steps)
		if steps == "" {
			n.output = "" // else the results would stay as they are
		}
		if run == 0 && n.known > 0 {
			documents, files = documents+int64(n.known), files+1
		}
		s := n.run(t, config)
		if f := s.State.Files; s.State.Generation != generation || f.New+f.Changed+f.Removed != files {
			t.Errorf("run %d: %+v, want %d files", run, s.State, files)
		}
		n.checkSaved(t, s, documents)
		if steps == "" &&
			(len(s.State.Changes[output.Clusters]) > 0 ||
				s.Counts.Candidates > 0 && (config.Keys == methods.Exact || config.Keys == methods.MinHash)) {
			t.Errorf("run %d: changes %v, and %d pairs are scored, though no file is new", run, s.State.Changes,
				s.Counts.Candidates)
		}
		if check != nil {
			check(run, s)
		}
	}
}

// compact compacts a state: its segments lie in one run file then, and take fewer bytes.
func compact(t *testing.T, folder string) {
	t.Helper()
	s, err := state.Open(folder, "a test")
	if err != nil {
		t.Fatal(err)
	}
	before, after, err := s.Compact(t.Context())
	if err := errors.Join(err, s.Close()); err != nil || after >= before {
		t.Errorf("%d bytes before, %d after: %v", before, after, err)
	}
	want := 1
	if s.Last.Kept != "" {
		want++
	}
	if segments, err := os.ReadDir(filepath.Join(folder, "segments")); err != nil || len(segments) != want {
		t.Errorf("%d run files, want %d (%v)", len(segments), want, err)
	}
	if _, err := state.Verify(t.Context(), folder); err != nil {
		t.Error(err)
	}
}

// TestStateOfManyRuns: a state of many runs, each with a changed file, takes about as much room as a new one.
func TestStateOfManyRuns(t *testing.T) {
	n := newIncrementalJob(t, 91)
	config := testConfig(t, n.folder)
	config.Overwrite = true
	runs := func(folder string, runs int) int64 {
		config.State = filepath.Join(t.TempDir(), folder)
		for run := range runs {
			n.goOn(t, fmt.Sprintf("m%d:60", run%8))
			runJob(t, config)
		}
		s, err := state.Open(config.State, "a test")
		if err != nil {
			t.Fatal(err)
		}
		_, bytes, err := s.Prune()
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	if old, fresh := runs("old", 50), runs("fresh", 1); 4*old > 5*fresh {
		t.Errorf("after 50 runs the state has %d bytes, and a new one %d", old, fresh)
	}
}

// Runs of a job. In tenRuns one brings a file that sorts before all others, one removes a file and one changes one.
var (
	tenRuns   = strings.Split("m0:30,m1:30,m2:30,m3:30,a-first:30,m5:30,-m2.jsonl,m7:30,m3:30,m9:30,", ",")
	denseRuns = []string{"a:2000 b~100", "c~3500", "d:50", "-c.jsonl", "e~20"}
	// textRuns bring and remove files that are one document each.
	textRuns = func() (runs []string) {
		for run := range 4 {
			steps := ""
			for i := range 20 {
				steps += fmt.Sprintf("t%d.txt ", (7*i+run*13)%60)
			}
			for i := range 3 {
				steps += fmt.Sprintf("-t%d.txt ", i*9+run)
			}
			runs = append(runs, steps)
		}
		return runs
	}()
)

// TestIncrementalRuns: whatever comes and goes, and whatever the method, a run with a state writes what a run over
// everything writes.
func TestIncrementalRuns(t *testing.T) {
	for i, c := range []struct {
		change string
		runs   []string
		dense  string // of each run, whether there is a dense group; "": never
	}{
		{`{"keys":"exact"}`, tenRuns, ""},
		{`{"keys":"minhash"}`, tenRuns, ""},
		{`{"keys":"simhash"}`, tenRuns, ""},
		{`{"keys":"all"}`, tenRuns, ""},
		{`{"keys":"same-bytes"}`, tenRuns, ""},
		{`{"keys":"same-words"}`, tenRuns, ""},
		{
			`{"similarity":"containment","keys":"auto","excerpt":10,"emit":["auto"]}`,
			[]string{"m:40 n:40", "a:40", "m:40", "compact", "z:40 -a.jsonl", ""},
			"",
		},
		{`{"emit":["clusters","pairs","removed"]}`, textRuns, ""}, // unique has an archive for each file
		{
			`{}`,
			[]string{"f0:20 often:20", "f1:20 often:20", "compact", "f2:20 often:20", "f3:20 often:20", "compact", ""},
			"",
		},
		// What is compared in a dense group depends on all documents. So the pairs of the last run do not decide there.
		{`{"keys":"exact","emit":["clusters","pairs","removed"]}`, denseRuns, "nyynn"},
		{`{"keys":"minhash","emit":["clusters","pairs","removed"]}`, denseRuns, "nyynn"},
		{
			`{"keys":"simhash","hamming":6,"emit":["clusters","pairs","removed"]}`,
			[]string{"a:900 b~60", "c~50", "d~40", "e~60", "f~40 -e.jsonl", "-c.jsonl"},
			"nnnynn",
		},
		{`{"keys":"minhash","within":"lang","audit":"100"}`, []string{"m:60", "a:30", "z:30 -a.jsonl"}, ""},
		{`{"keys":"minhash","audit":"20","emit":["clusters","pairs","removed"]}`, textRuns, ""},
		{`{"variants":"keep"}`, tenRuns, ""},
		{`{"keys":"minhash","variants":"keep","emit":["clusters","pairs","removed"]}`, denseRuns, "nyynn"},
	} {
		t.Run(fmt.Sprint(c.change, " ", len(c.runs)), func(t *testing.T) {
			if testing.Short() && i%3 > 0 {
				t.Skip("the runs of others go through the same code")
			}
			n := newIncrementalJob(t, uint64(7+i))
			config := testConfig(t, n.folder)
			if err := json.Unmarshal([]byte(c.change), &config); err != nil {
				t.Fatal(err)
			}
			n.runSteps(t, config, c.runs, func(run int, s Summary) {
				if isDense := c.dense != "" && c.dense[run] == 'y'; s.Skipped.Groups > 0 != isDense {
					t.Errorf("run %d: skipped %+v", run, s.Skipped)
				}
			})
		})
	}
}

// TestIncrementalSample: the audit of an incremental run samples what that of a run over everything does, also where
// segments keep the documents for that. Files that come before others, and half of the documents that go, do not
// matter.
func TestIncrementalSample(t *testing.T) {
	n := newIncrementalJob(t, 51)
	config := testConfig(t, n.folder)
	config.Keys = methods.MinHash
	config.Audit = "10"
	config.State = filepath.Join(t.TempDir(), "state")
	config.AllowRemoval = true
	// makes the corpus one of which a sample is drawn
	n.put(t, "blank.jsonl", bytes.Repeat([]byte(strings.Repeat(" ", 1<<20)+"\n"), 9))
	for run, steps := range []string{"k:400 m:300", "a:30", "-m.jsonl b:20", "compact", "z:40"} {
		if steps == "compact" {
			compact(t, config.State)
			continue
		}
		n.goOn(t, steps)
		if s := n.run(t, config); s.Audit == nil || s.Audit.Sampled != 10 {
			t.Errorf("run %d: audit %+v, want a sample of 10", run, s.Audit)
		}
	}
}

// TestLargeFiles: a file of several splits, and one that cannot be cut, are recalled as they were read.
func TestLargeFiles(t *testing.T) {
	n := newIncrementalJob(t, 15)
	for range 300 {
		n.words = append(n.words, strings.Repeat("long", 20)+fmt.Sprint(len(n.words)))
	}
	config := testConfig(t, n.folder)
	config.State = filepath.Join(t.TempDir(), "state")
	n.file(t, "b.jsonl", 9000)
	if info, err := os.Stat(filepath.Join(n.folder, "b.jsonl")); err != nil || info.Size() < 16<<20 {
		t.Fatalf("the file is too small: %v, %v", info, err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	for i := range 2000 {
		fmt.Fprintf(writer, "{\"id\":\"z%d\",\"text\":%q}\n", i, n.text())
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	n.put(t, "c.jsonl.gz", packed.Bytes())
	n.run(t, config)
	n.file(t, "a.jsonl", 100)
	n.checkSaved(t, n.run(t, config), 100)
}

// TestSketchSizeOfState: a state has sketches of one size, and a run that asks for another is refused. The usual size
// is the same whether it is given or not. Where sets are whole, the size is only the output's.
func TestSketchSizeOfState(t *testing.T) {
	config := byKeys(testConfig(t, putCorpus(t, plain, cut(oddities(43), 2)...)), methods.MinHash)
	config.State, config.Overwrite = t.TempDir()+"/state", true
	run := func(verify methods.Verification, size int) error {
		config.Verify, config.SketchSize = verify, size
		_, err := Run(context.Background(), config)
		return err
	}
	for _, size := range []int{0, 128} {
		if err := run(methods.VerifySketch, size); err != nil {
			t.Errorf("sketches of the usual size, given as %d: %v", size, err)
		}
	}
	for _, size := range []int{64, 256} {
		if err := run(methods.VerifySketch, size); err == nil ||
			!strings.Contains(err.Error(), "other settings ([sketch_size])") {
			t.Errorf("sketches of %d hashes after those of 128: %v", size, err)
		}
	}
	config.State, config.Emit = t.TempDir()+"/other", []string{output.Clusters, output.Sketches}
	for _, size := range []int{64, 256} {
		if err := run(methods.VerifyExact, size); err != nil {
			t.Errorf("rows of %d hashes: %v", size, err)
		}
	}
}

// TestUnchanged: a run in which nothing has changed leaves the results and the state as they are. If anything differs
// that could change the results, it does not.
func TestUnchanged(t *testing.T) {
	n := newIncrementalJob(t, 40)
	n.file(t, "a.jsonl", 30)
	config := testConfig(t, n.folder)
	config.State, config.Overwrite, config.Emit = filepath.Join(t.TempDir(), "state"), true, []string{output.Clusters}
	config.FailOn = []string{job.FailCondition(output.New, output.Clusters)}
	first := runJob(t, config)
	success := filepath.Join(config.Output, "_SUCCESS")
	stands := func() os.FileInfo {
		t.Helper()
		info, err := os.Stat(success)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := stands()
	kept := runJob(t, config)
	if !kept.State.IsKept || kept.State.Generation != 1 || kept.State.Files != (state.Difference{Unchanged: 1}) ||
		!os.SameFile(before, stands()) {
		t.Errorf("nothing has changed: %+v", kept.State)
	}
	if kept.Counts.Clusters != first.Counts.Clusters || len(kept.State.Changes[output.Clusters]) > 0 {
		t.Errorf("counts %+v and changes %v, want the counts of the results and no changes", kept.Counts,
			kept.State.Changes)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(config.Output, moved); err != nil {
		t.Fatal(err)
	}
	config.Output, success = moved, filepath.Join(moved, "_SUCCESS")
	if s := runJob(t, config); !s.State.IsKept || s.Config.Output != moved {
		t.Errorf("results that were moved are kept: %v, and they are said to be in %s", s.State.IsKept, s.Config.Output)
	}
	// Nobody has acknowledged the new clusters.
	if len(kept.Failing()) != 1 {
		t.Errorf("conditions %v, want the one that is still met", kept.Failing())
	}

	generation := 1
	for name, change := range map[string]func(c *job.Config){
		"another output":          func(c *job.Config) { c.Emit = append(c.Emit, output.Pairs) },
		"another condition":       func(c *job.Config) { c.FailOn = nil },
		"another guard":           func(c *job.Config) { c.Guard = []string{"removes:1"} },
		"another threshold":       func(c *job.Config) { c.Threshold = .7 },
		"another folder":          func(c *job.Config) { c.Output = filepath.Join(t.TempDir(), "out") },
		"a wish for it":           func(c *job.Config) { c.Republish = true },
		"a wish to read all":      func(c *job.Config) { c.Rebuild = true },
		"results that are gone":   func(*job.Config) { os.Remove(success) },
		"results that were cut":   func(c *job.Config) { os.Truncate(onlyFile(t, c.Output, "clusters-*"), 0) },
		"a changed file":          func(*job.Config) { n.file(t, "a.jsonl", 30) },
		"a file that nobody read": func(*job.Config) { n.put(t, "b.pdf", []byte("%PDF-1.7")) },
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			runJob(t, config) // whatever the last case has left
			if again := runJob(t, config); !again.State.IsKept {
				t.Fatalf("before %s: the results were made twice", name)
			} else {
				generation = again.State.Generation
			}
			change(&config)
			s := runJob(t, config)
			if s.State.IsKept || s.State.Generation != generation+1 {
				t.Errorf("%s: the results are kept: %+v", name, s.State)
			}
			isTold := slices.ContainsFunc(s.Warnings, func(w warnings.Warning) bool {
				return w.Kind == warnings.OtherSettings && w.Flag == "--threshold" &&
					strings.HasSuffix(w.Text, ": threshold 0.7, which was 0.8")
			})
			if isTold != (name == "another threshold") {
				t.Errorf("%s: warnings %v", name, s.Warnings)
			}
		})
	}
}

// onlyFile returns the one file of a folder that matches a pattern.
func onlyFile(t *testing.T, folder, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}
