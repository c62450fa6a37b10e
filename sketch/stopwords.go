package sketch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// StopWords is a set of words that say little about the subject of a text: articles, pronouns, prepositions.
// Any number of goroutines may use it.
type StopWords struct {
	words   map[string]struct{} // in lower case
	longest int                 // length in bytes of the longest word

	// lengths has, by the first byte of words, bit min(n, 63) for words of n bytes.
	lengths [256]uint64
}

// ReadStopWords reads a list of stop words in UTF-8, one on each line, in any case. It skips empty lines,
// lines that begin with #, and a byte order mark. A word is a token of a [Hasher]. If a line has several, as
// don't has, each becomes a stop word.
//
// If normalizer is not nil, it is applied to each line. It should be the normalizer of the texts.
func ReadStopWords(r io.Reader, normalizer *Normalizer) (*StopWords, error) {
	s := &StopWords{words: make(map[string]struct{})}
	scanner := newWordScanner(Measure{})
	lines := bufio.NewScanner(r)
	var normalized, lower []byte
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff"))
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("stop words: line %d is not valid UTF-8", number)
		}
		if normalizer != nil {
			normalized = normalizer.Append(normalized[:0], line)
			line = normalized
		}
		scanner.reset(line)
		found := false
		for scanner.next() {
			lower = appendLower(lower[:0], scanner.word())
			s.words[string(lower)] = struct{}{}
			s.longest = max(s.longest, len(lower))
			s.lengths[lower[0]] |= lengthBit(len(lower))
			found = true
		}
		if !found {
			return nil, fmt.Errorf("stop words: line %d, %.40q, has no word: begin it with # if it is a comment", number, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("stop words: after line %d: %w", number, err)
	}
	return s, nil
}

// Len returns the number of words.
func (s *StopWords) Len() int { return len(s.words) }

// Contains reports whether word, a single token in any case, is in the set.
func (s *StopWords) Contains(word []byte) bool {
	// No code point has a lower case of less than a third of its length.
	if len(word) > 3*s.longest {
		return false
	}
	var buffer [64]byte
	lower := appendLower(buffer[:0], word)
	if len(lower) == 0 || s.lengths[lower[0]]&lengthBit(len(lower)) == 0 {
		return false
	}
	_, ok := s.words[string(lower)]
	return ok
}

func lengthBit(length int) uint64 { return 1 << min(length, 63) }

// appendLower appends word in lower case, code point by code point like tokens.
func appendLower(dst, word []byte) []byte {
	for len(word) > 0 {
		if c := word[0]; c < utf8.RuneSelf {
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			word = word[1:]
			continue
		}
		r, size := utf8.DecodeRune(word)
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		word = word[size:]
	}
	return dst
}
