// Package items finds the items of benchmarks, such as questions, in other texts, also with some words changed.
//
// A [Table] holds the runs of three words of all items. A [Matcher] streams the words of a text past it: runs that are
// in the table lead to the places where an item may be, and there the longest common subsequence of words decides. So a
// table takes memory in proportion to the benchmarks, whatever the corpus is, and the found share of an item is exact.
package items

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// Longest is the length in words of the longest item. Longer texts are several items.
	Longest = 256
	// runWords is the length of the runs of words that lead to items.
	runWords = 3
	// mostOfRun is how many items a run leads to, unless these have too few other runs.
	mostOfRun = 16
	// shortItem is the length below which an item may differ in one word of 8, whatever the share.
	shortItem, shortPart = 16, 8
)

// Need returns how many of the words of an item a text must have, in their order, for the given share.
func Need(words int, share float64) int {
	need := int(float64(words)*share + 1 - 1e-9)
	if words < shortItem {
		need = max(need, words-words/shortPart)
	}
	return need
}

// slack is how many words may be put into an item, or taken from it, before and between its words.
func slack(words int) int { return 2 + words/4 }

// Table finds the items that a text may have. It is read-only once it is made.
type Table struct {
	share    float64
	words    []uint32 // of all items
	starts   []int    // by item, in words; the end of the last one follows
	slots    []slot   // by key, open addressing; a key of 0 is a free slot
	filter   []uint64 // bits of the keys
	postings []posting
}

type slot struct {
	key      uint64
	first, n uint32
}

type posting struct{ item, at uint32 }

type keyed struct {
	key uint64
	posting
}

// NewTable returns a table of items. A text must have the given share of one. An item is the hashes of its words, at
// least 3 and at most [Longest].
func NewTable(all [][]uint64, share float64) *Table {
	t := &Table{share: share, starts: []int{0}}
	var runs []keyed
	for item, words := range all {
		for _, word := range words {
			t.words = append(t.words, uint32(word))
		}
		t.starts = append(t.starts, len(t.words))
		eachRun(words, func(at int, key uint64) {
			runs = append(runs, keyed{key, posting{uint32(item), uint32(at)}})
		})
	}
	slices.SortFunc(runs, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.item, b.item), cmp.Compare(a.at, b.at))
	})
	rare := make([]int, len(all)) // by item: its runs that few items have
	eachKey(runs, func(same []keyed) {
		if len(same) <= mostOfRun {
			for _, one := range same {
				rare[one.item]++
			}
		}
	})
	kept := runs[:0]
	eachKey(runs, func(same []keyed) {
		isRare := len(same) <= mostOfRun
		for _, one := range same {
			if isRare || 2*rare[one.item] < len(all[one.item])-runWords+1 {
				kept = append(kept, one)
			}
		}
	})
	t.fill(kept)
	return t
}

func eachKey(runs []keyed, visit func(same []keyed)) {
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && runs[n].key == runs[0].key {
			n++
		}
		visit(runs[:n])
		runs = runs[n:]
	}
}

func (t *Table) fill(runs []keyed) {
	size := 1 << bits.Len(uint(len(runs)+len(runs)/2))
	t.slots, t.filter = make([]slot, size), make([]uint64, size/8+1)
	t.postings = make([]posting, 0, len(runs))
	eachKey(runs, func(same []keyed) {
		key := same[0].key
		bit := t.bit(key)
		t.filter[bit/64] |= 1 << (bit % 64)
		*t.slot(key) = slot{key, uint32(len(t.postings)), uint32(len(same))}
		for _, one := range same {
			t.postings = append(t.postings, one.posting)
		}
	})
}

// slot returns the slot of a key, or the free one where it would be.
func (t *Table) slot(key uint64) *slot {
	last := uint64(len(t.slots) - 1)
	at := key >> 1 & last
	for t.slots[at].key != 0 && t.slots[at].key != key {
		at = (at + 1) & last
	}
	return &t.slots[at]
}

func (t *Table) bit(key uint64) uint64 { return key >> 20 & uint64(8*len(t.slots)-1) }

func (t *Table) item(number uint32) []uint32 { return t.words[t.starts[number]:t.starts[number+1]] }

// eachRun visits the runs of words with their keys, which are not 0.
func eachRun(words []uint64, visit func(at int, key uint64)) {
	for at := runWords - 1; at < len(words); at++ {
		visit(at-runWords+1, keyOf(words[at-2], words[at-1], words[at]))
	}
}

func keyOf(a, b, c uint64) uint64 {
	const odd, other, third = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	x := a*odd + b*other
	x = (x^x>>29)*third + c*odd
	x = (x ^ x>>32) * other
	return (x ^ x>>29) | 1
}

