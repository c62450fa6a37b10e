package sketch

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"

	"mirrorbeam.dev/asmkernels"
)

// wordScanner finds the tokens of a text one by one, by the rule of [Hasher]. It says where they are in the text.
type wordScanner struct {
	rule    tokenRule
	classes *classTable
	text    []byte
	at      int

	// begin and end are where the token is that next has found.
	begin, end int

	// invalid counts the bytes that are not part of valid UTF-8 so far.
	invalid int
}

func newWordScanner(m Measure) wordScanner {
	rule := m.Tokens.rule()
	return wordScanner{rule: rule, classes: rule.classes()}
}

func (w *wordScanner) reset(text []byte) {
	w.text, w.at, w.invalid = text, 0, 0
}

func (w *wordScanner) next() bool {
	if w.rule.characters {
		return w.nextCharacter()
	}
	text, at, open := w.text, w.at, false
	for at < len(text) {
		b := text[at]
		if kindsASCII[b] == wordKind {
			if !open {
				w.begin, open = at, true
			}
			at++
			continue
		}
		c, size := class(0), 1
		if b >= utf8.RuneSelf {
			c, size = w.class(at)
		}
		if c == letter || c == mark && open {
			if !open {
				w.begin, open = at, true
			}
			at += size
			continue
		}
		switch {
		case open:
			w.end = at
			w.at = at + size
			if c == solo {
				// It is the next token.
				w.at = at
			}
			return true
		case c == solo:
			w.begin, w.end, w.at = at, at+size, at+size
			return true
		}
		at += size
	}
	w.at, w.end = at, at
	return open
}

// nextCharacter is next where each code point is a token.
func (w *wordScanner) nextCharacter() bool {
	for w.at < len(w.text) {
		c, size := class(0), 1
		if b := w.text[w.at]; b >= utf8.RuneSelf {
			c, size = w.class(w.at)
		} else if kindsASCII[b] == wordKind {
			c = letter
		}
		w.begin = w.at
		w.at += size
		if c != 0 {
			w.end = w.at
			return true
		}
	}
	w.end = w.at
	return false
}

// isInRun reports whether the token that next has found is a code point that belongs to a run of the rule.
func (w *wordScanner) isInRun() bool { return w.rule.runs && isInRun(w.text[w.begin:w.end]) }

func (w *wordScanner) class(at int) (c class, size int) {
	r, size := utf8.DecodeRune(w.text[at:])
	if r == utf8.RuneError && size == 1 {
		w.invalid++
	}
	return w.classes.class(uint32(r)) &^ irregular, size
}

func (w *wordScanner) word() []byte { return w.text[w.begin:w.end:w.end] }

// runScripts are the scripts whose code points form runs, see [ScriptTokens].
var runScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// beginsRun has the bytes with which a code point of a run may begin. Han, Kana and most of Hangul begin with others.
var beginsRun = func() (begins [256]bool) {
	for _, script := range runScripts {
		rangetable.Visit(script, func(r rune) { begins[string(r)[0]] = true })
	}
	return begins
}()

// isInRun reports whether a token that consists of one code point of a script without spaces belongs to a run.
func isInRun(token []byte) bool {
	if !beginsRun[token[0]] {
		return false
	}
	r, _ := utf8.DecodeRune(token)
	return unicode.In(r, runScripts...)
}

// runs joins the code points of a run to tokens: one begins at each, up to the last that has enough behind it.
// A run may have spaces and punctuation within it. Only other tokens end it.
type runs struct {
	// length is the number of code points of a token. With 1 there is nothing to join.
	length int
	hash   *asmkernels.Hash
	// open holds the hashes of the last code points of the run, and isJoined says that it has a token.
	open     []uint64
	isJoined bool

	singles []uint64
}

func (r *runs) reset() { r.open, r.isJoined = r.open[:0], false }

func (r *runs) join(hashes []uint64, first int, t *tokenizer) []uint64 {
	starts := t.starts[:len(hashes)-first]
	mayHaveRuns := len(r.open) > 0
	for _, start := range starts {
		mayHaveRuns = mayHaveRuns || beginsRun[t.folded[start]]
	}
	if !mayHaveRuns {
		return hashes
	}
	r.singles = append(r.singles[:0], hashes[first:]...)
	hashes = hashes[:first]
	for i, single := range r.singles {
		if !isInRun(t.folded[starts[i]:t.ends[i]]) {
			hashes = append(r.close(hashes), single)
			continue
		}
		r.open = append(r.open, single)
		if begin := len(r.open) - r.length; begin >= 0 {
			hashes = append(hashes, r.hash.Run(r.open[begin:]))
			r.isJoined = true
		}
	}
	// What may be in a token of the next chunk.
	r.open = r.open[:copy(r.open, r.open[max(len(r.open)-(r.length-1), 0):])]
	return hashes
}

func (r *runs) close(hashes []uint64) []uint64 {
	if len(r.open) > 0 && !r.isJoined {
		hashes = append(hashes, r.hash.Run(r.open))
	}
	r.reset()
	return hashes
}

