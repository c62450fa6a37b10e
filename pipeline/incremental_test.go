package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// history is a job with a state whose input changes before each run. All of it follows from a seed.
type history struct {
	*rand.Rand
	seed   int
	config job.Config
	// root has the input folders; folders are their names, in the order in which they came. Only a job with --add has
	// several.
	root    string
	folders []string
	// ending is the ending of the names of new files, which says how documents are written.
	ending string
	// written counts the files written so far, next is the number of the next document.
	written, next int
	// texts are texts that others resemble, and template is the text of a group of near-duplicates.
	texts    []string
	template []string
	// isPassages says that texts have passages of others in common, isSpread that each page of a group is of a site of
	// its own.
	isPassages, isSpread bool
	// known counts the folders that a run with --add need not name. If isAway, it cannot see them.
	known  int
	isAway bool
	// isLarge says that there are too many documents to compare all pairs, and a group of more pairs than keys have.
	isLarge bool
	// rebuilt is the state of a job that reads all files again in each run; empty: there is none. Counted is a copy of
	// the state when the job had counted shingles.
	rebuilt, counted string
	story            []string
}

// note adds to the story that a failed test tells.
func (h *history) note(format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf(format, args...))
}

// one returns one of some values.
func one[T any](h *history, of ...T) T { return of[h.IntN(len(of))] }

// in reports true once in n times.
func (h *history) in(n int) bool { return h.IntN(n) == 0 }

// drawText returns a text. Half of the texts resemble earlier ones, or have a passage of one.
func (h *history) drawText() string {
	fresh := func(words, of int) (text []string) {
		for range words {
			text = append(text, fmt.Sprint("w", h.IntN(of)))
		}
		return text
	}
	if len(h.texts) > 0 && h.in(2) {
		words := strings.Fields(h.texts[h.IntN(len(h.texts))])
		if h.isPassages && h.in(4) {
			// Texts of the same blocks have equal shingles, but passages at other places.
			blocks := slices.Collect(slices.Chunk(words, 12))
			h.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
			return strings.Join(slices.Concat(blocks[:1+h.IntN(len(blocks))]...), " ") + " " +
				strings.Join(blocks[0], " ")
		}
		if h.isPassages && h.in(2) {
			at := h.IntN(len(words))
			return strings.Join(slices.Concat(fresh(h.IntN(40), 300), words[at:min(at+8+h.IntN(30), len(words))],
				fresh(h.IntN(40), 300)), " ")
		}
		for range h.IntN(4) {
			words[h.IntN(len(words))] = fmt.Sprint("w", h.IntN(300))
		}
		return strings.Join(words, " ")
	}
	text := strings.Join(fresh(one(h, 5, 30, 50, 70), one(h, 300, 1_000_000)), " ")
	if len(h.texts) < 200 || h.in(4) {
		h.texts = append(h.texts, text)
	}
	return text
}

// member returns a text of the group: a word of 80 differs from the template.
func (h *history) member() string {
	for len(h.template) < 80 {
		h.template = append(h.template, fmt.Sprint("t", h.IntN(1_000_000)))
	}
	words := slices.Clone(h.template)
	words[h.IntN(len(words))] = fmt.Sprint("x", h.next)
	return strings.Join(words, " ")
}

// addRecord appends the record of a document.
func (h *history) addRecord(b *bytes.Buffer, text, host string) {
	h.next++
	if h.in(5) {
		host = "www." + host
	}
	page := one(h, "", fmt.Sprint("p", h.IntN(40)), fmt.Sprint("q", h.next))
	switch h.ending {
	case ".txt":
		b.WriteString(text)
	case ".warc":
		extra := one(h, "", "", "", "<form><input type=password></form>",
			fmt.Sprintf("<link rel=canonical href='http://s%d.example/'>", h.IntN(8)))
		b.Write(answered("http://"+host+"/"+page, "200 OK",
			fmt.Sprintf("<html lang=%s><body>%s<p>%s</p></body></html>", one(h, "de", "en"), extra, text)))
	default:
		id := h.next
		if h.in(40) {
			id = 1 + h.IntN(id) // an id that another document may have
		}
		key := one(h, "", fmt.Sprintf(`"key":%d,`, h.next), fmt.Sprintf(`"key":"k%d",`, h.IntN(h.next)))
		fmt.Fprintf(b, `{"id":%d,%s"text":%q,"lang":"l%d","day":%d,"url":"http://%s/%s","date":"2026-11-%02d"}`+"\n",
			id, key, text, h.IntN(4), h.IntN(100), host, page, 1+h.IntN(28))
	}
}

