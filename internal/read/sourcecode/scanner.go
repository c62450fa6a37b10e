package sourcecode

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Kind says what a token is.
type Kind uint8

// The kinds of tokens. A mark is punctuation or an operator.
const (
	Name Kind = iota
	Keyword
	Number
	String
	Mark
	Comment
)

// Token is a piece of a text: text[Begin:End].
type Token struct {
	Begin, End int
	Kind       Kind
}

// Scanner finds the tokens of a text. It is not for concurrent use.
type Scanner struct {
	language *Language
	text     []byte
	at       int
	// last is the last token that is no comment, of kind Mark where there is none.
	last Token
	// unclosed says which literals nothing closes from here on.
	unclosed map[string]bool
	folded   []byte
}

// NewScanner returns a Scanner of the tokens of text.
func NewScanner(language *Language, text []byte) *Scanner {
	return &Scanner{language: language, text: text, last: Token{Kind: Mark}}
}

// Next returns the next token, or false at the end of the text. Tokens are never empty and stand in the order of the text.
// Between them is white space, and what is neither a letter nor a mark.
func (s *Scanner) Next() (Token, bool) {
	for s.at < len(s.text) {
		t := Token{Begin: s.at}
		b := s.text[s.at]
		use := byteUse(0)
		if b < utf8.RuneSelf {
			use = s.language.bytes[b]
		}
		if use&opens != 0 {
			if end := s.comment(); end > 0 {
				t.End, t.Kind = end, Comment
				s.at = end
				return t, true
			}
			if end := s.literal(); end > 0 {
				return s.found(end, String), true
			}
		}
		switch size := s.nameLength(s.at, true); {
		case size > 0:
			return s.word(size), true
		case isDigit(b) || b == '.' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1]):
			return s.found(s.number(), Number), true
		case b > ' ' && b < utf8.RuneSelf-1:
			return s.found(s.at+markLength(s.text[s.at:]), Mark), true
		case b < utf8.RuneSelf:
			s.at++
		default:
			_, size := utf8.DecodeRune(s.text[s.at:])
			s.at += size
		}
	}
	return Token{}, false
}

// found goes on to the end of a token, and returns it.
func (s *Scanner) found(end int, kind Kind) Token {
	s.last = Token{s.at, end, kind}
	s.at = end
	return s.last
}

// word returns the token that begins with a letter: a name, a keyword, or a string with letters before it.
func (s *Scanner) word(size int) Token {
	end := s.at
	for size > 0 {
		end += size
		size = s.nameLength(end, false)
	}
	if closing := s.prefixed(end); closing > 0 {
		return s.found(closing, String)
	}
	word := s.text[s.at:end]
	if s.language.foldsCase {
		s.folded = bytes.ToLower(word)
		word = s.folded
	}
	if s.language.keywords[string(word)] {
		return s.found(end, Keyword)
	}
	return s.found(end, Name)
}

// nameLength returns the length of the letter at a place, or, behind the first one, of the digit. It is 0 if no
// name goes on there.
func (s *Scanner) nameLength(at int, first bool) int {
	if at >= len(s.text) {
		return 0
	}
	if b := s.text[at]; b < utf8.RuneSelf {
		if use := s.language.bytes[b]; use&letters != 0 || !first && use&digits != 0 {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRune(s.text[at:])
	if unicode.IsLetter(r) || !first && unicode.In(r, unicode.Digit, unicode.Mark) {
		return size
	}
	return 0
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// longMarks are the operators of more than one byte, the longer ones first. Most languages have these.
var longMarks = [...]string{
	">>>=", "===", "!==", "<<=", ">>=", ">>>", "...", "**=", "&&=", "||=", "&^=", "<=>",
	"==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
	"->", "=>", "::", ":=", "**", "//", "..", "??", "?.", "?:", "<-", "&^",
}

// markLength returns the length of the operator that text begins with.
func markLength(text []byte) int {
	if len(text) < 2 || !isMark(text[1]) {
		return 1
	}
	for _, mark := range longMarks {
		if mark[0] == text[0] && mark[1] == text[1] && len(text) >= len(mark) && string(text[:len(mark)]) == mark {
			return len(mark)
		}
	}
	return 1
}

// isMark reports whether an operator may go on with a byte.
func isMark(b byte) bool {
	switch b {
	case '=', '&', '|', '+', '-', '<', '>', ':', '*', '/', '.', '?', '^':
		return true
	}
	return false
}