// eachToken calls token for each token of a text, with the number of the first of its words and code points, and the
// number behind the last. The text has len(inRun) words and code points. InRun says which of these belong to runs.
func (r *runs) eachToken(inRun []bool, token func(first, end int)) {
	for i := 0; i < len(inRun); {
		if !inRun[i] {
			token(i, i+1)
			i++
			continue
		}
		end := i + 1
		for end < len(inRun) && inRun[end] {
			end++
		}
		for first := i; first == i || first+r.length <= end; first++ {
			token(first, min(first+r.length, end))
		}
		i = end
	}
}

// UnicodeVersion is the version of the Unicode tables. The tables decide which code points belong to tokens,
// and what their lower case is. Sets of two builds are comparable if their versions are the same.
const UnicodeVersion = unicode.Version

// class says what part a code point has in tokens. A code point without a class separates tokens.
type class = uint8

const (
	// letter is a letter or digit: it begins or continues a token.
	letter class = 1 << iota
	// mark continues a token but begins none.
	mark
	// solo is a token of its own.
	solo
	// irregular is set, in addition, for code points that are not copied unchanged: those with another lower
	// case, and surrogates, which no valid text contains.
	irregular

	everyClass = letter | mark | solo | irregular
)

const (
	// pageSize is the number of code points in a page of the class table. The code points of a page share all
	// but the last byte in UTF-8.
	pageSize = 64

	firstOfThree = 0x800 // the first code point that takes three bytes in UTF-8

	// mostPages is more than the number of distinct pages. It keeps an index of 16 bits into all pages in range.
	mostPages = 1 << 16 / pageSize
)

// A short is all that the table has for a code point below firstOfThree: the two bytes of its lower case, the
// first one lowest, and above them its class.
type short uint32

// shortClass is the number of the lowest bit of the class in a short.
const shortClass = 16

type classTable struct {
	// shorts has class and lower case together, for the alphabets of two bytes. An entry is irregular if the
	// code point or its lower case does not have two bytes.
	shorts [firstOfThree]short
	// pageOf and pages cover all code points: pageOf says where in pages the page of a code point begins.
	// Equal pages are stored once.
	pageOf [(unicode.MaxRune + 1) / pageSize]uint16
	pages  [mostPages * pageSize]class
	// kernel has those parts of the table that the kernels need.
	kernel *asmkernels.Classes
}

// wordTable has no code points that are tokens of their own. ideographTable has. Both are built on first use,
// which takes less than a millisecond.
var (
	wordTable          = sync.OnceValue(func() *classTable { return newClassTable() })
	ideographTable     = sync.OnceValue(func() *classTable { return newClassTable(unsegmentedScripts...) })
	unsegmentedScripts = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	}
)

func newClassTable(soloScripts ...*unicode.RangeTable) *classTable {
	classes := make([]class, unicode.MaxRune+1)
	assign(classes, unicode.Letter, letter)
	assign(classes, unicode.Digit, letter)
	assign(classes, unicode.Mark, mark)
	for _, cases := range unicode.CaseRanges {
		for r := rune(cases.Lo); r <= rune(cases.Hi); r++ {
			if classes[r] != 0 && unicode.ToLower(r) != r {
				classes[r] |= irregular
			}
		}
	}
	assign(classes, unicode.Cs, irregular)
	for _, script := range soloScripts {
		assign(classes, script, solo)
	}

	table := &classTable{}
	known := make(map[[pageSize]class]int)
	for i := range table.pageOf {
		page := [pageSize]class(classes[i*pageSize:])
		begin, ok := known[page]
		if !ok {
			begin = len(known) * pageSize
			known[page] = begin
			copy(table.pages[begin:], page[:])
		}
		table.pageOf[i] = uint16(begin)
	}
	for r := range table.shorts {
		table.shorts[r] = newShort(rune(r), classes[r])
	}
	kinds := [everyClass + 1]asmkernels.Kind{
		letter:    asmkernels.Letter,
		mark:      asmkernels.Mark,
		solo:      asmkernels.Solo,
		irregular: asmkernels.Care,
	}
	table.kernel = asmkernels.NewClasses(func(r rune) (asmkernels.Kind, rune) {
		c := classes[r]
		if c != irregular {
			c &^= irregular
		}
		return kinds[c], lowerOf(r, classes[r])
	})
	return table
}

func lowerOf(r rune, c class) rune {
	if c&irregular == 0 {
		return r
	}
	return unicode.ToLower(r)
}

func assign(classes []class, ranges *unicode.RangeTable, c class) {
	rangetable.Visit(ranges, func(r rune) { classes[r] = c })
}

func newShort(r rune, c class) short {
	lower := lowerOf(r, c)
	if utf8.RuneLen(r) != 2 || utf8.RuneLen(lower) != 2 {
		return short(irregular) << shortClass
	}
	var bytes [2]byte
	utf8.EncodeRune(bytes[:], lower)
	return short(bytes[0]) | short(bytes[1])<<8 | short(c&^irregular)<<shortClass
}

func (t *classTable) class(r uint32) class {
	return t.pages[t.pageOf[r/pageSize]|uint16(r%pageSize)]
}
