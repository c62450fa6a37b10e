package sketch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/corporatest"
)

// sequenceOptions are the options that sequences are compared with fingerprints
// by.
func sequenceOptions(t testing.TB) []Options {
	split, joined := Measure{Shingle: 3, Tokens: SingleTokens}, Measure{Shingle: 2, Seed: 7}
	stopWords := readStopWords(t, functionWords, nil)
	options := []Options{{Measure: split}, {Measure: joined}, {
		Measure:     split,
		StopWords:   stopWords,
		StopWordUse: RemoveStopWords,
	}}
	for _, steps := range []string{
		"nfc", "nfkc", "fold", "punctuation", "nfkc,fold,punctuation", "skeleton",
		"nfkc,skeleton,fold,punctuation", "nfkc,fold,accents,numbers", "digits",
	} {
		o := Options{Measure: split, Normalization: newNormalizer(t, steps).steps}
		options = append(options, o)
		o.Measure, o.StopWords, o.StopWordUse = joined, stopWords, RemoveStopWords
		options = append(options, o)
	}
	script, characters := Measure{Shingle: 3, Tokens: ScriptTokens}, Measure{Shingle: 4, Tokens: CharacterTokens}
	return append(options, Options{Measure: script}, Options{Measure: characters},
		Options{Measure: script, StopWords: stopWords, StopWordUse: RemoveStopWords},
		Options{Measure: script, Normalization: newNormalizer(t, "nfkc,fold,punctuation").steps})
}

// sequenceChecker compares sequences with fingerprints.
type sequenceChecker struct {
	options        []Options
	sequencers     []*Sequencer
	fingerprinters []*Fingerprinter
}

func newSequenceChecker(t testing.TB) *sequenceChecker {
	c := &sequenceChecker{options: sequenceOptions(t)}
	for _, o := range c.options {
		s, err := NewSequencer(o, false)
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewFingerprinter(o)
		if err != nil {
			t.Fatal(err)
		}
		c.sequencers, c.fingerprinters = append(c.sequencers, s), append(c.fingerprinters, f)
	}
	return c
}

func (c *sequenceChecker) check(t testing.TB, text []byte) {
	t.Helper()
	for i, o := range c.options {
		want := c.fingerprinters[i].Texts([][]byte{text})
		d, q := c.sequencers[i].Sequence(text)
		if !slices.Equal(d.Set, want.Set) || d.Digest != want.Digest || d.Tokens != want.Tokens ||
			d.InvalidBytes != want.InvalidBytes {
			t.Fatalf("%+v: text %.200q\ngot  %d shingles, %d tokens, %d invalid bytes\nwant %d, %d, %d",
				o, text, len(d.Set), d.Tokens, d.InvalidBytes, len(want.Set), want.Tokens, want.InvalidBytes)
		}
		set := slices.Compact(slices.Sorted(slices.Values(q.Shingles)))
		if !slices.Equal(set, d.Set) {
			t.Fatalf("%+v: text %.200q: the shingles of the sequence are not those of the set", o, text)
		}
		for k := range q.Len() {
			start, end := q.Starts[k], q.Ends[k]
			if start >= end || int(end) > len(text) ||
				k > 0 && (start < q.Starts[k-1] || end < q.Ends[k-1] || q.Tokens[k] != q.Tokens[k-1]+1) {
				t.Fatalf("%+v: text %.200q: shingle %d is at %d to %d", o, text, k, start, end)
			}
			// The text at that place alone gives the shingle, and little else.
			if o.Normalization != (Normalization{}) {
				continue
			}
			alone := c.fingerprinters[i].Texts([][]byte{text[start:end]})
			if !slices.Equal(alone.Set, q.Shingles[k:k+1]) {
				t.Fatalf("%+v: text %.200q: shingle %d is not what is at %d to %d, %q", o, text, k, start, end,
					text[start:end])
			}
		}
	}
}

