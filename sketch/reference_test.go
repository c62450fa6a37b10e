package sketch

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// referenceTokens splits text by the rule, one code point after the other.
func referenceTokens(text []byte, split bool) (tokens []string, invalid int) {
	var token strings.Builder
	flush := func() {
		if token.Len() > 0 {
			tokens = append(tokens, token.String())
			token.Reset()
		}
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
			flush()
		case split && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			flush()
			tokens = append(tokens, string(r))
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && token.Len() > 0:
			token.WriteRune(unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return tokens, invalid
}

// referenceTokenHash is the token hash as the package comment of shingle.go
// defines it, over a padded copy.
func referenceTokenHash(seed uint64, token string) uint64 {
	padded := []byte(token)
	for len(padded)%16 != 0 {
		padded = append(padded, 0)
	}
	x := seed
	for ; len(padded) > 0; padded = padded[16:] {
		x += binary.LittleEndian.Uint64(padded[:8])
		x *= 0x9e3779b97f4a7c15
		x ^= x >> 32
		x += binary.LittleEndian.Uint64(padded[8:16])
		x *= 0xbf58476d1ce4e5b9
		x += 0xc4ceb9fe1a85ec53
		x ^= x >> 32
		x *= 0x94d049bb133111eb
		x ^= x >> 29
	}
	return x
}

// referenceShingle is the element of the shingle of tokens.
func referenceShingle(seed uint64, tokens []string) uint64 {
	x := uint64(0)
	for i, token := range tokens {
		h := referenceTokenHash(seed, token)
		by := 21 * i % 64
		x += h<<by | h>>(64-by)
	}
	x ^= x >> 32
	x *= 0xff51afd7ed558ccd
	x ^= x >> 32
	return x >> 16
}

// referenceDocument returns what Hasher.Document must return, apart from the
// digest.
func referenceDocument(text []byte, m Measure) Document {
	tokens, invalid := referenceTokens(text, m.CJKSplit)
	distinct := make(map[string][]string)
	width := min(m.Shingle, len(tokens))
	if width > 0 {
		for i := range len(tokens) - width + 1 {
			shingle := tokens[i : i+width]
			distinct[strings.Join(shingle, " ")] = shingle
		}
	}
	set := make([]uint64, 0, len(distinct))
	for _, shingle := range distinct {
		set = append(set, referenceShingle(m.Seed, shingle))
	}
	slices.Sort(set)
	return Document{Set: set, Tokens: len(tokens), InvalidBytes: invalid}
}

// naiveSet returns the distinct elements of list in ascending order.
func naiveSet(list []uint64) []uint64 {
	set := slices.Clone(list)
	slices.Sort(set)
	return slices.Compact(set)
}
