package sketch

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619

	// fnvZero is the effect of hashing a zero byte after another one: one more multiplication by the prime.
	fnvZero = fnvPrime * fnvPrime & (1<<32 - 1)
)

// SingleHashOptions say how a [SingleHash] computes fingerprints. Fingerprints of different options cannot be
// compared, but a smaller Size gives the beginning of a larger fingerprint.
type SingleHashOptions struct {
	// Words is the number of adjacent words in a shingle, at least 1. The article takes 3.
	Words int

	// Size is the largest number of hashes in a fingerprint, at least 1. The article takes 128.
	Size int

	// Article reproduces the fingerprints of the article's own program bit for bit. That program shifts a
	// character by 16 bits instead of 8. So the upper byte of a character never enters the hash. Cyrillic and
	// Greek letters with the same lower byte, for example, are the same to it.
	Article bool
}

// SingleHash computes the fingerprints of MinHash with a single hash function (Gudkov, MinHash, 2019; the
// scheme is by Broder, 1997): the smallest hashes of the shingles of a text.
//
// A word is a run of letters and digits of the Basic Multilingual Plane, as Unicode 6.2 has them; case counts. A
// shingle is a number of adjacent words, hashed one after the other with nothing between them by 32-bit FNV-1a, two
// bytes a character, the lower one first. All other code points, and bytes that are not valid UTF-8, separate words. A
// text with fewer words than a shingle has an empty fingerprint.
//
// A SingleHash reuses its memory, so it allocates nothing in a text. Only one goroutine may use it at a time.
type SingleHash struct {
	article  bool
	table    *alphanumericTable
	pipeline []uint32 // element i is the hash of the shingle that began i words ago
	words    int      // words of the text so far, including the open one
	smallest *smallest
}

// NewSingleHash returns a SingleHash, or an error that says which number in o is below 1.
func NewSingleHash(o SingleHashOptions) (*SingleHash, error) {
	switch {
	case o.Words < 1:
		return nil, fmt.Errorf("shingles of %d words: must be 1 or more", o.Words)
	case o.Size < 1:
		return nil, fmt.Errorf("fingerprints of %d hashes: must be 1 or more", o.Size)
	}
	return &SingleHash{
		article:  o.Article,
		table:    alphanumerics(),
		pipeline: make([]uint32, o.Words),
		smallest: newSmallest(o.Size),
	}, nil
}

// Fingerprint returns the smallest distinct shingle hashes of text in ascending order, and the number of its words.
// There are at most as many hashes as the options say. If there are fewer, they are the whole set. It overwrites dst
// and uses its memory if it is large enough. See [EstimateFingerprints] for the comparison of two fingerprints.
func (s *SingleHash) Fingerprint(dst []uint32, text []byte) (fingerprint []uint32, words int) {
	s.smallest.reset()
	for i := range s.pipeline {
		s.pipeline[i] = fnvOffset
	}
	s.words = 0
	switch n := len(s.pipeline); {
	case n <= 3:
		s.hashThree(text)
	case n <= 5:
		s.hashFive(text)
	default:
		s.hash(text)
	}
	return s.smallest.appendSorted(dst[:0]), s.words
}

// hash passes text through the pipeline. Each character updates the hashes of its shingles. A word ends the oldest one.
func (s *SingleHash) hash(text []byte) {
	open := false
	for len(text) > 0 {
		low, high, size, alphanumeric := s.character(text)
		text = text[size:]
		if alphanumeric {
			open = true
			for i, h := range s.pipeline {
				s.pipeline[i] = ((h^low)*fnvPrime ^ high) * fnvPrime
			}
		} else if open {
			open = false
			s.endWord()
		}
	}
	if open {
		s.endWord()
	}
}

// hashThree is hash for up to three words, with the pipeline in registers and fast paths for one and two bytes.
func (s *SingleHash) hashThree(text []byte) {
	known, units := &s.table.bytes, &s.table.units
	upper := ^uint32(0)
	if s.article {
		upper = 0
	}
	first, second, third := uint32(fnvOffset), uint32(fnvOffset), uint32(fnvOffset)
	words, count, open := 0, len(s.pipeline), false
	for at := 0; at < len(text); {
		b := text[at]
		if known[b] {
			first = (first ^ uint32(b)) * fnvZero
			second = (second ^ uint32(b)) * fnvZero
			third = (third ^ uint32(b)) * fnvZero
			open = true
			at++
			continue
		}
		if b >= utf8.RuneSelf {
			var low, high uint32
			var size int
			var alphanumeric bool
			if b >= 0xc2 && b < 0xe0 && at+1 < len(text) && text[at+1]&0xc0 == 0x80 {
				c := uint32(b)&0x1f<<6 | uint32(text[at+1])&0x3f
				low, high, size = c&0xff, c>>8&upper, 2
				alphanumeric = units[c/64]>>(c%64)&1 != 0
			} else {
				low, high, size, alphanumeric = s.character(text[at:])
			}
			at += size
			if alphanumeric {
				first = ((first^low)*fnvPrime ^ high) * fnvPrime
				second = ((second^low)*fnvPrime ^ high) * fnvPrime
				third = ((third^low)*fnvPrime ^ high) * fnvPrime
				open = true
				continue
			}
		} else {
			at++
		}
		if open {
			open = false
			if words++; words >= count {
				s.smallest.collect([...]uint32{third, second, first}[count-1])
			}
			first, second, third = second, third, fnvOffset
		}
	}
	if open {
		if words++; words >= count {
			s.smallest.collect([...]uint32{third, second, first}[count-1])
		}
	}
	s.words = words
}