// Found is an item that a text has.
type Found struct {
	Item int
	// From and To are the first word of the text that is of the item, and the word behind the last one.
	From, To int
	// Words is how many words of the item the text has there, in their order, of the Of that the item has.
	Words, Of int
}

// Matcher finds the items of a table in texts. It is not for concurrent use.
type Matcher struct {
	table  *Table
	hits   []hit
	found  []Found
	window []uint32
	best   [2][]cell
}

// hit is a run of an item in a text: the item would begin at start, which may be before the text.
type hit struct {
	item  uint32
	start int
}

// mostHits is about how many hits are held.
const mostHits = 1 << 16

// NewMatcher returns a matcher of the items of a table.
func NewMatcher(t *Table) *Matcher { return &Matcher{table: t} }

// Match returns the items that a text has, given the hashes of its words, in order. They are valid until the next call.
func (m *Matcher) Match(words []uint64) []Found {
	t := m.table
	m.hits, m.found = m.hits[:0], m.found[:0]
	for at := runWords - 1; at < len(words); at++ {
		key := keyOf(words[at-2], words[at-1], words[at])
		if bit := t.bit(key); t.filter[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		s := t.slot(key)
		for _, p := range t.postings[s.first:][:s.n] {
			m.hits = append(m.hits, hit{p.item, at - runWords + 1 - int(p.at)})
		}
		if len(m.hits) >= mostHits {
			m.compareHits(words)
		}
	}
	m.compareHits(words)
	return m.distinct()
}

// compareHits looks for the items to which hits lead, and forgets the hits.
func (m *Matcher) compareHits(words []uint64) {
	t := m.table
	slices.SortFunc(m.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.start, b.start))
	})
	for rest := m.hits; len(rest) > 0; {
		item, n := rest[0].item, 1
		near := slack(t.starts[item+1] - t.starts[item])
		for n < len(rest) && rest[n].item == item && rest[n].start-rest[0].start <= near {
			n++
		}
		m.compare(int(item), rest[0].start-near, rest[n-1].start+near, words)
		rest = rest[n:]
	}
	m.hits = m.hits[:0]
}

// distinct returns what was found, in order: of overlapping finds of an item, the one with the most words.
func (m *Matcher) distinct() []Found {
	slices.SortFunc(m.found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	kept := m.found[:0]
	for _, f := range m.found {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Item != f.Item || kept[last].To <= f.From:
			kept = append(kept, f)
		case kept[last].Words < f.Words:
			kept[last] = f
		}
	}
	slices.SortFunc(kept, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Item, b.Item))
	})
	return kept
}

// compare looks for an item that begins at a word from first to last.
func (m *Matcher) compare(number, first, last int, words []uint64) {
	item := m.table.item(uint32(number))
	first, last = max(first, 0), min(last+len(item), len(words))
	m.window = m.window[:0]
	var has [1 << 10 / 64]uint64 // bits of the words of the window, by which most hits end
	for _, word := range words[first:last] {
		m.window = append(m.window, uint32(word))
		has[word/64%uint64(len(has))] |= 1 << (word % 64)
	}
	need, common := Need(len(item), m.table.share), 0
	for _, word := range item {
		common += int(has[word/64%uint32(len(has))] >> (word % 64) & 1)
	}
	if common < need {
		return
	}
	if best := m.longest(item); best.words >= need {
		m.found = append(m.found, Found{number, first + best.from, first + best.to, best.words, len(item)})
	}
}

// cell is a common subsequence of words: its length, and the words of the text between which it is.
type cell struct{ words, from, to int }

// beats reports whether a subsequence is longer than another one, or as long in fewer words of the text.
func (c cell) beats(other cell) bool {
	return c.words > other.words || c.words == other.words && c.to-c.from < other.to-other.from
}

// longest returns the longest common subsequence of an item and the window, and a short one.
func (m *Matcher) longest(item []uint32) cell {
	for i := range m.best {
		m.best[i] = append(m.best[i][:0], make([]cell, len(m.window)+1)...)
	}
	for _, word := range item {
		last, next := m.best[0], m.best[1]
		for at, other := range m.window {
			one := next[at]
			if last[at+1].beats(one) {
				one = last[at+1]
			}
			if word == other {
				longer := last[at]
				if longer.words == 0 {
					longer.from = at
				}
				longer.words, longer.to = longer.words+1, at+1
				if longer.beats(one) {
					one = longer
				}
			}
			next[at+1] = one
		}
		m.best[0], m.best[1] = next, last
	}
	return m.best[0][len(m.window)]
}
