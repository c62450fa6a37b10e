package corpus

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may nest inside the object of the line. Together with that object,
// this is the limit of encoding/json.
const maxDepth = 9_999

type kind uint8

const (
	missing kind = iota
	null
	boolean
	number
	notFinite // NaN, Infinity, -Infinity
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{
		"missing", "null", "a boolean", "a number", "not a finite number", "a string", "an array",
		"an object",
	}[k]
}

// scanner checks JSON and finds values in it without building a tree. Each method takes an index into the
// line. It returns the index behind what it read, or -1 after a call of fail.
type scanner struct {
	line   []byte
	name   string // what the line is called in messages; empty: the line
	nest   []byte // open brackets around the current value
	skip   []byte // contents of strings that nobody wants
	at     int    // where and why the line is malformed
	reason string
}

func (s *scanner) fail(at int, reason string) int {
	s.at, s.reason = at, reason
	return -1
}

func (s *scanner) err() error {
	if s.at >= len(s.line) {
		return fmt.Errorf("malformed JSON: %s at the end of %s", s.reason, s.called())
	}
	return fmt.Errorf("malformed JSON: %s at byte %d of %s, before %q", s.reason, s.at, s.called(),
		s.line[s.at:min(s.at+1, len(s.line))])
}

func (s *scanner) called() string { return cmp.Or(s.name, "the line") }

// peek returns the byte at i, or 0 behind the end of the line. No token begins with 0.
func (s *scanner) peek(i int) byte {
	if i < len(s.line) {
		return s.line[i]
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (s *scanner) space(i int) int {
	for i < len(s.line) && isSpace(s.line[i]) {
		i++
	}
	return i
}

func (s *scanner) end(i int) int {
	switch i = s.space(i); s.peek(i) {
	case '{':
		return s.fail(i, "more than one object, which are all lost, and --format json reads them,")
	case 0:
		if i >= len(s.line) {
			return i
		}
	}
	return s.fail(i, "more than one value")
}

// key reads a field's name, its colon and the white space around it. It returns the index of the field's
// value. The name is part of the line. If it had to be unescaped, it is in the buffer.
func (s *scanner) key(i int, buffer *[]byte) (name []byte, next int) {
	if s.peek(i) != '"' {
		return nil, s.fail(i, "no field name in quotes")
	}
	if name, i = s.text(i, buffer); i < 0 {
		return nil, -1
	}
	if i = s.space(i); s.peek(i) != ':' {
		return nil, s.fail(i, "no colon after a field name")
	}
	return name, s.space(i + 1)
}

// text reads the string whose opening quote is at i. Its content is part of the line. If it had to be
// unescaped, it is in the buffer. Without a buffer it overwrites its place in the line: it is no longer there.
func (s *scanner) text(i int, buffer *[]byte) (content []byte, next int) {
	i++
	n := bytes.IndexByte(s.line[i:], '"')
	if n < 0 {
		return nil, s.fail(len(s.line), "no closing quote")
	}
	quote := i + n
	if n = bytes.IndexByte(s.line[i:quote], '\\'); n < 0 {
		return s.line[i:quote:quote], quote + 1
	}
	unescaped := s.line[i:i]
	if buffer != nil {
		unescaped = (*buffer)[:0]
	}
	for n >= 0 {
		unescaped = append(unescaped, s.line[i:i+n]...)
		i += n
		for s.peek(i) == '\\' { // escapes often come in runs
			if unescaped, i = s.escape(unescaped, i); i < 0 {
				return nil, -1
			}
		}
		if i > quote { // that quote was escaped
			if n = bytes.IndexByte(s.line[i:], '"'); n < 0 {
				return nil, s.fail(len(s.line), "no closing quote")
			}
			quote = i + n
		}
		n = bytes.IndexByte(s.line[i:quote], '\\')
	}
	unescaped = append(unescaped, s.line[i:quote]...)
	if buffer != nil {
		*buffer = unescaped
	}
	return unescaped, quote + 1
}

// escape appends the character of the escape sequence at i, U+FFFD for half a surrogate pair.
func (s *scanner) escape(to []byte, i int) ([]byte, int) {
	c := s.peek(i + 1)
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r := s.codeUnit(i)
		if r < 0 {
			return to, s.fail(i, "\\u without four hexadecimal digits")
		}
		i += 6
		if utf16.IsSurrogate(r) {
			if r = utf16.DecodeRune(r, s.codeUnit(i)); r != utf8.RuneError {
				i += 6
			}
		}
		return utf8.AppendRune(to, r), i
	default:
		return to, s.fail(i, "unknown escape sequence")
	}
	return append(to, c), i + 2
}

// codeUnit returns the value of the escape at i, which is \u and four digits. It returns -1 if there is none.
// It works on the four digits at once: they are random, and a branch for each would be mispredicted.
func (s *scanner) codeUnit(i int) rune {
	if i+6 > len(s.line) || s.line[i] != '\\' || s.line[i+1] != 'u' {
		return -1
	}
	const ones = 0x01010101
	x := binary.BigEndian.Uint32(s.line[i+2:])
	lower := x | 0x20*ones
	// The top bit of each byte says whether the byte is at least the bound.
	isDigit := (x + (0x80-'0')*ones) &^ (x + (0x80-'9'-1)*ones)
	isLetter := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'f'-1)*ones)
	if (isDigit|isLetter)&^x&(0x80*ones) != 0x80*ones {
		return -1
	}
	x = x&(0x0f*ones) + x>>6&ones*9
	return rune(x>>12&0xf000 | x>>8&0x0f00 | x>>4&0x00f0 | x&0x000f)
}

