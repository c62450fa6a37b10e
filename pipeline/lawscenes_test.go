package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// scene is a corpus. A part may be a reference.
type scene struct {
	known, files []file
	how          compression
	// with adds what the corpus needs to the configuration of a job; nil: nothing.
	with func(t testing.TB, c *job.Config)

	truths map[string]*truth
}

// config returns a configuration of a job over the scene, with a change in JSON.
func (s *scene) config(t testing.TB, change string) job.Config {
	t.Helper()
	config := testConfig(t, putCorpus(t, s.how, s.files...))
	if config.Threshold = 0.5; len(s.known) > 0 {
		config.Reference = []string{putCorpus(t, s.how, s.known...)}
	}
	if s.with != nil {
		s.with(t, &config)
	}
	decoder := json.NewDecoder(strings.NewReader(change))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if config.Keys == methods.SimHash {
		config.Emit = append(config.Emit, output.Sketches) // brute force compares them
	}
	return config
}

// truth returns what brute force finds by the measure of a configuration.
func (s *scene) truth(config job.Config) *truth {
	key := fmt.Sprint(config.Shingle, config.Tokens)
	if s.truths[key] == nil {
		if s.truths == nil {
			s.truths = map[string]*truth{}
		}
		tr := naiveTruth(config.Shingle, config.Tokens != measureOf(false), slices.Concat(s.known, s.files)...)
		tr.references = countDocuments(s.known)
		s.truths[key] = tr
	}
	return s.truths[key]
}

// inTwo makes a scene of files. The first ones are the reference.
func inTwo(files []file, known int) *scene { return &scene{known: files[:known], files: files[known:]} }

// clean leaves the rejects out.
func clean(lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return l.kind == rejectLine })
}

// scopedFiles are documents with scopes, sidedFiles documents with sides.
func scopedFiles() []file {
	return cut(clean(scoped(slices.Concat(oddities(41), equalTexts(42)), 43)), 4)
}

func sidedFiles(values []string) []file {
	return cut(clean(sided(slices.Concat(oddities(51), equalTexts(52), spread(54)), values, 53)), 4)
}

// sourcedFiles are documents of many sources, with sides or without.
func sourcedFiles(many int, sides ...string) []file {
	lines := slices.Concat(oddities(71), equalTexts(72), spread(73))
	if len(sides) > 0 {
		lines = sided(lines, sides, 74)
	}
	return cut(fromSources(lines, many, 75), 4)
}

// lawScenes make the scenes.
var lawScenes = map[string]func() *scene{
	"oddities":   func() *scene { return &scene{files: cut(oddities(lawSeed), 3)} },
	"compressed": func() *scene { return &scene{files: cut(oddities(12), 4), how: zstded} },
	"dense":      func() *scene { return &scene{files: cut(denseLines(), 2)} },
	"names":      func() *scene { return &scene{files: namesInJSON()} },
	"too long":   func() *scene { return &scene{files: []file{{"x.jsonl", tooLong(1000)}}} },
	"long":       func() *scene { return &scene{files: verifyCorpus()} },
	"reference": func() *scene {
		return inTwo(named(cut(oddities(61), 4), "y.jsonl", "z.jsonl", "a.jsonl", "b.jsonl"), 2)
	},
	"scored reference": func() *scene {
		return inTwo(cut(scoredLines(oddities(33), -1, 7), 4), 2)
	},
	"equal":             func() *scene { return equalScene(100) },
	"equal too":         func() *scene { return equalScene(101) },
	"scopes":            func() *scene { return inTwo(scopedFiles(), 0) },
	"scopes, reference": func() *scene { return inTwo(scopedFiles(), 2) },
	"sides":             func() *scene { return inTwo(sidedFiles(sides), 0) },
	"few of a side": func() *scene {
		return inTwo(sidedFiles([]string{`"a"`, `"a"`, `"a"`, `"a"`, `"a"`, `"b"`}), 0)
	},
	"sources":                 func() *scene { return inTwo(sourcedFiles(40), 0) },
	"many sources":            func() *scene { return inTwo(sourcedFiles(30), 0) },
	"many sources, reference": func() *scene { return inTwo(sourcedFiles(20), 2) },
	"sources and sides":       func() *scene { return inTwo(sourcedFiles(6, sides...), 0) },
	"scored":                  func() *scene { return &scene{files: cut(scoredLines(synthetic(31), -1, 7), 3)} },
	"scored, least":           func() *scene { return &scene{files: cut(scoredLines(synthetic(31), 1, 7), 3)} },
	"last": func() *scene {
		return &scene{files: cut(turned(synthetic(31), func(i int, _ line) float64 { return -float64(i) }), 3)}
	},
	"shortest": func() *scene {
		return &scene{files: cut(turned(synthetic(31), func(_ int, l line) float64 { return float64(l.length) }), 3)}
	},
	"ranked":              func() *scene { return &scene{files: cut(rankedLines(), 4), with: ranking} },
	"ranked files":        func() *scene { return &scene{files: rankedFiles(), with: ranking} },
	"excerpts":            func() *scene { return &scene{files: cut(excerpts(lawSeed), 3)} },
	"excerpts, reference": func() *scene { return inTwo(cut(excerpts(73), 4), 2) },
	"sites": func() *scene {
		return &scene{files: cut(ofSites(slices.Concat(oddities(81), synthetic(82)), 12, 83), 3), with: siteLists}
	},
}

