package sourcecode

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Language says how the code of a language is written.
type Language struct {
	// Name is the language's name in lower case.
	Name string

	lineComments  []string
	blockComments []blockComment
	literals      []literal
	// nameMarks are the marks of ASCII that names may hold, besides the underscore.
	nameMarks string
	// foldsCase says that keywords may be written in any case.
	foldsCase bool
	special   special
	keywords  map[string]bool
	// bytes says what each byte of ASCII may be part of.
	bytes [utf8.RuneSelf]byteUse
	// signs are texts that stand in code of the language, and in code of few others.
	signs []string
}

// blockComment is a comment that may go over several lines.
type blockComment struct {
	open, close string
	// nests says that comments may stand in comments.
	nests bool
	// ownLine says that both marks stand at the beginning of a line.
	ownLine bool
}

// literal is a string or a character.
type literal struct {
	open, close string
	// escape is the byte that takes its meaning from the next one; 0 for none.
	escape byte
	// lines says that the literal may go over several lines. One that may not ends with its line at the latest.
	lines bool
}

// special says what a language has that literals and comments do not describe.
type special uint8

const (
	// regexps are /expressions/ where a value may stand.
	regexps special = 1 << iota
	// heredocs are texts up to a line with a word: <<WORD.
	heredocs
	// lifetimes are names after an apostrophe that nothing closes.
	lifetimes
	// rawStrings are R"word(text)word".
	rawStrings
	// hashedStrings are r#"text"#, with any number of #.
	hashedStrings
	// wordComments says that a line comment begins only where no word goes before.
	wordComments
)

// byteUse says what a byte may be part of.
type byteUse uint8

const (
	opens   byteUse = 1 << iota // the beginning of a comment or a literal
	letters                     // a name
	digits                      // a number, or a name behind its first letter
)

func (l *Language) has(s special) bool { return l.special&s != 0 }

// prepared returns the language, ready for use. The keywords have spaces between them.
func prepared(l Language, keywords string) *Language {
	l.keywords = map[string]bool{}
	for word := range strings.FieldsSeq(keywords) {
		l.keywords[word] = true
	}
	for b := range l.bytes {
		switch {
		case isLetter(byte(b)) || b == '_' || strings.IndexByte(l.nameMarks, byte(b)) >= 0:
			l.bytes[b] = letters
		case isDigit(byte(b)):
			l.bytes[b] = digits
		}
	}
	for _, open := range l.lineComments {
		l.bytes[open[0]] |= opens
	}
	for _, c := range l.blockComments {
		l.bytes[c.open[0]] |= opens
	}
	for _, q := range l.literals {
		l.bytes[q.open[0]] |= opens
	}
	if l.has(regexps) {
		l.bytes['/'] |= opens
	}
	if l.has(heredocs) {
		l.bytes['<'] |= opens
	}
	if l.has(lifetimes) {
		l.bytes['\''] |= opens
	}
	return &l
}

// Named returns the language of that name, or nil if there is none.
func Named(name string) *Language {
	for _, l := range languages() {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Names returns the names of all languages, sorted.
func Names() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.Name)
	}
	return slices.Sorted(slices.Values(names))
}