func (s *scanner) value(i int) (kind, int) {
	s.nest = s.nest[:0]
	k, i := s.open(i)
	for i >= 0 && len(s.nest) > 0 {
		i = s.space(i)
		bracket := s.nest[len(s.nest)-1]
		switch c := s.peek(i); {
		case c == bracket+2: // the closing one of {} or []
			s.nest = s.nest[:len(s.nest)-1]
			i++
		case c != ',':
			return k, s.fail(i, "neither a comma nor a closing bracket after a value")
		case bracket == '{':
			if _, i = s.key(s.space(i+1), &s.skip); i >= 0 {
				_, i = s.open(i)
			}
		default:
			_, i = s.open(s.space(i + 1))
		}
	}
	return k, i
}

// open skips the scalar at i. If there is an object or array, it enters that and its first values, and leaves
// their brackets open in nest.
func (s *scanner) open(i int) (first kind, next int) {
	for {
		k := object
		switch c := s.peek(i); c {
		case '{':
		case '[':
			k = array
		default:
			k, i = s.scalar(i)
			if first == missing {
				first = k
			}
			return first, i
		}
		if first == missing {
			first = k
		}
		bracket := s.line[i]
		if s.nest = append(s.nest, bracket); len(s.nest) > maxDepth {
			return first, s.fail(i, fmt.Sprintf("nested deeper than %d", maxDepth+1))
		}
		if i = s.space(i + 1); s.peek(i) == bracket+2 {
			return first, i // the caller closes it
		}
		if bracket == '{' {
			if _, i = s.key(i, &s.skip); i < 0 {
				return first, -1
			}
		}
	}
}

func (s *scanner) scalar(i int) (kind, int) {
	switch c := s.peek(i); c {
	case '"':
		_, i = s.text(i, &s.skip)
		return text, i
	case 't':
		return s.word(i, "true", boolean)
	case 'f':
		return s.word(i, "false", boolean)
	case 'n':
		return s.word(i, "null", null)
	case 'N':
		return s.word(i, "NaN", notFinite)
	case 'I':
		return s.word(i, "Infinity", notFinite)
	case '-':
		if s.peek(i+1) == 'I' {
			return s.word(i, "-Infinity", notFinite)
		}
	}
	return number, s.number(i)
}

func (s *scanner) word(i int, word string, k kind) (kind, int) {
	if end := i + len(word); end <= len(s.line) && string(s.line[i:end]) == word {
		return k, end
	}
	return k, s.fail(i, "no value")
}

