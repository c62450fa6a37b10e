package sketch

import "unicode/utf8"

// wordScanner finds the tokens of a text one by one, by the rule of [Hasher],
// where it says in the text they are.
type wordScanner struct {
	classes *classTable
	text    []byte
	at      int

	// begin and end are where the token is that next has found.
	begin, end int

	// invalid counts the bytes that are not part of valid UTF-8 so far.
	invalid int
}

// newWordScanner returns a scanner for the measure m.
func newWordScanner(m Measure) wordScanner {
	if m.CJKSplit {
		return wordScanner{classes: ideographTable()}
	}
	return wordScanner{classes: wordTable()}
}

// reset begins another text.
func (w *wordScanner) reset(text []byte) {
	w.text, w.at, w.invalid = text, 0, 0
}

// next finds the next token and reports whether there is one.
func (w *wordScanner) next() bool {
	open := false
	for w.at < len(w.text) {
		r, size := rune(w.text[w.at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(w.text[w.at:])
		}
		c := w.classes.class(uint32(r)) &^ irregular
		if r == utf8.RuneError && size == 1 {
			w.invalid++
		}
		switch {
		case c == letter || c == mark && open:
			if !open {
				w.begin = w.at
			}
			open = true
		case open:
			w.end = w.at
			if c != solo {
				w.at += size
			}
			return true
		case c == solo:
			w.begin, w.end = w.at, w.at+size
			w.at += size
			return true
		}
		w.at += size
	}
	w.end = w.at
	return open
}

// word returns the token that next has found, as it is in the text.
func (w *wordScanner) word() []byte { return w.text[w.begin:w.end:w.end] }
