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

// Next returns the next token, or false at the end of the text. Tokens are never empty and stand in the order of the
// text. Between them is white space, and what is neither a letter nor a mark.
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

// nameLength returns the length of the letter at a place or, behind the first one, of the digit; 0 ends the name.
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

func markLength(text []byte) int {
	if len(text) < 2 || bytes.IndexByte([]byte("=&|+-<>:*/.?^"), text[1]) < 0 {
		return 1
	}
	for _, mark := range longMarks {
		if mark[0] == text[0] && mark[1] == text[1] && len(text) >= len(mark) && string(text[:len(mark)]) == mark {
			return len(mark)
		}
	}
	return 1
}

// longestRegexp is the length of the longest regular expression that is looked for, in bytes. So text that only looks
// like the beginning of one costs little.
const longestRegexp = 1000

// comment returns the end of the comment that begins here, or 0 if none does. An unclosed one goes to the end.
func (s *Scanner) comment() int {
	rest := s.text[s.at:]
	for _, open := range s.language.lineComments {
		if !hasPrefix(rest, open) || s.language.has(wordComments) && s.at > 0 && s.text[s.at-1] > ' ' {
			continue
		}
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return s.at + end
		}
		return len(s.text)
	}
	for _, c := range s.language.blockComments {
		if hasPrefix(rest, c.open) && (!c.ownLine || s.beginsLine(s.at)) {
			return s.blockEnd(c)
		}
	}
	return 0
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

func (s *Scanner) beginsLine(at int) bool { return at == 0 || s.text[at-1] == '\n' }

func (s *Scanner) blockEnd(c blockComment) int {
	depth := 1
	for at := s.at + len(c.open); at < len(s.text); {
		next := bytes.IndexByte(s.text[at:], c.close[0])
		if c.nests {
			next = bytes.IndexAny(s.text[at:], c.open[:1]+c.close[:1])
		}
		if next < 0 {
			break
		}
		at += next
		switch {
		case hasPrefix(s.text[at:], c.close) && (!c.ownLine || s.beginsLine(at)):
			at += len(c.close)
			if depth--; depth == 0 {
				return at
			}
		case c.nests && hasPrefix(s.text[at:], c.open):
			at += len(c.open)
			depth++
		default:
			at++
		}
	}
	return len(s.text)
}

// literal returns where the string or character ends that begins here, or 0 if none does.
func (s *Scanner) literal() int {
	rest := s.text[s.at:]
	switch b := rest[0]; {
	case b == '/' && s.language.has(regexps):
		return s.regexp()
	case b == '<' && s.language.has(heredocs):
		return s.heredoc()
	case b == '\'' && s.language.has(lifetimes):
		return s.characterEnd()
	}
	for _, q := range s.language.literals {
		if hasPrefix(rest, q.open) {
			return s.closing(q, s.at+len(q.open))
		}
	}
	return 0
}

// closing returns where a literal ends whose text begins at the given place. It returns 0 if it may go over lines and
// nothing closes it; then its mark opens nothing in the rest of the text.
func (s *Scanner) closing(q literal, at int) int {
	if s.unclosed[q.open] {
		return 0
	}
	for at < len(s.text) {
		switch b := s.text[at]; {
		case b == q.escape && b != 0 && at+1 < len(s.text):
			at += 2
		case b == q.close[0] && hasPrefix(s.text[at:], q.close):
			return at + len(q.close)
		case b == '\n' && !q.lines:
			return at
		default:
			at++
		}
	}
	if !q.lines {
		return len(s.text)
	}
	return s.neverCloses(q.open)
}

// neverCloses notes that a mark opens nothing in the rest of the text.
func (s *Scanner) neverCloses(open string) int {
	if s.unclosed == nil {
		s.unclosed = map[string]bool{}
	}
	s.unclosed[open] = true
	return 0
}