// hashFive is hashThree for four and five words. A processor makes a product each cycle, so five for a byte take a
// quarter more time than three, which wait four cycles for each other.
func (s *SingleHash) hashFive(text []byte) {
	known, units := &s.table.bytes, &s.table.units
	upper := ^uint32(0)
	if s.article {
		upper = 0
	}
	first, second, third := uint32(fnvOffset), uint32(fnvOffset), uint32(fnvOffset)
	fourth, fifth := uint32(fnvOffset), uint32(fnvOffset)
	words, count, open := 0, len(s.pipeline), false
	for at := 0; at < len(text); {
		b := text[at]
		if known[b] {
			first = (first ^ uint32(b)) * fnvZero
			second = (second ^ uint32(b)) * fnvZero
			third = (third ^ uint32(b)) * fnvZero
			fourth = (fourth ^ uint32(b)) * fnvZero
			fifth = (fifth ^ uint32(b)) * fnvZero
			open = true
			at++
			continue
		}
		if b >= utf8.RuneSelf {
			var low, high uint32
			var size int
			var alphanumeric bool
			if b >= 0xc2 && b < 0xe0 && at+1 < len(text) && text[at+1]&0xc0 == 0x80 {
				c := uint32(b)&0x1f<<6 | uint32(text[at+1])&0x3f
				low, high, size = c&0xff, c>>8&upper, 2
				alphanumeric = units[c/64]>>(c%64)&1 != 0
			} else {
				low, high, size, alphanumeric = s.character(text[at:])
			}
			at += size
			if alphanumeric {
				first = ((first^low)*fnvPrime ^ high) * fnvPrime
				second = ((second^low)*fnvPrime ^ high) * fnvPrime
				third = ((third^low)*fnvPrime ^ high) * fnvPrime
				fourth = ((fourth^low)*fnvPrime ^ high) * fnvPrime
				fifth = ((fifth^low)*fnvPrime ^ high) * fnvPrime
				open = true
				continue
			}
		} else {
			at++
		}
		if open {
			open = false
			if words++; words >= count {
				s.smallest.collect([...]uint32{second, first}[count-4])
			}
			first, second, third, fourth, fifth = second, third, fourth, fifth, fnvOffset
		}
	}
	if open {
		if words++; words >= count {
			s.smallest.collect([...]uint32{second, first}[count-4])
		}
	}
	s.words = words
}

// endWord passes on the hash of the shingle that now has all its words, and begins another one.
func (s *SingleHash) endWord() {
	s.words++
	if s.words >= len(s.pipeline) {
		s.smallest.collect(s.pipeline[0])
	}
	last := copy(s.pipeline, s.pipeline[1:])
	s.pipeline[last] = fnvOffset
}

// character decodes the first code point of text: the two bytes to hash, its
// length, and whether it is a letter or digit.
func (s *SingleHash) character(text []byte) (low, high uint32, size int, alphanumeric bool) {
	r, size := utf8.DecodeRune(text)
	// U+FFFD, for invalid bytes, and all code points above 16 bits are not letters here.
	if r > 0xffff || !s.table.unit(uint16(r)) {
		return 0, 0, size, false
	}
	if s.article {
		return uint32(r) & 0xff, 0, size, true
	}
	return uint32(r) & 0xff, uint32(r) >> 8, size, true
}

// alphanumericVersion is the version of Unicode in Java 8. The article's program made its table of characters with it.
const alphanumericVersion = "6.2.0"

// alphanumericTable says which 16-bit characters are letters or digits for the single-hash MinHash. It does
// not depend on the version of Unicode in this program.
type alphanumericTable struct {
	// units has a bit for every 16-bit character.
	units [1 << 16 / 64]uint64
	// bytes says the same for single bytes that are characters. No byte from utf8.RuneSelf on is one.
	bytes [256]bool
}

// laterLetters are the code points of the Basic Multilingual Plane that became letters after alphanumericVersion: vowel
// signs and tone marks of New Tai Lue in Unicode 8, and two Vedic signs in Unicode 12.
var laterLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x19b0, Hi: 0x19c0, Stride: 1},
	{Lo: 0x19c8, Hi: 0x19c9, Stride: 1},
	{Lo: 0x1cf2, Hi: 0x1cf3, Stride: 1},
}}

// formerLetters are letters that became marks: two letters of Mongolian in Unicode 9.
var formerLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1885, Hi: 0x1886, Stride: 1},
}}

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

func (t *alphanumericTable) unit(c uint16) bool {
	return t.units[c/64]>>(c%64)&1 != 0
}
