package query_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// match is a row of an answer.
type match struct {
	ID           string  `json:"id"`
	Ref          string  `json:"ref"`
	Match        string  `json:"match"`
	MatchRef     string  `json:"match_ref"`
	Jaccard      float64 `json:"jaccard"`
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	Hamming      int     `json:"hamming"`
	Cosine       float64 `json:"cosine"`
	Identical    bool    `json:"identical"`
	Reference    bool    `json:"reference"`
}

// corpus is a folder of files of documents. Half of the documents are like earlier ones.
type corpus struct {
	folder string
	random *rand.Rand
	texts  []string
	files  int
	refs   []string // of the documents, as long as no file is written twice
}

func newCorpus(t *testing.T, seed uint64) *corpus {
	return &corpus{folder: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1))}
}

// text makes a text. One in ten has no words.
func (c *corpus) text() string {
	var words []string
	switch kind := c.random.IntN(10); {
	case kind == 0:
		words = []string{strings.Repeat("?!", c.random.IntN(3))}
	case kind < 5 && len(c.texts) > 0:
		words = strings.Fields(c.texts[c.random.IntN(len(c.texts))])
	default:
		words = make([]string, 30+c.random.IntN(40))
	}
	for i := range words {
		if words[i] == "" || c.random.IntN(30) == 0 && len(words) > 1 {
			words[i] = fmt.Sprint("w", c.random.IntN(300))
		}
	}
	return strings.Join(words, " ")
}

// add writes a file of documents. The last line is none.
func (c *corpus) add(t *testing.T, name string, documents int) {
	t.Helper()
	var b strings.Builder
	for range documents {
		text := c.text()
		c.refs = append(c.refs, fmt.Sprintf("%s:%d", name, b.Len()))
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q,\"lang\":\"l%d\"}\n", len(c.texts), text, len(c.texts)%3)
		c.texts = append(c.texts, text)
	}
	c.put(t, name, b.String()+"no document\n")
}

