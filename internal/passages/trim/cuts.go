package trim

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
)

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

// isJoined reports whether the last word of a text and the first one of another would be one word if nothing were
// between them.
func isJoined(left, right []byte) bool {
	last, _ := utf8.DecodeLastRune(left)
	first, _ := utf8.DecodeRune(right)
	return !unicode.In(last, solo...) && !unicode.In(first, solo...)
}
