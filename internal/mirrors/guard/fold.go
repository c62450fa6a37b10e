// Package guard measures how much of a protected page another page has, whatever else is on that.
//
// The measure is asymmetric, so what somebody adds to a copy changes nothing. A text is folded to the letters that a
// reader sees ([Folder]). Its features are runs of [RunLetters] letters, without the spaces and in either direction,
// and pairs of words up to [PairGap] words apart, in either order. Runs pass over words that were cut, joined, or
// reversed; pairs pass over words that were put between. A [Table] finds which pages a text may be a copy of, and an
// [Original] tells how much it has. A [Markup] finds copies of a login page in other words.
package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mirrorbeam.dev/internal/input/confusables"
)

// Word is a word of a folded text: the letters from Start to End, and the bytes of the text that they come from.
type Word struct {
	Start, End int
	From, To   int
}

// Folder folds texts. It keeps its buffers, and is not for concurrent use.
type Folder struct {
	// Letters are the letters of the last text, without what is between words.
	Letters []rune
	Words   []Word

	known  map[rune]string // what characters beyond ASCII become
	in     bool            // a word is open
	runs   []uint64        // the keys of the runs of letters, by their first letters
	hashes []hashedWord    // of the words, if [Folder.hashed] was asked for them
	places [2]places       // of the runs and pairs, if [Folder.index] was asked for them
}

// Fold folds a text. Characters become the letters that they look like ([confusables]), in small letters; digits and
// signs become letters; and m, w and d become rn, vv and cl, so that it does not matter which of the two is written.
func (f *Folder) Fold(text []byte) {
	f.Letters, f.Words, f.in, f.hashes = f.Letters[:0], f.Words[:0], false, f.hashes[:0]
	for at := 0; at < len(text); {
		at += f.ascii(text[at:], at)
		end := at
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		f.others(text[at:end], at)
		at = end
	}
	f.endWord(len(text))
	f.runs = appendRuns(f.runs[:0], f.Letters)
	for i := range f.places {
		f.places[i].order, f.places[i].seen = f.places[i].order[:0], f.places[i].seen[:0]
	}
}

// ascii folds the characters of ASCII that a text begins with, and returns their number.
func (f *Folder) ascii(text []byte, at int) int {
	n := len(f.Letters)
	letters := slices.Grow(f.Letters, 2*len(text))[:n+2*len(text)]
	for i, c := range text {
		to := &plain[c]
		if to.letters == 0 {
			if c >= utf8.RuneSelf {
				text = text[:i]
				break
			}
			if f.in && to.isSeparator {
				f.Letters = letters[:n]
				f.endWord(at + i)
			}
			continue
		}
		if !f.in {
			f.in = true
			f.Words = append(f.Words, Word{Start: n, From: at + i})
		}
		letters[n], letters[n+1] = to.first, to.second
		n += to.letters
	}
	f.Letters = letters[:n]
	return len(text)
}

// mostKnown is how many characters are remembered.
const mostKnown = 1 << 12

// others folds characters beyond ASCII.
func (f *Folder) others(text []byte, at int) {
	for i, r := range string(text) {
		seen, is := f.known[r]
		if !is {
			if f.known == nil || len(f.known) == mostKnown {
				f.known = map[rune]string{}
			}
			seen = shown(r)
			f.known[r] = seen
		}
		for _, r := range seen {
			switch {
			case r < utf8.RuneSelf:
				f.ascii([]byte{byte(r)}, at+i)
			case unicode.IsLetter(r) || unicode.IsNumber(r):
				f.add(at+i, r)
			case unicode.IsSpace(r) || unicode.IsPunct(r):
				f.endWord(at + i)
			}
		}
	}
}

// shown returns the characters that a reader takes a character for.
func shown(r rune) string {
	if to, is := drawn(r); is {
		return string(rune(to))
	}
	seen := confusables.Append(nil, norm.NFKC.AppendString(nil, string(r)))
	return strings.Map(func(r rune) rune {
		if to, is := drawn(r); is {
			return rune(to)
		}
		return r
	}, string(seen))
}