// named gives files other names.
func named(files []file, names ...string) []file {
	for i, name := range names {
		files[i].name = name
	}
	return files
}

// turned returns documents that are preferred by their turn.
func turned(lines []line, turn func(i int, l line) float64) []line {
	for i := range lines {
		lines[i].turn = turn(i, lines[i])
	}
	return lines
}

// ranking keeps documents by a list of sources.
func ranking(t testing.TB, c *job.Config) {
	const list = "# the best first\nnews.example.org\n\nexample.org\nd\na.jsonl\n"
	c.Keep = preference.Preference("rank:" + put(t, filepath.Join(t.TempDir(), "sources.txt"), []byte(list), plain))
	c.Split = keep.Component
}

// siteLists names the sites that are protected and those that have a rank.
func siteLists(t testing.TB, c *job.Config) {
	folder := t.TempDir()
	c.Protected = put(t, filepath.Join(folder, "protected.txt"), []byte("sitec.example\n"), plain)
	c.Rank = put(t, filepath.Join(folder, "rank.csv"), []byte("4,sitee.example\n9,sitea.example\n"), plain)
}

// equalScene draws documents from few texts, so most of them are equal to others, of the reference and of the input.
func equalScene(seed uint64) *scene {
	w := newWriter(seed)
	texts := [][]string{{}, {"one", "two"}, {"one"}}
	for range 10 {
		base := w.text(10 + w.random.IntN(60))
		for range 1 + w.random.IntN(5) {
			texts = append(texts, w.change(base, pick(w, []float64{0.01, 0.03, 0.06})))
		}
	}
	for i := range 60 + w.random.IntN(60) {
		id := fmt.Sprintf("doc-%03d", i)
		if w.random.IntN(6) == 0 {
			id = pick(w, []string{"", "twice", "often"})
		}
		w.addAs(id, w.set(pick(w, texts)))
	}
	end := len(w.lines) * (1 + w.random.IntN(3)) / 4
	return inTwo([]file{
		{"r1.jsonl", w.lines[:end/2]},
		{"r2.jsonl", w.lines[end/2 : end]},
		{"x1.jsonl", w.lines[end : end+5]},
		{"x2.jsonl", w.lines[end+5:]},
	}, 2)
}

// denseLines returns documents that differ in the last word. Their pairs take many times the room of their sets: the
// pairs of a place come in parts, or the component is cut into blocks.
func denseLines() []line {
	w := newWriter(6)
	base := w.text(9)
	for i := range 150 {
		w.add(w.set(append(base[:9:9], fmt.Sprint("last", i))))
	}
	return w.lines
}

// namesInJSON returns a file and documents whose names JSON must escape.
func namesInJSON() []file {
	w := newWriter(55)
	words := w.text(30)
	for _, id := range []string{"\"", "\\", "\x01", "\u2028", "<&>", "a\nb", "", "\ufffd", " "} {
		w.addAs(id, w.set(w.change(words, 0.01)))
	}
	return []file{{"dir with \"quotes\"/ø 中 \\ \u2028 & <tag>.jsonl", w.lines}}
}