// put writes a file that looks as if it were not new.
func (c *corpus) put(t *testing.T, name, content string) {
	t.Helper()
	path, old := filepath.Join(c.folder, name), time.Now().Add(-time.Hour).Add(time.Duration(c.files)*time.Second)
	c.files++
	if err := errors.Join(os.WriteFile(path, []byte(content), 0o666), os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
}

// newConfig is a job over an input.
func newConfig(t *testing.T, input string) job.Config {
	config := job.Default()
	config.Input = []string{input}
	config.Output = filepath.Join(t.TempDir(), "out")
	config.Keys = methods.Exact
	config.Overwrite = true
	return config
}

func run(t *testing.T, config job.Config) {
	t.Helper()
	if _, err := pipeline.Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

// opened opens an index of a state, which a job makes if there is none. The test closes it.
func opened(t *testing.T, config job.Config) *query.Index {
	t.Helper()
	if config.State == "" {
		config.State = filepath.Join(t.TempDir(), "state")
		run(t, config)
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

// ask returns the matches of a query that must succeed.
func ask(t *testing.T, x *query.Index, q query.Request) (rows []match, counts query.Counts) {
	t.Helper()
	var answer bytes.Buffer
	counts, err := x.Answer(t.Context(), q, &answer)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(answer.Bytes()) {
		var row match
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if counts.Matches != int64(len(rows)) {
		t.Errorf("%d matches are counted, there are %d", counts.Matches, len(rows))
	}
	return rows, counts
}

// naive returns the answer to a query of all documents, by plain sets of three words in a row.
func (c *corpus) naive(threshold float64) (rows []match) {
	sets := make([]map[string]bool, len(c.texts))
	for i, text := range c.texts {
		sets[i] = map[string]bool{}
		words := strings.Fields(strings.Trim(text, "?!"))
		for at := range max(len(words)-2, 0) {
			sets[i][strings.Join(words[at:at+3], " ")] = true
		}
	}
	for i, a := range sets {
		start := len(rows)
		for j, b := range sets {
			shared := 0
			for shingle := range a {
				if b[shingle] {
					shared++
				}
			}
			row := match{
				ID:           fmt.Sprint("d", i),
				Ref:          c.refs[i],
				Match:        fmt.Sprint("d", j),
				MatchRef:     c.refs[j],
				Jaccard:      1,
				ContainmentA: 1,
				ContainmentB: 1,
			}
			if row.Identical = len(a) == len(b) && shared == len(a) &&
				(len(a) > 0 || c.texts[i] == c.texts[j]); !row.Identical {
				row.Jaccard = float64(shared) / max(float64(len(a)+len(b)-shared), 1)
				row.ContainmentA, row.ContainmentB = float64(shared)/float64(len(a)), float64(shared)/float64(len(b))
			}
			if row.Jaccard >= threshold {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows[start:], func(x, y match) int { return int(1e6*y.Jaccard) - int(1e6*x.Jaccard) })
	}
	return rows
}

// same fails with the first row in which two answers differ.
func same(t *testing.T, what string, got, want []match) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d is\n%+v, want\n%+v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) || len(want) < 60 {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

// TestIndexOfJob looks for all documents of a corpus in the index of a job, at the threshold of the index and
// above. If fingerprints only find candidates, the index is one of sets.
func TestIndexOfJob(t *testing.T) {
	ownCache(t)
	c := newCorpus(t, 81)
	c.add(t, "a.jsonl", 150)
	c.add(t, "b.jsonl", 150)
	for _, threshold := range []float64{1e-300, 0.2, 0.8} {
		for _, keys := range []methods.Name{methods.Exact, methods.SimHash} {
			config := newConfig(t, c.folder)
			if config.Keys, config.Threshold = keys, threshold; keys == methods.SimHash {
				config.Score = methods.Jaccard
			}
			x := opened(t, config)
			for _, asked := range []float64{0, 0.5, 0.9, 1} {
				if asked > 0 && asked < threshold {
					continue
				}
				got, counts := ask(t, x, query.Request{Input: config.Input, Threshold: asked})
				same(t, fmt.Sprintf("%s, index of %g, asked for %g", keys, threshold, asked), got,
					c.naive(max(asked, threshold)))
				if counts.Documents != 300 || counts.Rejected != 2 ||
					!strings.Contains(counts.FirstReject, "a.jsonl:") {
					t.Errorf("%+v", counts)
				}
			}
		}
	}
}

// ownCache gives the test a folder for caches.
func ownCache(t *testing.T) string {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	return cache
}

// TestState: after each run, a query of the state answers like a query of a state that a run over everything has made.
func TestState(t *testing.T) {
	known := newCorpus(t, 30)
	known.add(t, "known.jsonl", 60)
	for name, change := range map[string]func(*job.Config){
		"exact":     func(c *job.Config) { c.Threshold = 0.6 },
		"minhash":   func(c *job.Config) { c.Keys = methods.MinHash },
		"simhash":   func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 6 },
		"128 bits":  func(c *job.Config) { c.Keys, c.Hamming, c.Bits = methods.SimHash, 12, 128 },
		"reference": func(c *job.Config) { c.Reference = []string{known.folder} },
		"stopwords": func(c *job.Config) { c.StopWords = filepath.Join(c.Input[0], "stop.words") },
	} {
		t.Run(name, func(t *testing.T) {
			cache := ownCache(t)
			c := newCorpus(t, 31)
			c.put(t, "stop.words", "w1\nw2\n")
			config, whole := newConfig(t, c.folder), newConfig(t, c.folder)
			change(&config)
			change(&whole)
			config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
			for i := range 3 {
				c.add(t, fmt.Sprintf("%c%d.jsonl", "mza"[i], i), 60)
				if i < 2 {
					c.put(t, fmt.Sprintf("t%d.txt", i), c.texts[len(c.texts)-1])
				} else if err := os.Remove(filepath.Join(c.folder, "z1.jsonl")); err != nil {
					t.Fatal(err)
				}
				run(t, config)
				asked := query.Request{Input: []string{filepath.Join(c.folder, "*.jsonl")}}
				got, _ := ask(t, opened(t, config), asked)
				want, _ := ask(t, opened(t, whole), asked)
				same(t, fmt.Sprintf("run %d", i), got, want)
			}
			if files, err := os.ReadDir(filepath.Join(cache, "runjob")); err != nil || len(files) != 1+3 {
				t.Errorf(
					"%d files are in the cache (%v), want the newest one, and those of three runs over everything",
					len(files), err)
			}
		})
	}
}

// TestAmongRuns: runs that go on while a query opens the state, and remove what it reads, do not harm it. Nor does what
// they do later.
func TestAmongRuns(t *testing.T) {
	ownCache(t)
	c := newCorpus(t, 32)
	config := newConfig(t, c.folder)
	m, folder := storagetest.NewMemory(t)
	config.State = storage.Join(folder, "state")
	c.add(t, "a.jsonl", 50)
	var armed atomic.Bool
	m.Ask = func(operation, name string) error {
		if operation == "read" && strings.Contains(name, "/segments/") && armed.CompareAndSwap(true, false) {
			for range 2 {
				c.add(t, "a.jsonl", 50)
				run(t, config)
			}
			s, err := state.Open(config.State, "a test")
			if err == nil {
				_, _, err = s.Prune()
				err = errors.Join(err, s.Close())
			}
			return err
		}
		return nil
	}
	run(t, config)
	armed.Store(true)
	x := opened(t, config)
	if armed.Load() {
		t.Fatal("the query has not read a segment")
	}
	asked := query.Request{Input: []string{c.folder}}
	before, _ := ask(t, x, asked)
	if len(before) < 50 {
		t.Errorf("%d rows: not those of the newest generation", len(before))
	}
	c.add(t, "a.jsonl", 50)
	run(t, config)
	for file, err := range m.List(config.State) {
		if err = errors.Join(err, m.Remove(file.Name)); err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := ask(t, x, asked); len(after) >= len(before) {
		t.Errorf("%d rows for other documents, %d for those of the state", len(after), len(before))
	}
}

// TestNoState: what cannot be looked up is refused with its reason.
func TestNoState(t *testing.T) {
	ownCache(t)
	c := newCorpus(t, 33)
	c.add(t, "a.jsonl", 10)
	for want, change := range map[string]func(*job.Config){
		"within":    func(c *job.Config) { c.Within = "lang" },
		"full sets": func(c *job.Config) { c.Keys, c.Verify = methods.MinHash, methods.VerifySketch },
		"sequences": func(c *job.Config) {
			c.Similarity, c.Keys, c.Emit = methods.Containment, methods.Auto, []string{"auto"}
		},
		"makes none": func(c *job.Config) { c.Keys = methods.SameWords },
	} {
		config := newConfig(t, c.folder)
		config.State = filepath.Join(t.TempDir(), "state")
		change(&config)
		run(t, config)
		if _, err := query.OpenState(t.Context(), config.State, nil); !errors.Is(err, failure.Input) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
	if _, err := query.OpenState(t.Context(), t.TempDir(), nil); !errors.Is(err, failure.Input) ||
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no state: %v", err)
	}
}

// TestStateOfEarlierVersion: neither a run nor a query mixes sketches of an earlier version with its own. Both say what
// helps, and that does.
func TestStateOfEarlierVersion(t *testing.T) {
	ownCache(t)
	c := newCorpus(t, 40)
	c.add(t, "a.jsonl", 20)
	config := newConfig(t, c.folder)
	config.State = filepath.Join(t.TempDir(), "state")
	run(t, config)
	s, err := state.Open(config.State, "a test")
	if err != nil {
		t.Fatal(err)
	}
	earlier := s.Last
	earlier.Sketch, earlier.Sketches = earlier.Sketch-1, "of an earlier version"
	if err := errors.Join(s.Commit(earlier), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(t.Context(), config); !errors.Is(err, failure.Usage) ||
		!strings.Contains(err.Error(), "another version of this program") ||
		!strings.Contains(err.Error(), "read again with rebuild") {
		t.Errorf("a run with the state: %v", err)
	}
	if _, err := query.OpenState(t.Context(), config.State, nil); !errors.Is(err, failure.Input) ||
		!strings.Contains(err.Error(),
			"another version of this program made it: run its job again with this one and --rebuild") {
		t.Errorf("a query of the state: %v", err)
	}
	config.Rebuild = true
	run(t, config)
	config.Rebuild = false
	run(t, config)
	opened(t, config)
	// another main text is another text
	for mode, isRefused := range map[webtext.Mode]bool{webtext.All: false, webtext.Main: true} {
		s, err := state.Open(config.State, "a test")
		if err != nil {
			t.Fatal(err)
		}
		last := s.Last
		last.MainText = webtext.MainVersion - 1
		was := config
		was.HTMLText = mode
		if last.Config, err = json.Marshal(was); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Commit(last), s.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = query.OpenState(t.Context(), config.State, nil)
		if got := err != nil && strings.Contains(err.Error(), "another version of this program made it"); got !=
			isRefused {
			t.Errorf("another version of the main text, with %s: %v", mode, err)
		}
	}
}

// TestOpenToAll: a state in which others may put files is a fault of the storage, as 'runjob state' says.
func TestOpenToAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := query.OpenState(t.Context(), folder, nil); !errors.Is(err, failure.Storage) ||
		errors.Is(err, failure.Input) || !strings.Contains(err.Error(), "all users may write to it") {
		t.Errorf("error %v", err)
	}
}
