// Package quoting writes texts as rows, terminals and messages show them: as valid UTF-8, and as JSON strings that
// control no terminal.
package quoting

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendText appends s as valid UTF-8. Different strings stay different: each byte that is not part of valid UTF-8 is
// written as U+FFFD and the two lower-case hexadecimal digits of the byte. So is each of the three bytes of a U+FFFD in
// s that has two such digits behind it. All other strings stay as they are.
func AppendText[S ~string | ~[]byte](b []byte, s S) []byte {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			b = append(b, s[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && (size == 1 || startsWithHex(s[i+size:])) {
			for _, c := range []byte(s[i : i+size]) {
				b = fmt.Appendf(b, "%c%02x", utf8.RuneError, c)
			}
		} else {
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return b
}

func startsWithHex[S ~string | ~[]byte](s S) bool {
	isHex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	return len(s) >= 2 && isHex(s[0]) && isHex(s[1])
}

// Text returns s as [AppendText] writes it.
func Text[S ~string | ~[]byte](s S) string {
	if isPlain(s) {
		return string(s)
	}
	return string(AppendText(nil, s))
}

// Original returns the string that [Text] has made the text of a row from.
func Original(text string) string {
	const mark = string(utf8.RuneError)
	before, rest, found := strings.Cut(text, mark)
	if !found {
		return text
	}
	var b strings.Builder
	for ; found; before, rest, found = strings.Cut(rest, mark) {
		b.WriteString(before)
		if !startsWithHex(rest) {
			b.WriteString(mark)
			continue
		}
		value, _ := strconv.ParseUint(rest[:2], 16, 8) // it has been checked
		b.WriteByte(byte(value))
		rest = rest[2:]
	}
	return b.String() + before
}

// AppendString appends s as a JSON string, as [AppendText] writes it. Characters that control a terminal are escaped.
func AppendString[S ~string | ~[]byte](b []byte, s S) []byte { return AppendQuoted(b, Text(s)) }

// AppendQuoted appends valid UTF-8 as a JSON string, as rows have it. Characters that control a terminal are escaped.
func AppendQuoted(b []byte, text string) []byte {
	b = append(b, '"')
	if isPlain(text) {
		b = append(b, text...)
	} else {
		b = appendEscaped(b, text)
	}
	return append(b, '"')
}

// isPlain reports whether s stands for itself in a JSON string. It may say no where it could say yes.
func isPlain[S ~string | ~[]byte](s S) bool {
	if len(s) < 8 {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
				return false
			}
		}
		return true
	}
	// Each row has ids, so eight bytes are looked at together. The last eight may have been seen in part.
	last := eight(s[len(s)-8:])
	for ; len(s) > 8; s = s[8:] {
		if hasSpecial(eight(s)) {
			return false
		}
	}
	return !hasSpecial(last)
}

// eight returns the first eight bytes of s, which has them.
func eight[S ~string | ~[]byte](s S) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hasSpecial reports whether one of eight bytes does not stand for itself in a JSON string.
func hasSpecial(x uint64) bool {
	const (
		each = 0x01_01_01_01_01_01_01_01
		high = 0x80 * each
	)
	// The highest bit of a byte of y-each is set if the byte of y is 0, and perhaps if a lower one is.
	controls := x - ' '*each
	quotes := (x ^ '"'*each) - each
	backslashes := (x ^ '\\'*each) - each
	return (controls|quotes|backslashes|x|(x+each))&high != 0
}

func appendEscaped(b []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case IsControl(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// IsControl reports whether a terminal may obey a character instead of showing it: the controls of ASCII and Latin-1,
// the ends of lines and paragraphs, and those that change the direction of the text behind them.
func IsControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	}
	return r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