// tooLong returns texts and lines beyond a limit, and texts at it. Lines at the limit of the reader are longer than its
// buffer.
func tooLong(limit int) []line {
	w := newWriter(53)
	w.add(strings.Repeat("é", limit/2))
	w.add(strings.Repeat("é", limit/2) + ".")
	w.lines[1].kind = rejectLine
	w.add("a text of no length")
	for range 2 {
		w.addRaw(`{"id":"long`+fmt.Sprint(len(w.lines))+`","padding":"`+strings.Repeat("x", 2<<20)+`","text":"short"}`,
			"", "")
		w.lines[len(w.lines)-1].kind = rejectLine
		w.add("another text of no length")
	}
	return w.lines
}

// scoredLines returns documents with scores, which are preferred by them; sign is -1 for the greatest score and 1 for
// the least.
func scoredLines(lines []line, sign float64, seed uint64) []line {
	random := newWriter(seed)
	return marked(lines, func(_ int, l *line) map[string]string {
		value := pick(random, values)
		if l.turn = sign * value.number; math.IsInf(value.number, 0) {
			l.turn = math.Inf(1)
		}
		return map[string]string{"of": `{"score":` + value.json + `}`}
	})
}

// rankedLines returns documents of sources. The list of ranking has some of them.
func rankedLines() []line {
	random := newWriter(8)
	return marked(synthetic(32), func(_ int, l *line) map[string]string {
		s := pick(random, []struct {
			source string // in JSON
			turn   float64
		}{
			{`"https://News.Example.org:80/a?b"`, 1},
			{`"news.example.org"`, 1},
			{`"http://www.example.org/"`, 2},
			{`"d/e/f"`, 3},
			{`"https://example.org.other/"`, math.Inf(1)},
			{`"dd"`, math.Inf(1)},
			{`7`, math.Inf(1)},
			{`null`, math.Inf(1)},
		})
		l.turn, l.source = s.turn, shownSource(s.source)
		return map[string]string{"source": s.source}
	})
}

// rankedFiles returns files. The list of ranking has two of them.
func rankedFiles() []file {
	files := cut(synthetic(32), 4)
	for i := range files {
		turn := map[string]float64{"d/e.jsonl": 3, "a.jsonl": 4}[files[i].name]
		files[i].lines = turned(files[i].lines, func(int, line) float64 {
			if turn == 0 {
				return math.Inf(1)
			}
			return turn
		})
	}
	return files
}

// marked returns documents with further fields. Mark returns the further fields of a document, in JSON, and may change
// the rest of the line.
func marked(lines []line, mark func(i int, l *line) map[string]string) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		if l.kind != documentLine {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(l.raw), &fields); err != nil {
			panic(err)
		}
		for name, value := range mark(i, l) {
			fields[name] = json.RawMessage(value)
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		l.raw = string(raw)
	}
	return lines
}

// values are values of a field and the numbers that they stand for; infinite: none.
var values = []struct {
	json   string
	number float64
}{
	{`3`, 3},
	{`-2.5`, -2.5},
	{`"7e2"`, 700},
	{`0`, 0},
	{`-0.0`, 0},
	{`" 12 "`, 12},
	{`"2024-02-29"`, 1709164800},
	{`"2024-02-29T01:00:00+01:00"`, 1709164800},
	{`"1969-12-31 23:59:59.5"`, -.5},
	{`9007199254740993`, 9007199254740992},
	{`null`, math.Inf(1)},
	{`"yesterday"`, math.Inf(1)},
	{`""`, math.Inf(1)},
	{`true`, math.Inf(1)},
	{`{"of":1}`, math.Inf(1)},
	{`[3]`, math.Inf(1)},
	{`"0x10"`, math.Inf(1)},
	{`"inf"`, math.Inf(1)},
	{`1e999`, math.Inf(1)},
}

// verifyCorpus has documents of fewer and of many more shingles than a sketch.
func verifyCorpus() []file {
	w := newWriter(41)
	w.families(20, 6, 300, 500)
	w.families(15, 6, 20, 100)
	w.add("...")
	w.add("...")
	w.shuffle()
	return cut(w.lines, 2)
}
