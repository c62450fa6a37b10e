// Package confusables folds text to what a reader sees: two texts that look the same become the same.
//
// It follows the skeletons of Unicode Technical Standard 39. Letters and digits of any script become those that they
// look like, in small letters: a Cyrillic а and a mathematical 𝐚 become a, 0 becomes o. The letters i and l, a capital
// I and 1 are all l, and rn is m. Characters that cannot be seen go: soft hyphens, zero-width characters, marks of
// direction, variation selectors, tags, controls above ASCII. So do the marks of Latin letters: é is e. What an
// override shows from right to left is turned round. Punctuation stays, and so do vertical bars.
//
// The table goes beyond the file of Unicode in three points. Capital letters that look like no Latin one become what
// their small ones become. Small capitals and letters with hooks, bars and tails become their plain letter. And some
// fifty letters, and those in circles, squares and flags, are added in scripts/confusables, which makes the table.
package confusables

import (
	"bytes"
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

//go:embed table.txt
var packed string

// table holds what characters become: pages of 256 characters, which hold numbers of targets. Number 0 is for
// characters that stay, and number 1 for those that go.
type table struct {
	pages   [(unicode.MaxRune + 1) / 256]*[256]uint16
	targets []string
}

var theTable = sync.OnceValue(func() *table {
	t := &table{targets: []string{"", ""}}
	for line := range strings.Lines(packed) {
		target, sources, has := strings.Cut(line, "\t")
		if !has {
			continue // a comment
		}
		t.targets = append(t.targets, text(target))
		for _, r := range text(sources) {
			t.set(r, len(t.targets)-1)
		}
	}
	for _, all := range unseen {
		rangetable.Visit(all, func(r rune) {
			if !isSeen(r) {
				t.set(r, 1)
			}
		})
	}
	return t
})

// unseen are the characters that go: those that Unicode calls ignorable by default, and the marks of Latin letters.
var unseen = []*unicode.RangeTable{
	unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
	{R16: []unicode.Range16{
		{Lo: 0x300, Hi: 0x36f, Stride: 1},
		{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1},
		{Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
		{Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
		{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1},
		// what has no ink: controls, the blank of Braille and what stands for an object
		{Lo: 0x80, Hi: 0x84, Stride: 1},
		{Lo: 0x86, Hi: 0x9f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0xfffc, Hi: 0xfffc, Stride: 1},
	}, R32: []unicode.Range32{{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}}}, // the note without a head
}

// isSeen reports whether a character is a control of formats that is seen all the same.
func isSeen(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// text returns the text of hexadecimal code points. The table is part of the program, so they are valid.
func text(points string) string {
	var b strings.Builder
	for point := range strings.FieldsSeq(points) {
		r, _ := strconv.ParseUint(point, 16, 32)
		b.WriteRune(rune(r))
	}
	return b.String()
}

func (t *table) set(r rune, target int) {
	page := &t.pages[r/256]
	if *page == nil {
		*page = new([256]uint16)
	}
	(*page)[r%256] = uint16(target)
}

func (t *table) of(r rune) uint16 {
	if page := t.pages[r/256]; page != nil {
		return page[r%256]
	}
	return 0
}

var ascii = func() (all [utf8.RuneSelf]byte) {
	for c := range all {
		all[c] = byte(unicode.ToLower(rune(c)))
	}
	for _, c := range "iI1" {
		all[c] = 'l'
	}
	all['0'] = 'o'
	return all
}()

// Append appends a text, folded. Bytes that are not valid UTF-8 stay as they are. The folded text is at most twice as
// long, and to fold it again changes nothing.
func Append(dst, text []byte) []byte {
	f := folding{table: theTable(), start: len(dst)}
	for at := 0; at < len(text); {
		c := text[at]
		if c < utf8.RuneSelf {
			dst = appendLetter(dst, f.start, ascii[c])
			f.last, f.isBroken = rune(c), false
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if backward := overridden(text[at:]); len(backward) > 0 && !f.isBroken {
			at, f.last = at+len(override)+len(backward), r
			dst = f.appendBackward(dst, backward)
			continue
		}
		next, _ := utf8.DecodeRune(text[at+size:])
		dst = f.append(dst, text[at:at+size], r, next)
		at += size
	}
	return dst
}

type folding struct {
	*table
	start    int  // of the folded text
	last     rune // the last character
	isBroken bool // it was a byte that is not valid UTF-8
}

// append appends a character, folded, given its bytes and the next one.
func (f *folding) append(dst, bytes []byte, r, next rune) []byte {
	switch number := f.of(r); {
	// the bytes on both sides might form a character
	case number == 0, isOfRun(r, f.last, next), number == 1 && f.isBroken:
		dst = append(dst, bytes...)
	default:
		target := f.targets[number]
		for i := range len(target) {
			dst = appendLetter(dst, f.start, target[i])
		}
	}
	f.last, f.isBroken = r, r == utf8.RuneError && len(bytes) == 1
	return dst
}

// appendBackward appends the characters of a text, folded, the last one first.
func (f *folding) appendBackward(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeLastRune(text)
		bytes := text[len(text)-size:]
		text = text[:len(text)-size]
		next, _ := utf8.DecodeLastRune(text)
		if r < utf8.RuneSelf {
			dst, f.last = appendLetter(dst, f.start, ascii[r]), r
		} else {
			dst = f.append(dst, bytes, r, next)
		}
	}
	return dst
}

// override is the right-to-left override, in force up to the end of the line or another such control.
const override = "\u202e"

// overridden returns what an override at the beginning of a text shows backward; nothing if there is none, or if
// letters are among it that are read from right to left anyway.
func overridden(text []byte) []byte {
	if len(text) < len(override) || string(text[:len(override)]) != override {
		return nil
	}
	for at := len(override); at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case endsOverride(r):
			return text[len(override):at]
		case r == utf8.RuneError && size == 1,
			unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
			return nil
		}
		at += size
	}
	return text[len(override):]
}

func endsOverride(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Keeps reports whether a character stays as it is where no override reaches to it.
func Keeps(r rune) bool { return theTable().of(r) == 0 }

// HasOverride reports whether a text has an override, which may change the order of the folded characters.
func HasOverride(text []byte) bool { return bytes.Contains(text, []byte(override)) }

// Overridden reports whether an override reaches to a place of a text, and returns its end: the place of the character
// that ends it, or the end of the text. A text that is cut there does not become what it becomes as a whole.
func Overridden(text []byte, place int) (end int, is bool) {
	if !HasOverride(text[:place]) {
		return 0, false
	}
	for at := bytes.LastIndex(text[:place], []byte(override)) + len(override); at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if endsOverride(r) {
			return at, at >= place
		}
		at += size
	}
	return len(text), true
}

// appendLetter appends a byte, and joins r and n.
func appendLetter(dst []byte, start int, c byte) []byte {
	if end := len(dst); c == 'n' && end > start && dst[end-1] == 'r' {
		dst[end-1] = 'm'
		return dst
	}
	return append(dst, c)
}

// isOfRun reports whether a character is one of Thai, Lao, Khmer or Myanmar next to another of its block. These scripts
// put no spaces between words, and a Latin letter would cut them.
func isOfRun(r, last, next rune) bool {
	if !unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return r/128 == last/128 || r/128 == next/128
}
