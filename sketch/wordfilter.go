package sketch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/asmkernels"
)

// WordFilter removes words from texts. Only one goroutine may use it at a time.
type WordFilter struct {
	scanner wordScanner
	keep    func(word []byte) bool
}

// NewWordFilter returns a WordFilter for the tokens of the measure m. It keeps the tokens for which keep
// returns true. It calls keep with each token as the text has it. Keep must neither change the token nor hold
// on to it. For stop words it is
//
//	func(word []byte) bool { return !stopWords.Contains(word) }
//
// The error says what is wrong with m, as [NewHasher] does.
func NewWordFilter(m Measure, keep func(word []byte) bool) (*WordFilter, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return &WordFilter{scanner: newWordScanner(m), keep: keep}, nil
}

// Append appends the text to dst, which must not overlap it. A space takes the place of each word that is not
// kept. So the words on both sides become neighbours.
func (f *WordFilter) Append(dst, text []byte) []byte {
	copied := 0
	f.scanner.reset(text)
	for f.scanner.next() {
		if !f.keep(f.scanner.word()) {
			dst = append(append(dst, text[copied:f.scanner.begin]...), ' ')
			copied = f.scanner.end
		}
	}
	return append(dst, text[copied:]...)
}

// ShingleFilter computes the fingerprints of texts from those shingles that contain a word of some kind. If
// the kind is stop words, it leaves out what is not running text: advertisements, menus and tables have few
// stop words (Theobald, Siddharth, Paepcke, SpotSigs, 2008). Only one goroutine may use it at a time.
type ShingleFilter struct {
	scanner  wordScanner
	isOfKind func(word []byte) bool
	hasher   *Hasher
	width    int
	words    []filteredWord
	inRun    []bool // by word
	sorter   asmkernels.SetSorter
	set      []uint64
}

// filteredWord is a token of a text, or a code point of a run: where it is, and whether it is of the kind.
type filteredWord struct {
	begin, end int
	isOfKind   bool
}

// NewShingleFilter returns a ShingleFilter for the measure m. It keeps the shingles with a token for which
// isOfKind returns true. It calls isOfKind as [NewWordFilter] calls keep. [StopWords.Contains] is such a
// function. The error says what is wrong with m, as [NewHasher] does.
func NewShingleFilter(m Measure, isOfKind func(word []byte) bool) (*ShingleFilter, error) {
	hasher, err := NewHasher(m)
	if err != nil {
		return nil, err
	}
	return &ShingleFilter{
		scanner:  newWordScanner(m),
		isOfKind: isOfKind,
		hasher:   hasher,
		width:    max(m.Shingle, 1),
	}, nil
}

// Document returns the fingerprint of text as [Hasher.Document] does, but without the shingles left out. Its set
// belongs to the ShingleFilter, which overwrites it in the next call. The set is empty if and only if the text has no
// word of the kind. Then Digest is a digest of the bytes of the text. Tokens and InvalidBytes count the whole text.
func (f *ShingleFilter) Document(text []byte) Document {
	f.set = f.set[:0]
	f.read(text)
	tokens, lastOfKind := len(f.words), -f.width
	begin, end := -1, 0 // a run of adjacent shingles to keep, if begin >= 0
	for i, word := range f.words {
		if word.isOfKind {
			lastOfKind = i
		}
		first := i + 1 - f.width // the first token of the shingle that ends here
		switch {
		case first < 0:
		case lastOfKind >= first:
			if begin < 0 {
				begin = f.words[first].begin
			}
			end = word.end
		case begin >= 0:
			f.add(text[begin:end])
			begin = -1
		}
	}
	if 0 < tokens && tokens < f.width && lastOfKind >= 0 {
		begin, end = f.words[0].begin, f.words[tokens-1].end
	}
	if begin >= 0 {
		f.add(text[begin:end])
	}

	if f.hasher.budget.Err() != nil {
		f.hasher.budget.cut() // what the parts of the rest would become
	}
	set := f.sorter.Sort(f.set)
	return Document{
		Set:          set,
		Digest:       f.hasher.digester.of(set, text),
		Tokens:       tokens,
		InvalidBytes: f.scanner.invalid,
	}
}

// read finds the tokens of text. A token of a run is of the kind if one of its code points is.
func (f *ShingleFilter) read(text []byte) {
	f.words, f.inRun = f.words[:0], f.inRun[:0]
	f.scanner.reset(text)
	for f.hasher.budget.take(wordBytes) && f.scanner.next() {
		f.words = append(f.words, filteredWord{f.scanner.begin, f.scanner.end, f.isOfKind(f.scanner.word())})
		f.inRun = append(f.inRun, f.scanner.isInRun())
	}
	if !slices.Contains(f.inRun, true) {
		return
	}
	tokens := 0
	f.hasher.runs.eachToken(f.inRun, func(first, end int) {
		token := filteredWord{begin: f.words[first].begin, end: f.words[end-1].end}
		for _, word := range f.words[first:end] {
			token.isOfKind = token.isOfKind || word.isOfKind
		}
		f.words[tokens] = token
		tokens++
	})
	f.words = f.words[:tokens]
}

// add adds all shingles of a part of the text, which begins and ends with a token.
func (f *ShingleFilter) add(part []byte) {
	if d := f.hasher.Document(part); f.hasher.budget.take(setBytes * len(d.Set)) {
		f.set = append(f.set, d.Set...)
	}
}

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
			return nil, fmt.Errorf("stop words: line %d, %.40q, has no word: begin it with # if it is a comment",
				number, line)
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