func (f *Folder) add(at int, letter rune) {
	if !f.in {
		f.in = true
		f.Words = append(f.Words, Word{Start: len(f.Letters), From: at})
	}
	f.Letters = append(f.Letters, letter)
}

func (f *Folder) endWord(at int) {
	if f.in {
		f.in = false
		last := &f.Words[len(f.Words)-1]
		last.End, last.To = len(f.Letters), at
	}
}

type folded struct {
	first, second rune
	letters       int // 0, 1 or 2
	isSeparator   bool
}

var plain = func() (table [256]folded) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			table[c] = folded{first: rune(c), letters: 1}
		case c >= 'A' && c <= 'Z':
			table[c] = folded{first: rune(c) - 'A' + 'a', letters: 1}
		case c < ' ' && (c < '\t' || c > '\r') || c == 0x7f || c == '\'': // nothing
		default:
			table[c].isSeparator = true
		}
	}
	for c, to := range map[byte]rune{
		'i': 'l', 'I': 'l', '0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '$': 's', '@': 'a', '|': 'l',
	} {
		table[c] = folded{first: to, letters: 1}
	}
	for c, to := range map[byte]string{'m': "rn", 'w': "vv", 'd': "cl"} {
		two := folded{first: rune(to[0]), second: rune(to[1]), letters: 2}
		table[c], table[c-'a'+'A'] = two, two
	}
	return table
}()

// alike are letters that look like others, and that the table of Unicode lacks, such as letters of fancy texts.
var alike = func() map[rune]byte {
	all := map[rune]byte{}
	for to, letters := range map[byte]string{
		'a': "ªⲁɐᗩ卂คል", 'b': "ᗷ乃๒ጌ", 'c': "¢ⲥɔᑕ匚ር", 'd': "ᗪ๔ዕ", 'e': "€℮ⲉǝᗴ乇ቿ", 'f': "ɟᖴ千Ŧቻ",
		'g': "ƃǤᎶﻮኗ", 'h': "ɥᕼ卄ዘ", 'i': "¡ㅣıᓮ丨เጎ", 'j': "ɾᒍﾌןጋ", 'k': "ⲕʞᛕጕ", 'l': "ᒪㄥɭረ",
		'm': "ⲙɯᗰ爪๓ጠ", 'n': "ⲛᑎ几ภክ", 'o': "º〇ㅇ口ⲟᝪㄖ๏ዐ", 'p': "ⲣᑭ卩קየ", 'q': "ᑫɊợዒ", 'r': "ɹᖇ尺ዪ",
		's': "ᔕ丂รነ", 't': "ⲧʇ丅ㄒፕ", 'u': "υᑌㄩยሁ", 'v': "ʌᐯשሀ", 'w': "ʍᗯ山ฬሠ", 'x': "᙭乂אሸ", 'y': "ʎƳㄚץሃ",
		'z': "ᘔ乙ጊ",
	} {
		for _, r := range letters {
			all[r] = to
		}
	}
	return all
}()

// drawn returns the letter of ASCII that a sign or letter is a drawing of.
func drawn(r rune) (letter byte, is bool) {
	for _, first := range []rune{'🅐', '🅰', '🇦'} { // the first of 26
		if r >= first && r < first+26 {
			return 'a' + byte(r-first), true
		}
	}
	letter, is = alike[r]
	return letter, is
}

// Brand returns the letters of the name of a registered domain without its suffix, nothing if they are too few.
func Brand(domain string) []rune {
	name, _, _ := strings.Cut(domain, ".")
	var f Folder
	if f.Fold([]byte(name)); len(f.Letters) < shortestBrand {
		return nil
	}
	return f.Letters
}

const shortestBrand = 3

// Says reports whether the last text has the letters of a brand from the beginning of a word on.
func (f *Folder) Says(brand []rune) bool {
	return len(brand) > 0 && slices.ContainsFunc(f.Words, func(w Word) bool {
		rest := f.Letters[w.Start:]
		return len(rest) >= len(brand) && slices.Equal(rest[:len(brand)], brand)
	})
}
