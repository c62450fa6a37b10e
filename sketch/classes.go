package sketch

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"

	"mirrorbeam.dev/asmkernels"
)

// UnicodeVersion is the version of the Unicode tables. The tables decide which code points belong to tokens,
// and what their lower case is. Sets of two builds are comparable if their versions are the same.
const UnicodeVersion = unicode.Version

// class says what part a code point has in tokens. A code point without a class separates tokens.
type class = uint8

const (
	// letter is a letter or digit: it begins or continues a token.
	letter class = 1 << iota
	// mark continues a token but begins none.
	mark
	// solo is a token of its own.
	solo
	// irregular is set, in addition, for code points that are not copied unchanged: those with another lower
	// case, and surrogates, which no valid text contains.
	irregular

	everyClass = letter | mark | solo | irregular
)

const (
	// pageSize is the number of code points in a page of the class table. The code points of a page share all
	// but the last byte in UTF-8.
	pageSize = 64

	firstOfThree = 0x800 // the first code point that takes three bytes in UTF-8

	// mostPages is more than the number of distinct pages. It keeps an index of 16 bits into all pages in range.
	mostPages = 1 << 16 / pageSize
)

// A short is all that the table has for a code point below firstOfThree: the two bytes of its lower case, the
// first one lowest, and above them its class.
type short uint32

// shortClass is the number of the lowest bit of the class in a short.
const shortClass = 16

type classTable struct {
	// shorts has class and lower case together, for the alphabets of two bytes. An entry is irregular if the
	// code point or its lower case does not have two bytes.
	shorts [firstOfThree]short
	// pageOf and pages cover all code points: pageOf says where in pages the page of a code point begins.
	// Equal pages are stored once.
	pageOf [(unicode.MaxRune + 1) / pageSize]uint16
	pages  [mostPages * pageSize]class
	// kernel has those parts of the table that the kernels need.
	kernel *asmkernels.Classes
}

// wordTable has no code points that are tokens of their own. ideographTable has. Both are built on first use,
// which takes less than a millisecond.
var (
	wordTable          = sync.OnceValue(func() *classTable { return newClassTable() })
	ideographTable     = sync.OnceValue(func() *classTable { return newClassTable(unsegmentedScripts...) })
	unsegmentedScripts = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	}
)

func newClassTable(soloScripts ...*unicode.RangeTable) *classTable {
	classes := make([]class, unicode.MaxRune+1)
	assign(classes, unicode.Letter, letter)
	assign(classes, unicode.Digit, letter)
	assign(classes, unicode.Mark, mark)
	for _, cases := range unicode.CaseRanges {
		for r := rune(cases.Lo); r <= rune(cases.Hi); r++ {
			if classes[r] != 0 && unicode.ToLower(r) != r {
				classes[r] |= irregular
			}
		}
	}
	assign(classes, unicode.Cs, irregular)
	for _, script := range soloScripts {
		assign(classes, script, solo)
	}

	table := &classTable{}
	known := make(map[[pageSize]class]int)
	for i := range table.pageOf {
		page := [pageSize]class(classes[i*pageSize:])
		begin, ok := known[page]
		if !ok {
			begin = len(known) * pageSize
			known[page] = begin
			copy(table.pages[begin:], page[:])
		}
		table.pageOf[i] = uint16(begin)
	}
	for r := range table.shorts {
		table.shorts[r] = newShort(rune(r), classes[r])
	}
	kinds := [everyClass + 1]asmkernels.Kind{
		letter:    asmkernels.Letter,
		mark:      asmkernels.Mark,
		solo:      asmkernels.Solo,
		irregular: asmkernels.Care,
	}
	table.kernel = asmkernels.NewClasses(func(r rune) (asmkernels.Kind, rune) {
		c := classes[r]
		if c != irregular {
			c &^= irregular
		}
		return kinds[c], lowerOf(r, classes[r])
	})
	return table
}

func lowerOf(r rune, c class) rune {
	if c&irregular == 0 {
		return r
	}
	return unicode.ToLower(r)
}

func assign(classes []class, ranges *unicode.RangeTable, c class) {
	rangetable.Visit(ranges, func(r rune) { classes[r] = c })
}

func newShort(r rune, c class) short {
	lower := lowerOf(r, c)
	if utf8.RuneLen(r) != 2 || utf8.RuneLen(lower) != 2 {
		return short(irregular) << shortClass
	}
	var bytes [2]byte
	utf8.EncodeRune(bytes[:], lower)
	return short(bytes[0]) | short(bytes[1])<<8 | short(c&^irregular)<<shortClass
}

func (t *classTable) class(r uint32) class {
	return t.pages[t.pageOf[r/pageSize]|uint16(r%pageSize)]
}
