package pipeline

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/look/warnings"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
)

// night makes a small corpus whose files come and go. Near-duplicates and identical documents lie in several files.
type night struct {
	folder string
	random *rand.Rand
	words  []string
	next   int // number of the next document
	files  int // written so far
	texts  []string
}

func newNight(t *testing.T, seed uint64) *night {
	n := &night{folder: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1))}
	for i := range 300 {
		n.words = append(n.words, fmt.Sprintf("w%d", i))
	}
	return n
}

// file writes a file of documents. Half of them are like earlier ones.
func (n *night) file(t *testing.T, name string, documents int) {
	t.Helper()
	var b bytes.Buffer
	for range documents {
		text := n.text()
		n.texts = append(n.texts, text)
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q,\"lang\":\"l%d\",\"day\":%d}\n", n.next, text, n.random.IntN(4), n.random.IntN(100))
		n.next++
	}
	n.put(t, name, b.Bytes())
}

// put writes a file that looks as if it were not new.
func (n *night) put(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(n.folder, name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	n.files++
	old := time.Now().Add(-time.Hour).Add(time.Duration(n.files) * time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func (n *night) text() string {
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

// run runs a job with the state and compares its results with a job without. It returns the summary of the first.
func (n *night) run(t *testing.T, config job.Config) Summary {
	t.Helper()
	scheduled := config
	scheduled.Output = filepath.Join(t.TempDir(), "out")
	got := runJob(t, scheduled)
	whole := config
	whole.Output, whole.State, whole.Add, whole.AllowRemoval = filepath.Join(t.TempDir(), "out"), "", false, false
	want := runJob(t, whole)
	for _, name := range append(config.Outputs(), output.Rejects) {
		if got, want := readOutput(t, scheduled.Output, name), readOutput(t, whole.Output, name); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the %d bytes of a run over everything", name, len(got), len(want))
		}
	}
	got.Counts.Candidates, want.Counts.Candidates = 0, 0 // pairs without a new document are not scored again
	if !reflect.DeepEqual(got.Counts, want.Counts) {
		t.Errorf("counts %+v, want %+v", got.Counts, want.Counts)
	}
	for _, w := range [][]warnings.Warning{got.Warnings, want.Warnings} {
		for i := range w {
			w[i].Flag = "" // --common helps a run without a state only
		}
	}
	if !reflect.DeepEqual(got.Skipped, want.Skipped) || !reflect.DeepEqual(got.Sources, want.Sources) || !reflect.DeepEqual(got.Warnings, want.Warnings) ||
		!reflect.DeepEqual(got.Audit, want.Audit) {
		t.Errorf("the summary differs from that of a run over everything:\n%+v\n%+v", got, want)
	}
	return got
}

// checkSaved checks that a run has read a number of documents, all of new or changed files.
func (n *night) checkSaved(t *testing.T, s Summary, read int64) {
	t.Helper()
	for _, stage := range s.Stages {
		if stage.Name == "fingerprint" && stage.Records != read {
			t.Errorf("%d documents were read, want %d", stage.Records, read)
		}
	}
}

// TestTenNights: ten runs, of which one brings a file that sorts before all others, one removes a file and one changes one,
// each write what a run over everything writes.
func TestTenNights(t *testing.T) {
	t.Parallel()
	all := []methods.Name{methods.Exact, methods.MinHash, methods.SimHash, methods.All, methods.SameBytes, methods.SameWords}
	if testing.Short() {
		all = all[:2]
	}
	for _, keys := range all {
		t.Run(string(keys), func(t *testing.T) {
			n := newNight(t, 7)
			config := byKeys(testConfig(t, n.folder), keys)
			config.State = filepath.Join(t.TempDir(), "state")
			for i := range 10 {
				read := int64(30)
				switch i {
				case 4:
					n.file(t, "a-first.jsonl", 30)
				case 6:
					if err := os.Remove(filepath.Join(n.folder, "m2.jsonl")); err != nil {
						t.Fatal(err)
					}
					config.AllowRemoval, read = true, 0
				case 8:
					n.file(t, "m3.jsonl", 30)
				default:
					n.file(t, fmt.Sprintf("m%d.jsonl", i), 30)
				}
				s := n.run(t, config)
				if s.State.Generation != i+1 || s.State.Files.New+s.State.Files.Changed+s.State.Files.Removed != 1 {
					t.Errorf("night %d: %+v", i, s.State)
				}
				n.checkSaved(t, s, read)
			}
			s := n.run(t, config)
			if n.checkSaved(t, s, 0); s.Counts.Candidates != 0 && (keys == methods.Exact || keys == methods.MinHash) {
				t.Errorf("%d pairs were scored though no file is new", s.Counts.Candidates)
			}
			if len(s.State.Changes[output.Clusters]) > 0 {
				t.Errorf("changes %v though no file is new", s.State.Changes)
			}
		})
	}
}

// TestNights: whatever comes and goes, and whatever the settings, a run with a state writes what a run over everything
// writes.
func TestNights(t *testing.T) {
	t.Parallel()
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n := newNight(t, 100+seed)
			reference := newNight(t, 200+seed)
			config := testConfig(t, n.folder)
			config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
			config.Keys = []methods.Name{methods.Exact, methods.MinHash, methods.Auto, methods.SimHash}[n.random.IntN(4)]
			if config.Keys != methods.SimHash {
				config.Threshold = []float64{0.5, 0.8}[n.random.IntN(2)]
			} else if n.random.IntN(2) == 0 {
				config.Score = methods.Jaccard
			}
			if config.Keys != methods.SimHash {
				config.Verify = []methods.Verification{methods.VerifyExact, methods.VerifyExact, methods.VerifySketch, methods.VerifyNone}[n.random.IntN(4)]
			}
			if config.Verify == methods.VerifyExact && config.Keys == methods.MinHash {
				config.Audit = "100"
			}
			config.Split = []keep.Split{keep.Component, keep.Star}[n.random.IntN(2)]
			config.Keep = []preference.Preference{preference.First, preference.Longest, "max:day", preference.Last}[n.random.IntN(4)]
			if n.random.IntN(3) == 0 {
				config.SourceField = "lang"
			}
			switch n.random.IntN(5) {
			case 0:
				config.Within = "lang"
			case 1:
				config.Across = "lang"
			case 2:
				reference.texts, reference.next = n.texts, 10_000
				reference.file(t, "r.jsonl", 40)
				n.texts = reference.texts
				config.Reference = []string{reference.folder}
			case 3:
				config.IDField = "lang" // repeated ids, or none
			}
			for night := range 5 {
				for range 1 + n.random.IntN(3) {
					name := fmt.Sprintf("%c%d.jsonl", 'a'+n.random.IntN(26), n.random.IntN(3))
					if files, _ := os.ReadDir(n.folder); night > 0 && len(files) > 2 && n.random.IntN(3) == 0 {
						if err := os.Remove(filepath.Join(n.folder, files[n.random.IntN(len(files))].Name())); err != nil {
							t.Fatal(err)
						}
						continue
					}
					n.file(t, name, n.random.IntN(60))
				}
				if s := n.run(t, config); s.State.Generation != night+1 {
					t.Errorf("generation %d, want %d", s.State.Generation, night+1)
				}
			}
		})
	}
}

