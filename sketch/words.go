package sketch

import "unicode/utf8"

// wordScanner finds the tokens of a text one by one, by the rule of [Hasher]. It says where they are in the
// text.
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
