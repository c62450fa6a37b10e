// Package trim removes from texts the passages that occur earlier in the corpus.
//
// [Hashing] hashes all passages of the documents of a split and sends each hash to a range of hashes. [Finding] sees
// all passages of a range in the order of the corpus, so it knows which occur earlier, and tells their splits.
// [Cutting] reads the documents of a split that have such passages again, and says what is cut out of their texts. The
// records are then copied without it by package write.
package trim

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
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
	// Items are texts of the reference, such as questions of a benchmark, also with some words changed.
	Items Unit = "items"
)

var Units = []Unit{Words, Lines, Paragraphs, Sentences, Items}

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
	// Share is the least share of the words of an item that a document must have.
	Share float64 `json:",omitempty"`
	// Window is how many characters on both sides of an item are cut with it. With 0 the whole document goes.
	Window int `json:",omitempty"`
	// Fields are the fields of the reference that are items, each apart. Empty: its one text.
	Fields []string `json:",omitempty"`
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
	// bounds has the first word of each line, paragraph or sentence, and at the end the number of words.
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
	if r.rule.Unit == Words || r.rule.Unit == Items {
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

// part is a part of what is cut from a text: from one word to another one, which is the first behind it. First is where
// it occurs first: with the same words in the same order.
type part struct {
	from, to int
	first    records.Place
	shift    int64 // from units of the text to the same ones where they stand first
}

// begins returns the part that begins with a word of a passage and ends with it.
func (r *reader) begins(word int, repeat records.Repeat) part {
	from, to := r.extent(repeat.At.At)
	p := part{word, to, repeat.First, repeat.First.At - repeat.At.At}
	if r.rule.Unit == Words {
		p.first.At += int64(word - from)
	} else {
		unit, _ := slices.BinarySearch(r.bounds, word)
		p.first.At += int64(unit) - repeat.At.At
	}
	return p
}

// parted returns the parts of the text covered by passages that occur earlier, in the order of the text and without
// overlap. A part is as long as passages go on there that go on at its first place, too. The next one then is of the
// last passage that goes beyond. So a text of one word again and again has few parts. Passages are in the order of the
// text. It returns nil if the text does not have them.
func (r *reader) parted(repeats []records.Repeat) (parts []part) {
	var beyond *records.Repeat
	for i, repeat := range repeats {
		if !r.has(repeat.At.At) {
			return nil
		}
		from, to := r.extent(repeat.At.At)
		if beyond != nil && from > parts[len(parts)-1].to {
			parts, beyond = append(parts, r.begins(parts[len(parts)-1].to, *beyond)), nil
		}
		last := len(parts) - 1
		switch {
		case last < 0 || from > parts[last].to:
			parts = append(parts, r.begins(from, repeat))
		case repeat.First.Ref == parts[last].first.Ref && repeat.First.At-repeat.At.At == parts[last].shift:
			parts[last].to, beyond = to, nil
		default:
			beyond = &repeats[i]
		}
	}
	if beyond != nil {
		parts = append(parts, r.begins(parts[len(parts)-1].to, *beyond))
	}
	return parts
}

// run is a run of words that are cut, up to another word.
type run struct{ from, to int }

func joined(parts []part) (runs []run) {
	for _, p := range parts {
		if last := len(runs) - 1; last >= 0 && p.from == runs[last].to {
			runs[last].to = p.to
		} else {
			runs = append(runs, run{p.from, p.to})
		}
	}
	return runs
}

// cut returns the stretch of the text that goes with a run of words. Of what is between words on its two sides one
// stays, the one with more line feeds or else the longer one. At the end of the text, what follows the last word
// without a space stays, and white space at the very end.
//
// Normalization may give several words the place of one stretch. They are cut together, or none of them is: then it may
// be that nothing is left to cut.
func (r *reader) cut(from, to int) (c corpus.Cut, is bool) {
	starts, ends, all := r.words.Starts, r.words.Ends, r.words.Len()
	for from < to && from > 0 && starts[from] < ends[from-1] {
		from++
	}
	for from < to && to < all && starts[to] < ends[to-1] {
		to--
	}
	if from == to {
		return c, false
	}
	begin, end := int64(starts[from]), int64(ends[to-1])
	before, after := int64(0), int64(len(r.text)) // where the words on both sides end and begin
	if from > 0 {
		before = int64(ends[from-1])
	}
	if to < all {
		after = int64(starts[to])
	}
	left, right := r.text[before:begin], r.text[end:after]
	switch {
	case from == 0:
		return corpus.Cut{Begin: 0, End: after}, true
	case to == all:
		if space := bytes.IndexFunc(left, unicode.IsSpace); space >= 0 {
			begin = before + int64(space) // what follows it opens what is cut
		}
		return corpus.Cut{Begin: begin, End: end + int64(len(bytes.TrimRightFunc(right, unicode.IsSpace)))}, true
	case isMore(right, left):
		c = corpus.Cut{Begin: before, End: end}
	default:
		c = corpus.Cut{Begin: begin, End: after}
	}
	c.Spaced = len(left) == 0 && len(right) == 0 && isJoined(r.text[:before], r.text[after:])
	return c, true
}

// isMore reports whether what is between two words parts them more than something else would.
func isMore(between, other []byte) bool {
	feed := []byte("\n")
	return cmp.Or(cmp.Compare(bytes.Count(between, feed), bytes.Count(other, feed)),
		cmp.Compare(len(between), len(other))) > 0
}

// solo are the scripts whose characters are words.
var solo = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar,
}

// isJoined reports whether the last word of a text and the first of another would be one word if put together.
func isJoined(left, right []byte) bool {
	last, _ := utf8.DecodeLastRune(left)
	first, _ := utf8.DecodeRune(right)
	return !unicode.In(last, solo...) && !unicode.In(first, solo...)
}