// TestCompact: a compacted state serves as it did before, without what was needed no more.
func TestCompact(t *testing.T) {
	n := newNight(t, 13)
	config := testConfig(t, n.folder)
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	for night := range 6 {
		n.file(t, fmt.Sprintf("f%d.jsonl", night), 20)
		n.file(t, "often.jsonl", 20)
		n.run(t, config)
		if night%2 == 0 {
			continue
		}
		s, err := state.Open(config.State, "a test")
		if err != nil {
			t.Fatal(err)
		}
		before, after, err := s.Compact(t.Context())
		if err := errors.Join(err, s.Close()); err != nil || after >= before {
			t.Errorf("%d bytes before, %d after: %v", before, after, err)
		}
		if units, err := os.ReadDir(filepath.Join(config.State, "units")); err != nil || len(units) != 1 {
			t.Errorf("%d run files, want 1 (%v)", len(units), err)
		}
		if _, err := state.Verify(t.Context(), config.State); err != nil {
			t.Error(err)
		}
		n.checkSaved(t, n.run(t, config), 0)
	}
}

// TestLargeFiles: a file of several splits, and one that cannot be cut, are recalled as they were read.
func TestLargeFiles(t *testing.T) {
	n := newNight(t, 15)
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

// TestNightsOfTexts: files that are one document each come and go.
func TestNightsOfTexts(t *testing.T) {
	n := newNight(t, 11)
	config := testConfig(t, n.folder)
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	config.Emit = []string{output.Clusters, output.Pairs, output.Removed} // unique has an archive for each file
	for night := range 4 {
		for i := range 20 {
			n.texts = append(n.texts, n.text())
			n.put(t, fmt.Sprintf("t%d.txt", (7*i+night*13)%60), []byte(n.texts[len(n.texts)-1]))
		}
		if night > 0 {
			for i := range 3 {
				_ = os.Remove(filepath.Join(n.folder, fmt.Sprintf("t%d.txt", i*9+night))) // some are not there
			}
		}
		n.run(t, config)
	}
}

// TestDenseNights: what is compared in a dense group depends on all documents. So the pairs of the last run do not decide
// there.
func TestDenseNights(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash} {
		t.Run(string(keys), func(t *testing.T) {
			n := newNight(t, 9)
			config := byKeys(testConfig(t, n.folder), keys)
			config.State, config.Emit = filepath.Join(t.TempDir(), "state"), []string{output.Clusters, output.Pairs, output.Removed}
			template := n.text() + " " + n.text()
			n.file(t, "a.jsonl", 2000)
			n.template(t, "b.jsonl", template, 100)
			n.run(t, config)
			n.template(t, "c.jsonl", template, 3500)
			if s := n.run(t, config); s.Skipped.Groups == 0 {
				t.Fatal("there is no dense group")
			}
			n.file(t, "d.jsonl", 50)
			n.run(t, config)
			if err := os.Remove(filepath.Join(n.folder, "c.jsonl")); err != nil {
				t.Fatal(err)
			}
			config.AllowRemoval = true
			n.run(t, config)
			n.template(t, "e.jsonl", template, 20)
			if s := n.run(t, config); s.Skipped.Groups != 0 {
				t.Error("there is still a dense group")
			}
		})
	}
}

// template writes a file of documents of one template.
func (n *night) template(t *testing.T, name, text string, documents int) {
	t.Helper()
	var b bytes.Buffer
	for range documents {
		fmt.Fprintf(&b, "{\"id\":\"t%d\",\"text\":%q}\n", n.next, fmt.Sprintf("%s z%d y%d", text, n.random.IntN(1000), n.random.IntN(1000)))
		n.next++
	}
	n.put(t, name, b.Bytes())
}
