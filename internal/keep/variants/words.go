package variants

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

const (
	// MostBytes and mostWords bound what is compared of a text.
	MostBytes = 8000
	mostWords = 1200
	wordBytes = 4
)

// word is the hash of a word. Its last bit says that the word has a letter.
type word uint32

func (w word) hasLetter() bool { return w&1 != 0 }

func firstWord(packed string) word {
	_ = packed[wordBytes-1]
	return word(packed[0]) | word(packed[1])<<8 | word(packed[2])<<16 | word(packed[3])<<24
}

func appendUnpacked(words []word, packed string) []word {
	for ; len(packed) >= wordBytes; packed = packed[wordBytes:] {
		words = append(words, firstWord(packed))
	}
	return words
}

// AppendWords appends the first words of a text, packed. A word is a run of letters, digits and marks of any case.
func AppendWords(b, text []byte) []byte {
	text = text[:min(len(text), MostBytes)]
	most := len(b) + mostWords*wordBytes
	for i := 0; i < len(text) && len(b) < most; {
		const prime, start, mix = 1_099_511_628_211, 14_695_981_039_346_656_037, 0x9e3779b97f4a7c15 // FNV-1a, mixed
		hash, letter := uint64(start), word(0)
		for i < len(text) {
			of := kinds[text[i]]
			r, size := uint64(of.lower), 1
			if of.isMore {
				of, r, size = kindOf(text[i:])
			}
			if i += size; !of.isOfWord {
				break
			}
			letter |= of.letter
			hash = (hash ^ r) * prime
		}
		if hash != start {
			b = binary.LittleEndian.AppendUint32(b, uint32(word(hash*mix>>32)&^1|letter))
		}
	}
	return b
}

// kind says what a character is in a word.
type kind struct {
	lower            byte
	letter           word // 1 for a letter
	isOfWord, isMore bool // isMore: the character has more bytes than one
}

// kinds are the kinds of characters by their first bytes.
var kinds = func() (all [256]kind) {
	for c := range all {
		if all[c].isMore = c >= utf8.RuneSelf; !all[c].isMore {
			all[c], _, _ = kindOf([]byte{byte(c)})
		}
	}
	return all
}()

// kindOf returns the kind of the first character of a text, the character in lower case, and its size.
func kindOf(text []byte) (of kind, lower uint64, size int) {
	r, size := utf8.DecodeRune(text)
	r = unicode.ToLower(r)
	of = kind{lower: byte(r), isOfWord: r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M)}
	if unicode.IsLetter(r) {
		of.letter = 1
	}
	return of, uint64(r), size
}
