package trim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// scene is a corpus on the disk: files of one document each. The first ones are of a reference.
type scene struct {
	texts      []string
	references int
	splits     int
	held       int
	ranges     int
	rule       Rule
}

// lay writes the corpus, and returns its inputs and the run files that hold its documents.
func (s *scene) lay(t *testing.T, runs work.Runs) (inputs work.Path, blocks []string, refs []docref.Ref) {
	t.Helper()
	dir := t.TempDir()
	var in documents.Inputs
	for i, text := range s.texts {
		path := filepath.Join(dir, fmt.Sprintf("%03d.txt", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in.Files = append(in.Files, corpus.File{
			Path:      path,
			Name:      filepath.Base(path),
			Size:      int64(len(text)),
			Format:    corpus.Text,
			Reference: i < s.references,
			Members: []corpus.File{{
				Path:   path,
				Name:   filepath.Base(path),
				Size:   int64(len(text)),
				Format: corpus.Text,
			}},
		})
		ref, err := docref.New(i, 0)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for n := range s.splits {
		var split corpus.Split
		var own []sketchblock.Document
		for i := n * len(s.texts) / s.splits; i < (n+1)*len(s.texts)/s.splits; i++ {
			split = append(split, corpus.Stretch{File: i, End: 1})
			own = append(own, sketchblock.Document{Ref: refs[i]})
		}
		in.Splits = append(in.Splits, split)
		blocks = append(blocks, worktest.Write(t, runs, func(run *runfile.Writer) error {
			return worktest.Block(run, n, own...)
		}))
	}
	path := filepath.Join(t.TempDir(), "inputs.gob")
	if err := documents.WriteInputs(path, in); err != nil {
		t.Fatal(err)
	}
	return work.Path(path), blocks, refs
}

// run runs all stages, and returns what is cut from each document, and the rows.
func (s *scene) run(t *testing.T) (trims map[docref.Ref]records.Trim, rows []output.Cut, refs []docref.Ref) {
	t.Helper()
	runs := worktest.Runs(t)
	inputs, blocks, refs := s.lay(t, runs)
	sketching := documents.Sketching{
		Reading: documents.Reading{Fields: corpus.Fields{Texts: []string{"text"}}, MaxDocument: 1 << 20},
		Options: sketch.Options{Measure: sketch.Measure{Tokens: sketch.ScriptTokens, Shingle: 3, Seed: 5}},
	}
	of := Trimming{Rule: s.rule, Inputs: inputs, Sketching: sketching, Ranges: s.ranges, Held: s.held}
	hashing, finding, cutting := Hashing{of}, Finding{of}, Cutting{of}
	for _, stage := range []interface{ Setup() error }{&hashing, &finding, &cutting} {
		if err := stage.Setup(); err != nil {
			t.Fatal(err)
		}
	}
	hashed := worktest.Do(t, runs, worktest.Tasks(t, runs, HashingDelivery(), blocks...), hashing.Task)
	found := worktest.Do(t, runs, worktest.Tasks(t, runs, FindingDelivery(), work.RunsOf(hashed)...), finding.Task)
	cut := worktest.Do(t, runs, worktest.Tasks(t, runs, CuttingDelivery(), work.RunsOf(found)...), cutting.Task)
	trims = map[docref.Ref]records.Trim{}
	for _, path := range work.RunsOf(cut) {
		for _, packed := range worktest.Read(t, records.Trims, path) {
			for trim := range records.All[records.Trim](packed) {
				trims[trim.Ref] = trim
			}
		}
		for _, packed := range worktest.Read(t, records.TrimRows, path) {
			for line := range strings.Lines(string(packed)) {
				var row output.Cut
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, row)
			}
		}
	}
	return trims, rows, refs
}

// passage is a passage of a text, for the brute force.
type passage struct {
	document, unit int // the number of its first word or line
	from, to       int // its words
	key            string
}

// wordsOf returns the words of a text: its letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// units lists the units of a text.
func (s *scene) units(document int) (all []string) {
	if s.rule.Unit == Words {
		return wordsOf(s.texts[document])
	}
	between := map[Unit]string{Lines: `\n`, Paragraphs: `\n\n`, Sentences: `\. |\n\n`}[s.rule.Unit]
	for _, unit := range regexp.MustCompile(between).Split(s.texts[document], -1) {
		if words := wordsOf(unit); len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	return all
}

// passagesOf lists the passages of a text.
func (s *scene) passagesOf(document int) (all []passage) {
	units := s.units(document)
	length := map[Unit]int{Words: s.rule.Words, Lines: 1, Paragraphs: 1, Sentences: 3}[s.rule.Unit]
	from := 0
	for unit := 0; unit+length <= len(units); unit++ {
		own := units[unit : unit+length]
		if n := len(wordsOf(strings.Join(own, " "))); n >= s.rule.Words {
			all = append(all, passage{document, unit, from, from + n, strings.Join(own, "|")})
		}
		from += len(wordsOf(units[unit]))
	}
	return all
}

// cutWords does what docs/how-to/passages.md says, by comparing each passage with all others: which words of each
// document are cut.
func (s *scene) cutWords() (cut []map[int]bool) {
	clear := func(a, b passage) bool { return a.document != b.document || a.to <= b.from }
	var all []passage
	for i := range s.texts {
		cut = append(cut, map[int]bool{})
		all = append(all, s.passagesOf(i)...)
	}
	for n, p := range all {
		if p.document < s.references {
			continue
		}
		before, copies := false, int64(0)
		var last *passage
		for m, other := range all {
			if other.key != p.key {
				continue
			}
			before = before || m < n && clear(other, p)
			if last == nil || clear(*last, other) {
				copies++
				last = &all[m]
			}
		}
		if before && copies >= s.rule.Copies {
			for word := p.from; word < p.to; word++ {
				cut[p.document][word] = true
			}
		}
	}
	return cut
}

// TestTrimming: what is cut from drawn corpora, where everything overlaps, is what a comparison of all passages says,
// over however many splits and ranges and however few passages are held at a time.
func TestTrimming(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 1))
	cutWords, goneDocuments := 0, 0
	for n := range 150 {
		s := scene{
			references: random.IntN(3),
			splits:     1 + random.IntN(4),
			held:       []int{1, 7, 1 << 20}[n%3],
			ranges:     1 + random.IntN(5),
			rule: Rule{
				Unit:   []Unit{Words, Words, Lines, Paragraphs, Sentences}[random.IntN(5)],
				Words:  1 + random.IntN(4),
				Copies: int64(2 + random.IntN(3)),
				Least:  random.IntN(4),
			},
		}
		letters, separators := 2+random.IntN(4), []string{" ", " ", "\n", "\n\n", ". "}
		for range 4 + random.IntN(8) {
			var text strings.Builder
			for range random.IntN(40) {
				text.WriteString(string(rune('a'+random.IntN(letters))) + separators[random.IntN(len(separators))])
			}
			s.texts = append(s.texts, text.String())
		}
		trims, rows, refs := s.run(t)
		for i, want := range s.cutWords() {
			words := wordsOf(s.texts[i])
			trim := trims[refs[i]]
			isGone := len(want) > 0 && len(words)-len(want) < s.rule.Least
			if trim.Whole != isGone {
				t.Fatalf("%+v: document %d goes: %v, want %v", s, i, trim.Whole, isGone)
			}
			if isGone {
				goneDocuments++
				continue
			}
			var kept []string
			for at, word := range words {
				if !want[at] {
					kept = append(kept, word)
				}
			}
			cutWords += len(want)
			if got := wordsOf(string(corpus.AppendCut(nil, []byte(s.texts[i]), trim.Cuts))); !slices.Equal(got, kept) {
				t.Fatalf("%+v: document %d keeps %q, want %q", s, i, got, kept)
			}
		}
		s.checkRows(t, rows)
	}
	if cutWords < 2000 || goneDocuments < 50 {
		t.Errorf("only %d words were cut, and %d documents went", cutWords, goneDocuments)
	}
}

// checkRows compares the passages of rows with the words where they stand first, and their number with the words that
// are cut.
func (s *scene) checkRows(t *testing.T, rows []output.Cut) {
	t.Helper()
	number := func(ref string) (n int) {
		if _, err := fmt.Sscanf(ref, "%03d.txt:0", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	words, want := int64(0), 0
	for _, row := range rows {
		words += row.Words
		text := wordsOf(s.texts[number(row.Ref)][row.Begin:row.End])
		first := number(row.FirstRef)
		if there := wordsOf(strings.Join(s.units(first)[row.FirstAt:], " ")); int64(len(text)) != row.Words ||
			!slices.Equal(there[:len(text)], text) {
			t.Fatalf("%+v: the row %+v has %q, and first there are %q", s, row, text, there)
		}
		if row.Reference != (first < s.references) {
			t.Fatalf("%+v: the row %+v", s, row)
		}
	}
	for _, cut := range s.cutWords() {
		want += len(cut)
	}
	if words != int64(want) {
		t.Fatalf("%+v: rows have %d words, want %d", s, words, want)
	}
}

// TestFewRows: a text that repeats one word, or some words, takes a row for each length of a passage at most, and not
// one for each word.
func TestFewRows(t *testing.T) {
	for _, words := range []string{"a ", "a b c "} {
		s := scene{
			texts:  []string{strings.Repeat(words, 1000)},
			splits: 1,
			held:   1 << 20,
			ranges: 2,
			rule:   Rule{Unit: Words, Words: 50, Copies: 2, Least: 1},
		}
		_, rows, _ := s.run(t)
		s.checkRows(t, rows)
		if most := len(strings.Fields(s.texts[0]))/s.rule.Words + 1; len(rows) == 0 || len(rows) > most {
			t.Errorf("%q: %d rows, want at most %d", words, len(rows), most)
		}
	}
}

// TestOccurrences: passages are told apart that have 64 bits in common, or the bits of a neighbour, in whatever order
// they come again.
func TestOccurrences(t *testing.T) {
	passages := []sketch.Run{{Hash: 7, Check: 1}, {Hash: 7, Check: 2}, {Hash: 8, Check: 1}, {Hash: 7, Check: 3}, {
		Hash:  9,
		Check: 1,
	}, {Hash: 1<<64 - 1, Check: 1}, {Hash: 1<<64 - 1, Check: 2}, {Hash: 0, Check: 1}}
	var known occurrences
	for round := range 3 {
		for i := range passages {
			n := (i + round*3) % len(passages)
			at := records.Place{Ref: docref.Ref(round), At: int64(n)}
			if of, isNew := known.see(passages[n], at); isNew != (round == 0) || of.passage != passages[n] ||
				of.first != (records.Place{At: int64(n)}) {
				t.Errorf("round %d: %+v is known as %+v, new: %v", round, passages[n], of, isNew)
			}
		}
	}
}
