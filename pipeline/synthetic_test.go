package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// line is one line of an input file.
type line struct {
	raw    string
	kind   lineKind
	id     string // "" for none
	text   string
	length int // length of the text in bytes
	// turn is smaller for documents that are preferred. Only documents of one scope are compared, and no documents of
	// one side, unless it is empty.
	turn        float64
	scope, side string
	source      string // as tables of sources show it
}

type lineKind int

const (
	documentLine lineKind = iota
	rejectLine
	blankLine
)

// writer makes texts and lines from a seed.
type writer struct {
	random *rand.Rand
	words  []string
	lines  []line
	made   int
}

// newWriter makes up a vocabulary of English-like words.
func newWriter(seed uint64) *writer {
	w := &writer{random: rand.New(rand.NewPCG(seed, 1))}
	starts := []string{"b", "c", "d", "f", "gr", "h", "l", "m", "pl", "r", "st", "t", "w", ""}
	middles := []string{"a", "e", "i", "o", "u", "ai", "ea", "ou"}
	ends := []string{"n", "r", "st", "ck", "ll", "d", "ment", "ing", "s", ""}
	for len(w.words) < 600 {
		word := ""
		for range 1 + w.random.IntN(2) {
			word += pick(w, starts) + pick(w, middles)
		}
		if word += pick(w, ends); !slices.Contains(w.words, word) {
			w.words = append(w.words, word)
		}
	}
	return w
}

func pick[T any](w *writer, from []T) T { return from[w.random.IntN(len(from))] }

// text makes a text of n words.
func (w *writer) text(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = pick(w, w.words)
	}
	return words
}

// change substitutes some of the words.
func (w *writer) change(words []string, share float64) []string {
	words = slices.Clone(words)
	for i := range words {
		if w.random.Float64() < share {
			words[i] = pick(w, w.words)
		}
	}
	return words
}

// set joins words with capitals and punctuation, which the measure ignores.
func (w *writer) set(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteString(pick(w, []string{" ", " ", " ", ", ", ". ", "\n", " \"", " — "}))
		}
		if w.random.IntN(8) == 0 {
			word = strings.ToUpper(word)
		}
		b.WriteString(word)
	}
	return b.String()
}

// add adds a document of that text, under an id of its own.
func (w *writer) add(text string) {
	w.made++
	w.addAs(fmt.Sprintf("doc-%03d", w.made), text)
}

