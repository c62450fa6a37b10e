package sketch

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/asmkernels"
)

// inReferenceRun begins a token that is a part of a run. Its code points have it between them.
const inReferenceRun = "\x1f"

// referenceTokens splits text by the rule of a measure.
func referenceTokens(text []byte, m Measure) (tokens []string, invalid int) {
	singles, invalid := referenceSingles(text, m.Tokens)
	if m.Tokens != ScriptTokens {
		return singles, invalid
	}
	length := 4*m.Shingle - (m.Shingle - 1)
	for len(singles) > 0 {
		end := slices.IndexFunc(singles, func(s string) bool { return !isReferenceRun(s) })
		if end < 0 {
			end = len(singles)
		}
		if end == 0 {
			tokens, singles = append(tokens, singles[0]), singles[1:]
			continue
		}
		for i := range max(end-length, 0) + 1 {
			tokens = append(tokens, inReferenceRun+strings.Join(singles[i:min(i+length, end)], inReferenceRun))
		}
		singles = singles[end:]
	}
	return tokens, invalid
}

func isReferenceRun(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// referenceSingles splits text to words and single code points, one code point after the other.
func referenceSingles(text []byte, kind Tokens) (tokens []string, invalid int) {
	split := kind == SingleTokens || kind == ScriptTokens || kind == CharacterTokens
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
		case kind == CharacterTokens:
			if unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) {
				tokens = append(tokens, string(unicode.ToLower(r)))
			}
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && token.Len() > 0:
			token.WriteRune(unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return tokens, invalid
}

// referenceToken hashes one token by itself. Package asmkernels compares that hash with its definition.
func referenceToken(hash *asmkernels.Hash, token string) uint64 {
	if run, isRun := strings.CutPrefix(token, inReferenceRun); isRun {
		var hashes []uint64
		for character := range strings.SplitSeq(run, inReferenceRun) {
			hashes = append(hashes, referenceToken(hash, character))
		}
		return hash.Run(hashes)
	}
	return hash.Token(asmkernels.Prefix{}, append([]byte(token), make([]byte, asmkernels.TokenBlock)...)[:len(token)])
}

// referenceShingle is the element of the shingle of tokens.
func referenceShingle(hash *asmkernels.Hash, tokens []string) uint64 {
	var hashes []uint64
	for _, token := range tokens {
		hashes = append(hashes, referenceToken(hash, token))
	}
	var element [1]uint64
	hash.Shingles(element[:], hashes, len(hashes))
	return element[0]
}

// referenceDocument returns what Hasher.Document must return, apart from the
// digest.
func referenceDocument(text []byte, m Measure) Document {
	tokens, invalid := referenceTokens(text, m)
	distinct := make(map[string][]string)
	width := min(m.Shingle, len(tokens))
	if width > 0 {
		for i := range len(tokens) - width + 1 {
			shingle := tokens[i : i+width]
			distinct[strings.Join(shingle, " ")] = shingle
		}
	}
	hash := must(NewHasher(m)).hash
	set := make([]uint64, 0, len(distinct))
	for _, shingle := range distinct {
		set = append(set, referenceShingle(hash, shingle))
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