// put writes a file that looks as if it were not new.
func (h *history) put(t *testing.T, path string, content []byte) {
	t.Helper()
	put(t, path, content, plain)
	h.written++
	then := time.Now().Add(-time.Hour).Add(time.Duration(h.written) * time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// newPath draws the path of a file of the newest folder. Such a file may exist, and folders share names of files.
func (h *history) newPath() string {
	name := fmt.Sprintf("%c%d", 'a'+h.IntN(26), h.IntN(3))
	if h.config.Add && h.in(2) {
		name = "part"
	}
	return filepath.Join(h.root, h.folders[len(h.folders)-1], name+h.ending)
}

// write writes a file of documents.
func (h *history) write(t *testing.T, path string, documents int, text func() string) {
	t.Helper()
	var b bytes.Buffer
	if h.ending == ".txt" {
		for i := range documents { // each document is a file of its own
			b.Reset()
			h.addRecord(&b, text(), "")
			h.put(t, fmt.Sprint(strings.TrimSuffix(path, h.ending), "-", i, h.ending), b.Bytes())
		}
		return
	}
	if old, err := os.ReadFile(path); err == nil && h.in(2) {
		b.Write(old) // the file grows
	}
	for range documents {
		host := fmt.Sprintf("s%d.of%d.example", h.IntN(8), h.IntN(6))
		if h.isSpread {
			host = fmt.Sprintf("kit%d.example", h.next)
		}
		h.addRecord(&b, text(), host)
	}
	h.put(t, path, b.Bytes())
}

// files returns the paths of the files that a run looks at.
func (h *history) files(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(h.root, h.folders[len(h.folders)-1]),
		func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				paths = append(paths, path)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// actions are what happens before a run, by name. Most are drawn as often as they are listed.
var actions = []struct {
	name string
	do   func(t *testing.T, h *history)
}{
	{"some documents", func(t *testing.T, h *history) { h.write(t, h.newPath(), 1+h.IntN(30), h.drawText) }},
	{"one document", func(t *testing.T, h *history) { h.write(t, h.newPath(), 1, h.drawText) }},
	{"one more of the group", func(t *testing.T, h *history) { h.write(t, h.newPath(), 1, h.member) }},
	{"some more of the group", func(t *testing.T, h *history) { h.write(t, h.newPath(), 2+h.IntN(20), h.member) }},
	{"another group", func(t *testing.T, h *history) {
		h.template = nil
		h.write(t, h.newPath(), one(h, 20, 100, 150), h.member)
	}},
	{"an eighth more", func(t *testing.T, h *history) { h.write(t, h.newPath(), 1+h.next/8, h.drawText) }},
	{"nothing", func(*testing.T, *history) {}},
	{"a file is renamed", func(t *testing.T, h *history) {
		files := h.files(t)
		if h.config.Add {
			return // it would stay in the corpus under its old name
		}
		if err := os.Rename(files[h.IntN(len(files))], h.newPath()); err != nil {
			t.Fatal(err)
		}
	}},
	{"a file is gone", func(t *testing.T, h *history) {
		if files := h.files(t); len(files) > 1 && !h.config.Add {
			if err := os.Remove(files[h.IntN(len(files))]); err != nil {
				t.Fatal(err)
			}
		}
	}},
	{"a file has other documents", func(t *testing.T, h *history) {
		files := h.files(t)
		path := files[h.IntN(len(files))]
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if h.ending == ".txt" {
			h.put(t, path, []byte(h.drawText()))
			return
		}
		h.write(t, path, 1+h.IntN(30), h.drawText)
	}},
	{"the results are elsewhere", func(t *testing.T, h *history) {
		h.config.Output = filepath.Join(t.TempDir(), "out")
	}},
	{"republish", func(_ *testing.T, h *history) { h.config.Republish = true }},
	{"other settings", func(t *testing.T, h *history) {
		h.redraw(t, h.config.HasSites())
		h.config.Rebuild = true
	}},
	{"a compacted state", func(t *testing.T, h *history) {
		if entries, _ := os.ReadDir(h.config.State); len(entries) == 0 || h.rebuilt != "" {
			return // no run has succeeded, or the other state would have fewer generations
		}
		s, err := state.Open(h.config.State, "a test")
		if err == nil {
			_, _, err = s.Compact(t.Context())
			err = errors.Join(err, s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}},
}

// newHistory draws a job and the files of its first run. A large one has more documents than are compared pair by pair,
// and groups of many thousand pairs.
func newHistory(t *testing.T, seed int, isLarge bool) *history {
	h := &history{
		Rand:    rand.New(rand.NewPCG(uint64(seed), 41)),
		seed:    seed,
		root:    t.TempDir(),
		folders: []string{"in"},
		ending:  ".jsonl",
	}
	hasSites := h.in(4)
	h.isPassages = !hasSites && h.in(5)
	h.isSpread = hasSites && h.in(2)
	switch {
	case hasSites && h.in(3):
		h.ending = ".warc"
	case !hasSites && h.in(6):
		h.ending = ".txt"
	}
	h.config.Add = h.in(4)
	if h.in(4) {
		h.rebuilt = filepath.Join(t.TempDir(), "rebuilt")
	}
	h.redraw(t, hasSites)
	h.config.Output, h.config.State = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "state")
	h.config.Overwrite, h.config.AllowRemoval = true, true
	h.isAway = h.config.Add && h.in(2)
	first := 20 + h.IntN(100)
	if h.isLarge = isLarge; h.isLarge {
		first = 10
	}
	if h.write(t, h.newPath(), first, h.drawText); h.in(2) || isLarge {
		size := one(h, 5, 30, 100)
		if isLarge {
			size = one(h, 141, 150, 200)
		}
		h.write(t, h.newPath(), size, h.member)
		h.note("%d of a group", size)
	}
	if isLarge && h.ending == ".jsonl" {
		others := 4000 + h.IntN(2500)
		h.write(t, filepath.Join(h.root, "in", "others.jsonl"), others, func() string {
			return fmt.Sprintf("o%d a%d b%d c%d d%[1]d", h.next, h.IntN(1000), h.IntN(1000), h.IntN(1000))
		})
		h.note("%d other documents", others)
	}
	return h
}

// redraw draws the settings. Those that contradict each other are drawn again.
func (h *history) redraw(t *testing.T, hasSites bool) {
	t.Helper()
	old := h.config
	for tries := 0; ; tries++ {
		c := job.Default()
		c.Input, c.Output, c.State, c.Add = []string{"in"}, "out", "state", old.Add
		h.drawMethod(&c)
		h.drawScope(t, &c)
		h.drawOutputs(t, &c, hasSites)
		if c.Validate() == nil {
			c.Input, c.Output, c.State, c.Overwrite, c.AllowRemoval = nil, old.Output, old.State, true, true
			h.config = c
			break
		}
		if tries == 1000 {
			t.Fatalf("no valid settings: %v", c.Validate())
		}
	}
}

// drawMethod draws how similar documents are found.
func (h *history) drawMethod(c *job.Config) {
	if h.isPassages {
		c.Similarity, c.Threshold = methods.Containment, one(h, 0.4, 0.9, 1)
		c.Excerpt, c.Passage, c.NoQuotations = one(h, 0, 8, 15), one(h, 0, 4, 5), h.in(2)
		return
	}
	c.Keys = one(h, append(methods.Resembling(), methods.Auto)...)
	method, _ := methods.Of(c.Method())
	if method.Settings.Distance {
		c.Hamming, c.Bits = one(h, 0, 3, 6), one(h, 64, 64, 128)
	}
	c.Score = one(h, methods.Scorings...)
	if c.Scorer().IsDistance {
		return
	}
	c.Threshold = one(h, 0.5, 0.7, 0.8, 0.95)
	c.Verify = one(h, append(methods.Verifications, methods.VerifyExact, methods.VerifyExact)...)
	c.Audit = one(h, "auto", "off", "20", "100000")
	c.Shingle = one(h, 1, 2, 3, 3)
}

// drawScope draws which documents are compared, what counts of them, and what is kept.
func (h *history) drawScope(t *testing.T, c *job.Config) {
	t.Helper()
	switch h.IntN(8) {
	case 0:
		c.Within = "lang"
	case 1:
		c.Across = one(h, "lang", "day")
	case 2:
		reference := filepath.Join(t.TempDir(), "r"+h.ending)
		h.write(t, reference, 30, h.drawText)
		c.Reference = []string{filepath.Dir(reference)}
	case 3:
		c.IDField = one(h, "lang", "key", "none")
	case 4:
		// a folder has its name in names, and a run that reads all files again counts again
		if !c.Add && h.rebuilt == "" {
			c.Common = one(h, "auto", "5", "30")
		}
	}
	if h.in(3) {
		c.SourceField = "lang"
	}
	if c.MinShingles = one(h, 0, 0, 0, 40); h.isPassages {
		c.MinShingles = 0
		return // there are no clusters
	}
	if h.in(4) {
		c.Guard = []string{"removes:20", "cluster:5"}
	}
	c.Split, c.Drop = one(h, keep.Splits...), one(h, append(keep.Drops, keep.Copies, keep.Copies)...)
	form := one(h, regexp.MustCompile(", | or ").Split(preference.Forms(preference.OfSource), -1)...)
	if policy, isFile := strings.CutSuffix(form, "FILE"); isFile {
		form = policy + h.list(t, "l1", "l0", "part.jsonl")
	}
	c.Keep = preference.Preference(strings.Replace(form, "FIELD", "day", 1))
	if c.Keep != preference.First && c.Keep != preference.Last {
		c.Keep += []preference.Preference{"", ",longest", ",min:day,last"}[h.seed%3]
	}
}

// list writes a list with some of the lines, and returns its path.
func (h *history) list(t *testing.T, lines ...string) string {
	t.Helper()
	h.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return put(t, filepath.Join(t.TempDir(), "list"), []byte(strings.Join(lines[:1+h.IntN(len(lines))], "\n")+"\n"),
		plain)
}

// drawOutputs draws the outputs, and what decides about mirrors.
func (h *history) drawOutputs(t *testing.T, c *job.Config, hasSites bool) {
	t.Helper()
	c.Emit = nil
	for _, name := range job.OutputNames() {
		// In a state, texts are groups of one each, which decides about archives of texts.
		isOther := h.ending == ".txt" && slices.Contains(output.Copies, name)
		if h.in(3) && job.IsAboutSites(name) == hasSites && !isOther {
			c.Emit = append(c.Emit, name)
		}
	}
	if h.in(2) || hasSites && h.in(3) {
		c.Emit = append(c.Emit, output.Clusters, output.Pairs, output.Removed)
	}
	if h.isPassages {
		c.Emit = []string{output.Pairs}
	}
	if c.Columns = nil; slices.Contains(c.Emit, output.Unique) && h.seed%2 == 0 {
		c.Columns = []string{"n_sources", "n_files", "cluster_size"}
	}
	c.OutputFormat = one(h, append(output.Formats, output.JSONL, output.JSONL)...)
	if slices.Contains(c.Emit, output.Trimmed) || slices.Contains(c.Emit, output.Passages) {
		c.PassageWords = 8
	}
	if hasSites {
		c.MirrorThreshold = one(h, 0.02, 0.05, 0.2)
		c.MirrorPages = one(h, int64(1), 2)
		c.MirrorSites = one(h, 3, 4, 100, 100)
		h.drawLists(t, c)
	}
}

// drawLists draws lists of sites, which may be others in each run.
func (h *history) drawLists(t *testing.T, c *job.Config) {
	t.Helper()
	for _, list := range []*string{&c.Protected, &c.Rank, &c.Allow} {
		if *list = ""; h.in(3) {
			*list = h.list(t, "s0.of0.example", "s1.of1.example", "s2.of2.example", "kit5.example", "nowhere.example")
		}
	}
}

// happen does what happens before a run that is not the first. Half of the runs are of one action, others of up to
// three.
func (h *history) happen(t *testing.T) {
	t.Helper()
	h.config.Republish, h.config.Rebuild = false, false
	if h.config.Add && !h.in(3) {
		h.folders = append(h.folders, fmt.Sprintf("%c%d", 'a'+h.IntN(26), len(h.folders)))
		// The ids of texts that cannot be read again stay, so files have names of their own.
		name := fmt.Sprintf("part%d%s", len(h.folders), h.ending)
		h.write(t, filepath.Join(h.root, h.folders[len(h.folders)-1], name), 1+h.IntN(10), h.drawText)
		h.note("a folder %s", h.folders[len(h.folders)-1])
	}
	for range one(h, 1, 1, 2, 3) {
		a := actions[h.IntN(len(actions))]
		if h.isLarge && h.in(3) {
			a = actions[2] // what such a corpus is there for
		}
		h.note("%s", a.name)
		a.do(t, h)
	}
	if h.config.HasSites() && h.in(4) {
		h.drawLists(t, &h.config)
	}
	h.note("run")
}

// run runs the job with its state, and over everything without one, and compares what they write. It reports whether
// the runs succeeded, and returns the summary of the first.
func (h *history) run(t *testing.T) (s Summary, isDone bool) {
	t.Helper()
	config, whole := h.config, h.config
	for _, folder := range h.folders {
		whole.Input = append(whole.Input, filepath.Join(h.root, folder))
	}
	config.Input = whole.Input
	if config.Add {
		config.Input = whole.Input[h.known:]
	}
	s, err := h.runHidden(t, config)
	if errors.Is(err, ErrUsage) && !config.Rebuild {
		config.Rebuild = true // the settings may be others
		s, err = h.runHidden(t, config)
	}
	whole.Output = filepath.Join(t.TempDir(), "out")
	whole.State, whole.Add, whole.AllowRemoval, whole.Republish, whole.Rebuild = "", false, false, false, false
	except := incrementalRun
	if config.Common != "" && !config.Rebuild && h.counted != "" {
		// The state has a list of common shingles. Another run that has it, but knows none of the files, reads all of
		// them.
		whole.State, whole.AllowRemoval = copyOf(t, h.counted), true
		whole.Input = []string{filepath.Join(copyOf(t, h.root), h.folders[0])}
		except = append([]exception{{"manifest.json/files/*/input", "the other run reads copies"}}, except...)
	}
	_, wanted := Run(t.Context(), whole)
	kinds := func(err error) []bool {
		return []bool{err != nil, errors.Is(err, ErrUsage), errors.Is(err, ErrInput), errors.Is(err, ErrStorage)}
	}
	if !slices.Equal(kinds(err), kinds(wanted)) {
		t.Errorf("error %v, of a run over everything %v", err, wanted)
	}
	if err != nil || wanted != nil {
		return s, false
	}
	if h.known = len(h.folders) - 1; h.counted == "" || config.Rebuild {
		h.counted = copyOf(t, config.State)
	}
	checkNoLeftovers(t, config)
	if _, err := state.Verify(t.Context(), config.State); err != nil {
		t.Error(err)
	}
	sameResults(t, "incremental run", config.Output, whole.Output, except...)
	if h.rebuilt != "" && !s.State.IsKept {
		again := config
		again.State, again.Output, again.Rebuild = h.rebuilt, filepath.Join(t.TempDir(), "out"), true
		if _, err := h.runHidden(t, again); err != nil {
			t.Fatalf("a job that reads all files again: %v", err)
		}
		sameResults(t, "run that reads all files again", config.Output, again.Output, rebuiltRun...)
	}
	return s, true
}

// runHidden runs a job that does not read the folders of earlier runs again, if these are to be away.
func (h *history) runHidden(t *testing.T, config job.Config) (Summary, error) {
	t.Helper()
	readsTexts := config.EmitsCopies() || slices.Contains(config.Emit, output.Passages)
	if !h.isAway || readsTexts || config.Rebuild {
		return Run(t.Context(), config)
	}
	move := func(from, to string) {
		for _, folder := range h.folders[:h.known] {
			if err := os.Rename(filepath.Join(h.root, from+folder), filepath.Join(h.root, to+folder)); err != nil {
				t.Fatal(err)
			}
		}
	}
	move("", ".")
	defer move(".", "")
	return Run(t.Context(), config)
}

// TestIncremental: whatever a job looks for, and whatever comes and goes, a run with a state writes what a run over
// everything writes. CASES asks for more jobs, of four runs each, and CASES_SEED for another first one.
func TestIncremental(t *testing.T) {
	few := 13
	if testing.Short() {
		few = 2
	}
	first, cases := drawnCases(t, few)
	done, pruned := 0, 0
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, seed, seed%4 == 3)
			t.Cleanup(func() {
				if t.Failed() {
					settings, _ := json.Marshal(h.config)
					t.Logf("to see it again: CASES=1 CASES_SEED=%d go test ./pipeline -run 'TestIncremental$'\n%s\n%s",
						seed, strings.Join(h.story, "; "), settings)
				}
			})
			for run := range 4 {
				if run > 0 {
					h.happen(t)
				}
				s, isDone := h.run(t)
				if t.Failed() {
					return // later differences follow from this one
				}
				if isDone && run > 0 {
					done++
					if slices.ContainsFunc(s.Stages, func(stage finished.Stage) bool {
						return stage.Name == string(work.Prune) && stage.Tasks > 0
					}) {
						pruned++
					}
				}
			}
		})
	}
	t.Logf("%d later runs succeeded, %d of them left documents out", done, pruned)
	if cases >= few && (done < 3*cases/2 || pruned < cases/2) {
		t.Errorf("%d jobs have %d later runs that succeeded, and %d that left documents out", cases, done, pruned)
	}
}
