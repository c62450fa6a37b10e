package sketch

import "unicode/utf8"

// wordScanner finds the tokens of a text one by one, by the rule of [Hasher]. It says where they are in the
// text.
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
	classes := wordTable
	if m.CJKSplit {
		classes = ideographTable
	}
	return wordScanner{classes: classes()}
}

// reset begins another text.
func (w *wordScanner) reset(text []byte) {
	w.text, w.at, w.invalid = text, 0, 0
}

// next finds the next token and reports whether there is one.
func (w *wordScanner) next() bool {
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

// class returns the class of the code point at the given place, and its length.
func (w *wordScanner) class(at int) (c class, size int) {
	r, size := utf8.DecodeRune(w.text[at:])
	if r == utf8.RuneError && size == 1 {
		w.invalid++
	}
	return w.classes.class(uint32(r)) &^ irregular, size
}

// word returns the token that next has found, as it is in the text.
func (w *wordScanner) word() []byte { return w.text[w.begin:w.end:w.end] }
