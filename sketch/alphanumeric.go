package sketch

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// alphanumericVersion is the version of Unicode in Java 8. The article's program made its table of characters
// with it.
const alphanumericVersion = "6.2.0"

// alphanumericTable says which 16-bit characters are letters or digits for the single-hash MinHash. It does
// not depend on the version of Unicode in this program.
type alphanumericTable struct {
	// units has a bit for every 16-bit character.
	units [1 << 16 / 64]uint64
	// bytes says the same for single bytes that are characters. No byte from utf8.RuneSelf on is one.
	bytes [256]bool
}

// laterLetters are the code points of the Basic Multilingual Plane that became letters after
// alphanumericVersion: vowel signs and tone marks of New Tai Lue in Unicode 8, and two Vedic signs in Unicode
// 12.
var laterLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x19b0, Hi: 0x19c0, Stride: 1},
	{Lo: 0x19c8, Hi: 0x19c9, Stride: 1},
	{Lo: 0x1cf2, Hi: 0x1cf3, Stride: 1},
}}

// formerLetters are letters that became marks: two letters of Mongolian in Unicode 9.
var formerLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1885, Hi: 0x1886, Stride: 1},
}}

// alphanumerics is the one table, built on first use.
var alphanumerics = sync.OnceValue(newAlphanumericTable)

// newAlphanumericTable builds the table that Character.isLetterOrDigit of Java 8 gives for all values of a
// char: today's letters and digits, without later changes. A test holds its hash.
func newAlphanumericTable() *alphanumericTable {
	table := &alphanumericTable{}
	known := unitsOf(rangetable.Assigned(alphanumericVersion))
	letters, digits := unitsOf(unicode.Letter), unitsOf(unicode.Digit)
	later, former := unitsOf(laterLetters), unitsOf(formerLetters)
	for i := range table.units {
		table.units[i] = known[i] & ((letters[i]|digits[i])&^later[i] | former[i])
	}
	for c := range utf8.RuneSelf {
		table.bytes[c] = table.unit(uint16(c))
	}
	return table
}

// unitsOf returns a bit for every 16-bit character. It is set if the character is in ranges.
func unitsOf(ranges *unicode.RangeTable) *[1 << 16 / 64]uint64 {
	units := &[1 << 16 / 64]uint64{}
	rangetable.Visit(ranges, func(r rune) {
		if r < 1<<16 {
			units[r/64] |= 1 << (r % 64)
		}
	})
	return units
}

// unit reports whether c is a letter or digit.
func (t *alphanumericTable) unit(c uint16) bool {
	return t.units[c/64]>>(c%64)&1 != 0
}