func (s *scanner) number(i int) int {
	start := i
	if s.peek(i) == '-' {
		i++
	}
	whole := i
	if i = s.digits(i); i == whole {
		return s.fail(start, "no value")
	}
	if s.line[whole] == '0' && i > whole+1 {
		return s.fail(start, "number with a leading zero")
	}
	if s.peek(i) == '.' {
		i++
		if i = s.digits(i); s.line[i-1] == '.' {
			return s.fail(start, "number without digits after the point")
		}
	}
	if s.peek(i)|0x20 == 'e' {
		i++
		if c := s.peek(i); c == '+' || c == '-' {
			i++
		}
		exponent := i
		if i = s.digits(i); i == exponent {
			return s.fail(start, "number without digits in its exponent")
		}
	}
	return i
}

func (s *scanner) digits(i int) int {
	for i < len(s.line) && s.line[i]-'0' <= 9 {
		i++
	}
	return i
}

// ValueFinder finds where values of JSON end. It is not for concurrent use.
type ValueFinder struct{ scanner scanner }

// End returns the index behind the value that text begins with, or an error. The fault is where the value is malformed,
// which is the end of the text if that ends before the value does.
func (v *ValueFinder) End(text []byte) (end, fault int, err error) {
	s := &v.scanner
	s.line = text
	dropLarge(&s.skip)
	if _, end = s.value(0); end >= 0 {
		return end, 0, nil
	}
	return 0, s.at, errors.New("malformed JSON: " + s.reason)
}

// KeyFinder looks for fields of lines of JSON by their names. It is not for concurrent use.
type KeyFinder struct{ decoder *JSONDecoder }

// NewKeyFinder returns a finder of fields with these names, to the letter.
func NewKeyFinder(names []string) KeyFinder {
	decoder := NewJSONDecoder(Fields{Others: names})
	decoder.keeps = true
	return KeyFinder{decoder}
}

// Find returns the first of the names that a field of the line has, or "". It looks at the fields of the object that
// the line is, not at fields of objects in it. In a line that is no object it finds none.
func (k KeyFinder) Find(line []byte) (name string) {
	_ = k.decoder.scan(line) // what is before a fault counts
	begin := len(line)
	for _, w := range k.decoder.others {
		if w.field.kind != missing && w.field.begin < begin {
			name, begin = w.name, w.field.begin
		}
	}
	return name
}

// JSONCutter cuts stretches out of the texts of objects of JSON. It leaves the bytes of all else as they are, also of
// escapes. It is not for concurrent use.
type JSONCutter struct {
	decoder *JSONDecoder
	scratch []byte
}

// NewJSONCutter returns a cutter of records with these fields. The first text is the one that is cut.
func NewJSONCutter(f Fields) *JSONCutter {
	decoder := NewJSONDecoder(Fields{Texts: f.Texts[:1]})
	decoder.keeps = true
	return &JSONCutter{decoder: decoder}
}

// Cut is as [Cutter] says.
func (c *JSONCutter) Cut(b, _, record []byte, cuts []Cut) ([]byte, error) {
	if _, err := c.decoder.Decode(record); err != nil {
		return b, err
	}
	text := &c.decoder.texts[0].field
	if text.isList && len(cuts) > 0 {
		return b, errors.New("its text is a list of strings, of which nothing can be cut: make one string of it first")
	}
	at, done := text.begin+1, int64(0) // behind the quote; how much of the text is before that
	b = append(b, record[:at]...)
	for _, cut := range cuts {
		begin := c.seek(record, at, cut.Begin-done)
		b = append(b, record[at:begin]...)
		if cut.Spaced {
			b = append(b, ' ')
		}
		at, done = c.seek(record, begin, cut.End-cut.Begin), cut.End
	}
	return append(b, record[at:]...), nil
}

// seek returns the place in a record that is behind a number of bytes of the text, from another place in the text on.
func (c *JSONCutter) seek(record []byte, at int, bytesOf int64) int {
	for bytesOf > 0 {
		if record[at] == '\\' {
			var character []byte
			character, at = c.decoder.scanner.escape(c.scratch[:0], at)
			c.scratch = character
			bytesOf -= int64(len(character))
			continue
		}
		plain := min(bytesOf, int64(len(record)-at))
		if n := bytes.IndexByte(record[at:at+int(plain)], '\\'); n >= 0 {
			plain = int64(n)
		}
		at, bytesOf = at+int(plain), bytesOf-plain
	}
	return at
}
