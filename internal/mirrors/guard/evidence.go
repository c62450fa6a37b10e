package guard

import (
	"bytes"
	"math/bits"
	"slices"
)

// Evidence shows what a text has of a protected page.
type Evidence struct {
	// Runs and Pairs are the shares of the runs and pairs of the page that are in the text.
	Runs, Pairs float64
	// Words is how many words of the page, of Of, are in the text: within runs or pairs that both have.
	Words, Of int
}

// Original is a protected page that texts are compared with. It is not for concurrent use.
type Original struct {
	page        marked
	runs, pairs int    // of the page: distinct ones
	other       marked // the last text
	asks        bool
}

// NewOriginal returns a page.
func NewOriginal(page Page) *Original {
	o := &Original{asks: page.Asks}
	o.page.Folder = new(Folder)
	o.page.Fold(page.Text)
	o.page.text = page.Text
	runs, pairs := o.page.index(number(o.asks))
	o.runs, o.pairs = len(runs.seen), len(pairs.seen)
	o.page.places = [2]places{} // a page is looked up in other texts
	return o
}

// Compare returns the evidence of a folder's last text against the page. Asks says that its page asks for a password.
func (o *Original) Compare(text []byte, folded *Folder, asks bool) Evidence {
	gap := [2]int{}
	if asks && o.asks {
		gap = [2]int{1, PairGap}
	}
	runs, pairs := folded.index(gap[1])
	o.page.begin(o.page.text)
	o.page.mark(gap[0], runs.see, pairs.see)
	o.other.Folder = folded
	o.other.begin(text)
	run, pair := -1, -1
	o.other.mark(gap[1], func(uint64) bool {
		run++
		return runs.seen[runs.order[run]]
	}, func(uint64) bool {
		pair++
		return pairs.seen[pairs.order[pair]]
	})
	return Evidence{
		Runs:  float64(count(runs.seen)) / float64(max(o.runs, 1)),
		Pairs: float64(count(pairs.seen)) / float64(max(o.pairs, 1)),
		Words: count(o.page.words),
		Of:    len(o.page.words),
	}
}

func count(all []bool) (n int) {
	for _, is := range all {
		n += number(is)
	}
	return n
}

// Passages returns where the last text has most of the words of the page, and where the page has most of the words of
// the text, as they are written there.
func (o *Original) Passages() (of, from string) { return o.other.passage(), o.page.passage() }

// places are the features of a text, in their order there, and which of them a protected page has.
type places struct {
	slots []slot   // by key; first is the number of the feature
	order []uint32 // the number of each
	seen  []bool   // by number
}

func (p *places) fill(keys []uint64) {
	size := 1 << bits.Len(uint(2*len(keys)))
	p.slots = slices.Grow(p.slots[:0], size)[:size]
	clear(p.slots)
	p.order, p.seen = p.order[:0], p.seen[:0]
	for _, key := range keys {
		at := placeOf(p.slots, key)
		if p.slots[at].key == 0 {
			p.slots[at] = slot{key: key, first: uint32(len(p.seen))}
			p.seen = append(p.seen, false)
		}
		p.order = append(p.order, p.slots[at].first)
	}
}

func (p *places) see(key uint64) bool {
	one := &p.slots[placeOf(p.slots, key)]
	if one.key != 0 {
		p.seen[one.first] = true
	}
	return one.key != 0
}

// index returns the places of the runs of the last text, and of its pairs of words up to a gap apart, as the next page
// is to see them. It makes them once: a text is compared with several pages.
func (f *Folder) index(gap int) (runs, pairs *places) {
	runs, pairs = &f.places[0], &f.places[1]
	clear(runs.seen)
	clear(pairs.seen)
	if len(runs.order) < len(f.runs) {
		runs.fill(f.runs)
	}
	if len(pairs.order) == 0 {
		var keys []uint64
		eachPair(f.hashed(), gap, func(_, _ int, key uint64) { keys = append(keys, key) })
		pairs.fill(keys)
	}
	return runs, pairs
}

type marked struct {
	*Folder
	text  []byte
	words []bool
}

// begin begins with a text that was folded, none of whose words are marked.
func (m *marked) begin(text []byte) {
	m.text = text
	m.words = append(m.words[:0], make([]bool, len(m.Words))...)
}

// mark marks the words with a letter in a run, or in a pair of words up to a gap apart, that the functions know.
func (m *marked) mark(gap int, isRun, isPair func(key uint64) bool) {
	word := 0
	for at, key := range m.runs {
		if !isRun(key) {
			continue
		}
		for ; word < len(m.Words) && m.Words[word].End <= at; word++ {
		}
		for ; word < len(m.Words) && m.Words[word].Start < at+RunLetters; word++ {
			m.words[word] = true
		}
		word-- // its other letters may be in further runs
	}
	eachPair(m.hashed(), gap, func(a, b int, key uint64) {
		if isPair(key) {
			m.words[a], m.words[b] = true, true
		}
	})
}

const passageWords, passageBytes = 30, 300

// passage returns the first words in a row that have the most marked ones.
func (m *marked) passage() string {
	if len(m.Words) == 0 {
		return ""
	}
	best, most, n := 0, 0, 0
	for i := range m.Words {
		if m.words[i] {
			n++
		}
		if from := i - passageWords + 1; from > 0 && m.words[from-1] {
			n--
		}
		if from := max(i-passageWords+1, 0); n > most {
			best, most = from, n
		}
	}
	last := min(best+passageWords, len(m.Words)) - 1
	from, to := m.Words[best].From, m.Words[last].To
	to = min(to, from+passageBytes)
	return string(bytes.ToValidUTF8(bytes.Join(bytes.Fields(m.text[from:to]), []byte(" ")), nil))
}