// prefixed returns where a string ends that the word before the given place belongs to, or 0 if there is none:
// R"word(text)word", r#"text"#.
func (s *Scanner) prefixed(at int) int {
	if at >= len(s.text) {
		return 0
	}
	last := s.text[at-1]
	switch {
	case s.language.has(rawStrings) && s.text[at] == '"' && last == 'R' && at-s.at <= 3:
		// No delimiter has more than 16 bytes.
		open := bytes.IndexByte(s.text[at:min(at+18, len(s.text))], '(')
		if open < 0 || s.unclosed["R"] {
			return 0
		}
		closer := append(append([]byte{')'}, s.text[at+1:at+open]...), '"')
		if end := bytes.Index(s.text[at+open:], closer); end >= 0 {
			return at + open + end + len(closer)
		}
		return s.neverCloses("R")
	case s.language.has(hashedStrings) && (s.text[at] == '"' || s.text[at] == '#') && last == 'r' && at-s.at <= 2:
		hashes := 0
		for at+hashes < len(s.text) && s.text[at+hashes] == '#' && hashes < 255 {
			hashes++
		}
		if at+hashes >= len(s.text) || s.text[at+hashes] != '"' || s.unclosed["r"] {
			return 0
		}
		closer := append([]byte{'"'}, s.text[at:at+hashes]...)
		if end := bytes.Index(s.text[at+hashes+1:], closer); end >= 0 {
			return at + hashes + 1 + end + len(closer)
		}
		return s.neverCloses("r")
	}
	return 0
}

// characterEnd returns where the character ends that begins here. An apostrophe that belongs to none begins a name.
func (s *Scanner) characterEnd() int {
	at := s.at + 1
	if at < len(s.text) && s.text[at] == '\\' {
		return s.closing(character, at)
	}
	_, size := utf8.DecodeRune(s.text[at:])
	if at += size; at < len(s.text) && s.text[at] == '\'' {
		return at + 1
	}
	return 0
}

// regexp returns where the regular expression ends that begins here, or 0 where a slash divides.
func (s *Scanner) regexp() int {
	switch s.last.Kind {
	case Name, Number, String:
		return 0
	case Mark:
		if s.last.End > 0 {
			switch s.text[s.last.End-1] {
			case ')', ']', '}':
				return 0
			}
		}
	}
	inClass := false
	for at := s.at + 1; at < min(len(s.text), s.at+longestRegexp); at++ {
		switch b := s.text[at]; {
		case b == '\n':
			return 0
		case b == '\\':
			at++
		case b == '[':
			inClass = true
		case b == ']':
			inClass = false
		case b == '/' && !inClass:
			for at++; at < len(s.text) && 'a' <= s.text[at] && s.text[at] <= 'z'; at++ {
			}
			return at
		}
	}
	return 0
}

// heredoc returns where the text up to a line with a word ends, or 0 if no such text begins here: <<WORD, <<-WORD,
// <<~WORD, <<<WORD, with or without quotation marks around the word.
func (s *Scanner) heredoc() int {
	rest := s.text[s.at:]
	if !hasPrefix(rest, "<<") || s.unclosed["<<"] {
		return 0
	}
	at := 2
	for at < len(rest) && at < 6 && bytes.IndexByte([]byte(`<-~'"\ `), rest[at]) >= 0 {
		if rest[at] == ' ' && s.language.Name == "ruby" {
			return 0
		}
		at++
	}
	size := 0
	for at+size < len(rest) && size < 64 &&
		(rest[at+size] == '_' || isDigit(rest[at+size]) || isLetter(rest[at+size])) {
		size++
	}
	if size == 0 || isDigit(rest[at]) {
		return 0
	}
	word := rest[at : at+size]
	for line := at + size; line < len(rest); {
		end := bytes.IndexByte(rest[line:], '\n')
		if end < 0 {
			break
		}
		line += end + 1
		body := bytes.TrimLeft(rest[line:min(line+256, len(rest))], " \t")
		if bytes.HasPrefix(body, word) && (len(body) == size || bytes.IndexByte([]byte("\r\n;,)"), body[size]) >= 0) {
			return len(s.text) - len(rest) + min(line+256, len(rest)) - len(body) + size
		}
	}
	return s.neverCloses("<<")
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func (s *Scanner) number() int {
	at := s.at
	isHex := hasPrefix(s.text[at:], "0x") || hasPrefix(s.text[at:], "0X")
	for ; at < len(s.text); at++ {
		b := s.text[at]
		next := byte(0)
		if at+1 < len(s.text) {
			next = s.text[at+1]
		}
		switch {
		case isDigit(b), isLetter(b), b == '_':
			isExponent := !isHex && b|0x20 == 'e' || isHex && b|0x20 == 'p'
			if isExponent && (next == '+' || next == '-') {
				at++
			}
		case b == '.' && next != '.' && (!isLetter(next) || isHex):
		case b == '\'' && s.language.has(rawStrings) && (isDigit(next) || isLetter(next)):
		default:
			return at
		}
	}
	return at
}
