package asmkernels

import "unicode/utf8"

// A Kind says what part a code point has in tokens.
type Kind uint8

const (
	// Separator is in no token.
	Separator Kind = iota
	// Letter begins or continues a token.
	Letter
	// Mark continues a token but begins none.
	Mark
	// Solo is a token of its own.
	Solo
	// Care is left to the caller of Scan.Run.
	Care
)

const (
	// firstOfThree is the first code point that takes three bytes in UTF-8, and
	// firstOfFour the first one that takes four.
	firstOfThree = 0x800
	firstOfFour  = 0x10000

	// pageSize is the number of code points in a page: as many as share all but the last byte in UTF-8.
	pageSize = 64
	pages    = firstOfFour / pageSize
)

// Classes is what Scan.Run knows of the code points that have two or three bytes in UTF-8. The kernels know its layout.
type Classes struct {
	// Bitmaps of the code points of two bytes: code point r is bit r%8 of byte r/8. Special is one whose lower case
	// differs or that is left to the caller.
	letters, marks, special [firstOfThree / 8]byte

	// Bitmaps of the pages whose code points are all of the same kind. In the first are pages of solos, in the second
	// of letters, in both of separators. A page that nothing is said of is mixed.
	pagesOfSolos, pagesOfLetters [pages / 8]byte

	// lowerHead and lowerTail have the bytes of the lower case of special code points by the last five bits of the
	// first byte and the last six of the second. The tail is 0 for those that are left to the caller.
	lowerHead, lowerTail [firstOfThree / pageSize][pageSize]byte

	pages [pages]struct{ letters, marks, solos, care uint64 }
}

// NewClasses returns the Classes in which of says the kind and the lower case of every code point. One whose lower case
// has another number of bytes, or has more than two bytes and is not the code point itself, is left to the caller. No
// solo may have two bytes, nor a lower case of its own.
func NewClasses(of func(r rune) (kind Kind, lower rune)) *Classes {
	c := &Classes{}
	for r := range rune(firstOfThree) {
		kind, lower := of(r)
		at, bit := r/8, byte(1)<<(r%8)
		if utf8.RuneLen(r) != 2 || utf8.RuneLen(lower) != 2 || kind == Care {
			c.special[at] |= bit
			continue
		}
		if lower != r {
			c.special[at] |= bit
			var bytes [2]byte
			utf8.EncodeRune(bytes[:], lower)
			c.lowerHead[r/pageSize][r%pageSize] = bytes[0]
			c.lowerTail[r/pageSize][r%pageSize] = bytes[1]
		}
		switch kind {
		case Letter:
			c.letters[at] |= bit
		case Mark:
			c.marks[at] |= bit
		}
	}
	for i := range c.pages {
		page := &c.pages[i]
		for k := range pageSize {
			r := rune(i*pageSize + k)
			kind, lower := of(r)
			if lower != r || r < firstOfThree {
				kind = Care
			}
			bit := uint64(1) << k
			switch kind {
			case Letter:
				page.letters |= bit
			case Mark:
				page.marks |= bit
			case Solo:
				page.solos |= bit
			case Care:
				page.care |= bit
			}
		}
		at, bit := i/8, byte(1)<<(i%8)
		const all = ^uint64(0)
		separators := page.letters|page.marks|page.solos|page.care == 0
		if page.solos == all || separators {
			c.pagesOfSolos[at] |= bit
		}
		if page.letters == all || separators {
			c.pagesOfLetters[at] |= bit
		}
	}
	return c
}