func TestSequence(t *testing.T) {
	c := newSequenceChecker(t)
	for _, text := range slices.Concat(edgeTexts, []string{
		"don't stop the N.B.A or the ﬁsh-ﬁght of Straße and STRASSE",
		"e\u0301a\u0301 ＡＢＣ中文，文字 \u0301 of the", "the of", "the",
	}) {
		c.check(t, []byte(text))
	}
	random := rand.New(rand.NewPCG(11, 12))
	for i := range 400 {
		c.check(t, randomText(random, random.IntN(400), i%2 == 0))
	}
	for i := range 3 {
		c.check(t, randomText(random, 3*chunkSize, i%2 == 0))
	}
	for i := range 200 {
		c.check(t, []byte(pieceText(random, 4*i)))
	}
}

func TestSequenceCorpora(t *testing.T) {
	for _, name := range []string{"udhr/udhr.jsonl.zst", "tang/tang.jsonl.zst"} {
		t.Run(strings.Split(name, "/")[0], func(t *testing.T) {
			texts := readCorpus(t, name, 1<<30)
			c := newSequenceChecker(t)
			every := max(len(texts)/40, 1)
			for i := 0; i < len(texts); i += every {
				c.check(t, texts[i])
			}
		})
	}
}

func FuzzSequence(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text))
	}
	c := newSequenceChecker(f)
	f.Fuzz(func(t *testing.T, text []byte) { c.check(t, text) })
}

// The words of a normalized text are found where they are in the text.
func TestSequenceNormalized(t *testing.T) {
	s, err := NewSequencer(Options{
		Measure:       Measure{Shingle: 1, Tokens: SingleTokens},
		Normalization: newNormalizer(t, "nfkc,fold,punctuation").steps,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("Don't (STOP) the\u00a0N.B.A, ｅ\u0301tude—中文ﬁ 中国.")
	_, q := s.Sequence(text)
	var words []string
	for i := range q.Len() {
		words = append(words, string(text[q.Starts[i]:q.Ends[i]]))
	}
	want := []string{"Don't", "STOP", "the\u00a0N.B.A", "the\u00a0N.B.A", "ｅ\u0301tude", "中", "文", "ﬁ", "中", "国"}
	if !slices.Equal(words, want) {
		t.Errorf("words are %q, want %q", words, want)
	}
}

func TestSequencerRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"one text field":     {Weights: []float64{1, 2}},
		"holes":              {StopWords: readStopWords(t, functionWords, nil), StopWordUse: RequireStopWords},
		"exclude each other": {Normalization: Normalization{NFC: true, NFKC: true}},
	} {
		if _, err := NewSequencer(o, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", o, err, want)
		}
	}
}

// unquoted returns those parts of a text that make shingles of one word, with | between them.
func unquoted(text string) string {
	var q quotations
	var parts []string
	q.each([]byte(text), func(begin, end int, quoted bool) {
		if !quoted {
			parts = append(parts, text[begin:end])
		}
	})
	return strings.Join(parts, "|")
}

func TestQuotations(t *testing.T) {
	long := strings.Repeat("word ", 500)
	for text, want := range map[string]string{
		"none":                                   "none",
		"He said “no way” and left":              "He said | and left",
		"Er sagte „nein“ und ging":               "Er sagte | und ging",
		"Powiedział „nie” i":                     "Powiedział | i",
		"Hän sanoi ”ei” ja":                      "Hän sanoi | ja",
		"Il dit « non » et":                      "Il dit | et",
		"Он сказал: «нет», и":                    "Он сказал: |, и",
		"Han sagde »nej« og":                     "Han sagde | og",
		"Han sa »nej» och":                       "Han sa | och",
		"‹a› b ›c‹ d":                            " b | d",
		"彼は「いいえ、『はい』」と言った":                       "彼は|と言った",
		"他说“不”然后":                                "他说|然后",
		"他说\"不\"然后\"是\"吗":                        "他说|然后|吗",
		"He said \"no way\" and (\"ever\") left": "He said | and (|) left",
		"\"All.\"":                               "",
		"\"Well,\" he said, \"no.\"":             " he said, ",
		"it's the dogs' and ‘tis":                "it's the dogs' and ‘tis",
		"a 5\" pipe and a 6\" hose":              "a 5\" pipe and a 6\" hose",
		"a stray \" mark \" stays":               "a stray \" mark \" stays",
		"it \"never closes\n\nnext":              "it \"never closes\n\nnext",
		"it “never closes\n\nnext":               "it |\n\nnext",
		"it “never closes\nthis\u2029next":       "it |\u2029next",
		"a “stray " + long + "and so on":         "a “stray " + long + "and so on",
		"a “stray " + long + "“b” c":             "a | c",
		"> quoted\nreply\n  > more\nend":         "reply\n|end",
		"a > b":                                  "a > b",
		"> all":                                  "",
		"\xff“\xff”\xff":                         "\xff|\xff",
	} {
		if got := unquoted(text); got != want {
			t.Errorf("of %.80q is left %.80q, want %.80q", text, got, want)
		}
	}
}