// addAs adds a document; an empty id stands for none.
func (w *writer) addAs(id, text string) {
	fields := map[string]any{"text": text, "note": "tail \\ \"of\" the record"}
	if id != "" {
		fields["id"] = id
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	w.addRaw(string(b), id, text)
}

func (w *writer) addRaw(raw, id, text string) {
	w.lines = append(w.lines, line{raw: raw, id: id, text: text, length: len(text)})
}

// families adds near-duplicates of many degrees, and documents like no other.
func (w *writer) families(families, members, least, most int) {
	for range families {
		base := w.text(least + w.random.IntN(most-least))
		w.add(w.set(base))
		for range members - 1 {
			share := pick(w, []float64{0.002, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3})
			copied := w.change(base, share)
			if w.random.IntN(3) == 0 {
				base = copied // chains, not only stars
			}
			w.add(w.set(copied))
		}
		w.add(w.set(w.text(least + w.random.IntN(most-least))))
	}
}

// shuffle puts the lines in another order.
func (w *writer) shuffle() {
	w.random.Shuffle(len(w.lines), func(i, j int) { w.lines[i], w.lines[j] = w.lines[j], w.lines[i] })
}

// synthetic returns a corpus of documents with ids of their own.
func synthetic(seed uint64) []line {
	w := newWriter(seed)
	w.families(24, 8, 15, 120)
	// Pairs that lie exactly on round thresholds: n shingles, and the first m of them.
	for _, ratio := range [][2]int{{10, 5}, {10, 7}, {10, 8}, {20, 19}, {2, 1}, {5, 4}, {100, 95}} {
		words := w.text(ratio[0] + 2)
		w.add(w.set(words))
		w.add(w.set(words[:ratio[1]+2]))
	}
	// Documents that are equally like two others, which are not like each other and are longer, if only by their
	// punctuation.
	for i := range 6 {
		words := w.text(22)
		w.add(w.set(words))
		w.add(w.set(words[:14]) + strings.Repeat(" .", 90+10*i))
		w.add(w.set(words[8:]) + strings.Repeat(" .", 120))
	}
	for range 4 { // byte for byte, and the same under the measure only
		words := w.text(30)
		text := w.set(words)
		for range 3 {
			w.add(text)
		}
		w.add(w.set(words))
		w.add(w.set(w.change(words, 0.05)))
	}
	w.shuffle()
	return w.lines
}

// oddities returns a corpus with everything unusual: repeated ids, documents without an id, without tokens or with few
// of them, Han text, blank lines and records that are no documents.
func oddities(seed uint64) []line {
	w := newWriter(seed)
	w.lines = synthetic(seed)
	w.made = len(w.lines)
	for _, text := range []string{
		"one", "One", "one.", "two", "one two", "One, two!", "two one", "one two three", "ONE TWO THREE",
		"one two three four",
		"", "", " ", "\t", "...", "...", "… ?!", "\u0301\u0301", "\u0301\u0301",
		"caf\u00e9 cr\u00e8me br\u00fbl\u00e9e", "CAF\u00c9 CR\u00c8ME BR\u00dbL\u00c9E", "e\u0301tude in three parts",
		"E\u0301TUDE in three parts",
	} {
		w.add(text)
	}
	for range 6 {
		w.han()
	}
	w.anonymous()
	w.rejects()
	w.shuffle()
	return w.lines
}

// han adds a family of texts without spaces, and one mixed with words.
func (w *writer) han() {
	base := make([]rune, 20+w.random.IntN(60))
	for i := range base {
		base[i] = rune(0x4e00 + w.random.IntN(900))
	}
	w.add(string(base))
	for _, share := range []int{40, 20, 5} {
		copied := slices.Clone(base)
		for i := range copied {
			if w.random.IntN(share) == 0 {
				copied[i] = rune(0x4e00 + w.random.IntN(900))
			}
		}
		w.add(string(copied[:len(copied)/2]) + pick(w, []string{"", "，", " "}) + string(copied[len(copied)/2:]))
	}
	w.add(string(base) + " " + w.set(w.text(2)))
}

// anonymous adds families in which some documents share an id or have none.
func (w *writer) anonymous() {
	for _, ids := range [][]string{
		{"twice", "twice", "once"},
		{"", "", "lone"},
		{"twice", "", "spare"},
		{"", "thrice", "thrice", "thrice"},
		{"twin", "", ""},
	} {
		words := w.text(50)
		for _, id := range ids {
			w.addAs(id, w.set(w.change(words, 0.01)))
		}
	}
	w.addAs("twin", "a document like no other but for its name")
	words := w.text(40)
	text := strings.Join(words, " ")
	w.addRaw(`{"id":17,"text":"`+text+`"}`, "17", text)
	w.addRaw(`{"text":"`+text+` more","id":"17"}`, "17", text+" more")
	w.addRaw(`{"id":18,"text":"`+text+` and more"}`, "18", text+" and more")
	w.addRaw(`{"id":null,"text":"`+text+` less"}`, "", text+" less")
	w.addRaw(`{"id":"","text":"`+text+` still"}`, "", text+" still")
	w.addRaw(`  {"id" : "sp\u0061ced \"\u4e2d\"", "test":"`+text+`", "text":"`+text+` twice"}  `, "spaced \"中\"",
		text+" twice")
}

// rejects adds blank lines and records that are no documents.
func (w *writer) rejects() {
	for _, raw := range []string{"", "   ", "\t"} {
		w.lines = append(w.lines, line{raw: raw, kind: blankLine})
	}
	for _, raw := range []string{
		`{"id":"r1"}`, `{"id":"r2","text":7}`, `{"id":"r3","text":null}`, `{"id":{},"text":"words"}`,
		`{"id":"r5","text":"cut`,
		`[1,2]`, `"text"`, `not json at all`, `{"id":"r9","Text":"wrong case"}`, `{"id":true,"text":"words"}`,
	} {
		w.lines = append(w.lines, line{raw: raw, kind: rejectLine})
	}
}
