// Package trim removes from texts the passages that occur earlier in the corpus.
//
// [Hashing] hashes all passages of the documents of a split and sends each hash to a range of hashes. [Finding] sees
// all passages of a range in the order of the corpus, so it knows which occur earlier, and tells their splits.
// [Cutting] reads the documents of a split that have such passages again, and says what is cut out of their texts. The
// records are then copied without it by package write.
package trim

import (
	"bytes"
	"fmt"
	"regexp"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/sketch"
)

// Unit is what passages are made of.
type Unit string

const (
	// Words are a passage if there are enough of them in a row.
	Words Unit = "words"
	// Lines and Paragraphs are a passage each if they have enough words.
	Lines      Unit = "lines"
	Paragraphs Unit = "paragraphs"
	// Sentences are a passage if three in a row have enough words: the rule of C4 (Raffel et al., Exploring the limits
	// of transfer learning with a unified text-to-text transformer, 2020).
	Sentences Unit = "sentences"
)

var Units = []Unit{Words, Lines, Paragraphs, Sentences}

// Rule says what a passage is, and when it is cut.
type Rule struct {
	// Unit is what passages are made of.
	Unit Unit
	// Words is the length of a passage of words, and the least number of words of any other passage. It is at least 1.
	Words int
	// Copies is how often a passage occurs, at least 2, before it is cut.
	Copies int64
	// Least is the least number of words that a document has left. If it has fewer after a cut, all of it goes.
	Least int
}

// units is the number of units of a passage.
func (r Rule) units() int64 {
	const sentences = 3
	switch r.Unit {
	case Words:
		return int64(r.Words)
	case Sentences:
		return sentences
	}
	return 1
}

// reader finds the words and passages of texts. It is not for concurrent use.
type reader struct {
	rule      Rule
	sequencer *sketch.Sequencer
	hash      sketch.RunHash

	text  []byte
	words sketch.Sequence // its words, as shingles of one word
	// bounds has the first word of each line, paragraph or sentence of the text, and the number of its words at the
	// end.
	bounds []int
	marked []uint64 // the words of a passage, with marks between sentences
}

// newReader returns a reader of the texts of a job that makes fingerprints of them in some way.
func newReader(rule Rule, s documents.Sketching, inputs *documents.Inputs) (*reader, error) {
	s, err := s.WithStopWords(inputs.StopWords)
	if err != nil {
		return nil, err
	}
	o := sketch.Options{
		Measure:       s.Options.Measure,
		Code:          s.Options.Code,
		Normalization: s.Options.Normalization,
		StopWords:     s.Options.StopWords,
		StopWordUse:   s.Options.StopWordUse,
	}
	o.Measure.Shingle = 1
	if o.Measure.Tokens != sketch.WordTokens {
		o.Measure.Tokens = sketch.SingleTokens
	}
	sequencer, err := sketch.NewSequencer(o, false)
	if err != nil {
		return nil, fmt.Errorf("find passages: %w", err)
	}
	return &reader{rule: rule, sequencer: sequencer, hash: sketch.NewRunHash(o.Measure.Seed, rule.Words)}, nil
}

func (r *reader) read(text []byte) {
	r.words = r.sequencer.Places(text)
	r.text, r.bounds = text, r.bounds[:0]
	if r.rule.Unit == Words {
		return
	}
	for word := range r.words.Len() {
		if word == 0 || r.parts(word) {
			r.bounds = append(r.bounds, word)
		}
	}
	r.bounds = append(r.bounds, r.words.Len())
}

// sentenceEnd matches what is between the words of two sentences: a stop and white space, the stop of a script that has
// no spaces, or an empty line.
var sentenceEnd = regexp.MustCompile(
	`[.!?\x{2026}]\pP*\s|[\x{3002}\x{FF01}\x{FF1F}\x{FF61}\x{0964}\x{0965}\x{06D4}\x{1362}]|\n\s*\n`)

// parts reports whether another line, paragraph or sentence begins with a word.
func (r *reader) parts(word int) bool {
	begin, end := r.words.Ends[word-1], r.words.Starts[word]
	if end <= begin {
		return false
	}
	between := r.text[begin:end]
	if r.rule.Unit == Sentences {
		return sentenceEnd.Match(between)
	}
	line := bytes.IndexByte(between, '\n')
	if line < 0 || r.rule.Unit == Lines {
		return line >= 0
	}
	for rest := between[line+1:]; ; {
		if line = bytes.IndexByte(rest, '\n'); line < 0 {
			return false
		}
		if len(bytes.TrimSpace(rest[:line])) == 0 {
			return true
		}
		rest = rest[line+1:]
	}
}

// passages visits the passages of the text, in its order, by their first units.
func (r *reader) passages(visit func(at int64, passage sketch.Run) error) error {
	hashes := r.words.Shingles
	if r.rule.Unit == Words {
		return r.hash.Each(hashes, visit)
	}
	units := int(r.rule.units())
	for first := 0; first+units < len(r.bounds); first++ {
		if r.bounds[first+units]-r.bounds[first] < r.rule.Words {
			continue
		}
		const mark = 1 << 48 // no word has this hash
		r.marked = r.marked[:0]
		for unit := first; unit < first+units; unit++ {
			if unit > first {
				r.marked = append(r.marked, mark)
			}
			r.marked = append(r.marked, hashes[r.bounds[unit]:r.bounds[unit+1]]...)
		}
		if err := visit(int64(first), r.hash.Of(r.marked)); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether the text has a passage that begins with a unit.
func (r *reader) has(at int64) bool {
	all := r.words.Len()
	if r.rule.Unit != Words {
		all = len(r.bounds) - 1
	}
	return at+r.rule.units() <= int64(all)
}

// extent returns the first word of the passage that begins with a unit of the text, and the word behind its last one.
func (r *reader) extent(at int64) (from, to int) {
	if r.rule.Unit == Words {
		return int(at), int(at) + r.rule.Words
	}
	return r.bounds[at], r.bounds[at+r.rule.units()]
}