// Opening marks without end cost no more than others.
func TestQuotationsUnclosed(t *testing.T) {
	for _, mark := range quotationMarks {
		text := strings.Repeat(string(mark.open)+"a ", 1<<18)
		if left := unquoted(text); len(left) < len(text)-mostUnclosed-1 &&
			!strings.ContainsRune(mark.close, mark.open) {
			t.Errorf("of %d bytes with nothing but %q are left %d", len(text), mark.open, len(left))
		}
	}
}

// A quotation makes no shingles, and none reaches over it.
func TestSequenceQuotations(t *testing.T) {
	o := Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens}}
	s, err := NewSequencer(o, true)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFingerprinter(o)
	if err != nil {
		t.Fatal(err)
	}
	for text, parts := range map[string][]string{
		"a b c d “e f g h” i j k": {"a b c d", "i j k"},
		"a b “c d e f” g h":       nil,
		"a b":                     {"a b"},
		"他说得很对“是的我同意”他又说":                     {"他说得很对", "他又说"},
		"> on monday you wrote\nno I did not": {"no I did not"},
	} {
		var want []uint64
		for _, part := range parts {
			want = append(want, f.Texts([][]byte{[]byte(part)}).Set...)
		}
		slices.Sort(want)
		d, q := s.Sequence([]byte(text))
		if !slices.Equal(d.Set, slices.Compact(want)) {
			t.Errorf("%q: shingles are not those of %q", text, parts)
		}
		for i := 1; i < q.Len(); i++ {
			adjacent := q.Tokens[i] == q.Tokens[i-1]+1
			if between := text[q.Starts[i-1]:q.Ends[i]]; adjacent == strings.ContainsAny(between, "“>") {
				t.Errorf("%q: shingles %d and %d are neighbours: %v", text, i-1, i, adjacent)
			}
		}
	}
	text := []byte(strings.Repeat("some text “with words” in it ", 10))
	s.Sequence(text)
	if n := testing.AllocsPerRun(10, func() { s.Sequence(text) }); n > 1 {
		t.Errorf("a sequence takes %v allocations", n)
	}
}

func BenchmarkSequence(b *testing.B) {
	texts := [][]byte{bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), 1<<16)}
	if corporatest.Has(b, "licenses/all.jsonl.zst") {
		texts = readCorpus(b, "licenses/all.jsonl.zst", 4<<20)
	}
	for _, quotations := range []bool{false, true} {
		b.Run(fmt.Sprintf("quotations=%v", quotations), func(b *testing.B) {
			s, err := NewSequencer(Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens}}, quotations)
			if err != nil {
				b.Fatal(err)
			}
			size := 0
			for _, text := range texts {
				size += len(text)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, text := range texts {
					s.Sequence(text)
				}
			}
		})
	}
}

// TestHashes: the hashes of a text are the shingles of its sequence, whatever the options.
func TestHashes(t *testing.T) {
	for _, o := range sequenceOptions(t) {
		for _, exclude := range []bool{false, true} {
			s, err := NewSequencer(o, exclude)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{
				"", " ", "one", "one two",
				"The quick \"brown fox\" JUMPS over the 12 lazy dogs, caf\u00e9 \u6f22\u5b57\u6587 x.",
				strings.Repeat("Many words, one after the other. ", 900),
			} {
				want := slices.Clone(s.Places([]byte(text)).Shingles)
				if got := s.Hashes([]byte(text)); !slices.Equal(got, want) {
					t.Errorf("%+v, %.40q: %d hashes, want %d", o.Measure, text, len(got), len(want))
				}
			}
		}
	}
}
