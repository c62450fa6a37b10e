package guard

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const (
	// RunLetters is the length of the runs of letters that are compared.
	RunLetters = 12
	// PairGap is the largest distance of two words of another page that may be neighbours on the protected one.
	PairGap = 3
	// pairLetters is how many letters the words of a pair have at least: shorter ones say nothing, such as "of the".
	pairLetters = 11
	// mostFeatures is how many runs, and how many pairs, lead to a protected page: those with the smallest hashes.
	mostFeatures = 64
	// mostAlike is on how many pages of a protected site a feature counts: on all others it is furniture of the site.
	mostAlike = 8
	// leastLeft is how many features a page must have left without such furniture: one part in this many.
	leastLeft = 4
)

// Page is a page to protect.
type Page struct {
	// Site tells the pages of a site.
	Site uint64
	Text []byte
	// Asks says that the page asks for a password. Only then its pairs count, and on pages that ask for one as well.
	Asks bool
}

// Features are the features that lead to a protected page and that a text has: bits by their numbers, runs first.
type Features [2 * mostFeatures / 64]uint64

// Or adds the features of another reading.
func (f *Features) Or(other *Features) {
	for i := range f {
		f[i] |= other[i]
	}
}

// Guarded is what a table knows of a page.
type Guarded struct {
	// Words is the number of its words, and Letters the number of its letters.
	Words, Letters int
	// Runs and Pairs are the numbers of the features that lead to it.
	Runs, Pairs int

	least [2]int // of these, how many runs or how many pairs a text has that may be a copy
}

// Table finds the protected pages that another text may be a copy of. [Original] tells whether it is.
type Table struct {
	Guarded []Guarded // by page

	filter   []uint64 // bits of the keys that are there
	slots    []slot   // by key, open addressing
	postings []posting
	wide     [][]posting // by page, the features that many pages have: page is the number of such a feature
	wides    int
	most     [][2]int // by page, how many of its runs and of its pairs are wide
	frequent []uint32 // pages that could be copied by such features alone
}

// mostNarrow is how many pages have a feature that leads to them. One that more have is looked up once they are found.
const mostNarrow = 8

// slot holds a key, 0 for none, and its postings; without any the feature is wide, and first is its number.
type slot struct {
	key   uint64
	first uint32
	n     uint32
}

type posting struct {
	page    uint32
	feature uint16
}

type keyed struct {
	key uint64
	posting
}

// NewTable returns a table of pages. Its size does not depend on the other pages of a job.
func NewTable(pages []Page) *Table {
	t := &Table{
		Guarded: make([]Guarded, len(pages)),
		wide:    make([][]posting, len(pages)),
		most:    make([][2]int, len(pages)),
	}
	all := t.features(pages)
	slices.SortFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.page, b.page))
	})
	keys := 1
	for i := 1; i < len(all); i++ {
		keys += number(all[i].key != all[i-1].key)
	}
	size := 1 << bits.Len(uint(keys+keys/2))
	t.slots, t.filter = make([]slot, size), make([]uint64, size/4+1)
	for n := 0; len(all) > 0; all = all[n:] {
		key := all[0].key
		for n = 1; n < len(all) && all[n].key == key; n++ {
		}
		t.add(key, all[:n])
	}
	for i := range t.Guarded {
		t.Guarded[i].setLeast()
		if t.mayBeCopied(i, &Features{}) {
			t.frequent = append(t.frequent, uint32(i))
		}
	}
	return t
}

// features returns the features that lead to the pages, and counts them.
func (t *Table) features(pages []Page) (all []keyed) {
	var folder Folder
	onSite := map[[2]uint64]int{}
	for i := range pages {
		folder.Fold(pages[i].Text)
		g := &t.Guarded[i]
		g.Words, g.Letters = len(folder.Words), len(folder.Letters)
		features := featuresOf(&folder, pages[i].Asks)
		kept := features[:0]
		for _, f := range features {
			if on := [2]uint64{pages[i].Site, f.key}; onSite[on] < mostAlike {
				onSite[on]++
				kept = append(kept, f)
			}
		}
		if len(kept)*leastLeft < len(features) {
			continue
		}
		for _, f := range kept {
			all = append(all, keyed{f.key, posting{uint32(i), g.add(f.isPair)}})
		}
	}
	return all
}

// add adds a key with the pages that have the feature.
func (t *Table) add(key uint64, all []keyed) {
	bit := t.bit(key)
	t.filter[bit/64] |= 1 << (bit % 64)
	at := placeOf(t.slots, key)
	if len(all) <= mostNarrow {
		t.slots[at] = slot{key, uint32(len(t.postings)), uint32(len(all))}
		for _, one := range all {
			t.postings = append(t.postings, one.posting)
		}
		return
	}
	t.slots[at] = slot{key, uint32(t.wides), 0}
	for _, one := range all {
		t.wide[one.page] = append(t.wide[one.page], posting{uint32(t.wides), one.feature})
		t.most[one.page][number(one.feature >= mostFeatures)]++
	}
	t.wides++
}

func (g *Guarded) add(isPair bool) (number uint16) {
	if isPair {
		g.Pairs++
		return uint16(mostFeatures + g.Pairs - 1)
	}
	g.Runs++
	return uint16(g.Runs - 1)
}

const (
	// LeastStrength is the least strength, by the features that lead to a page, of what may be a copy.
	LeastStrength = 0.85
	// LeastPart is the least share of the runs of a page that may be a part of a copy.
	LeastPart = 0.15
)

// mayBeCopied reports whether a page has enough of its features among some and all that are wide.
func (t *Table) mayBeCopied(page int, features *Features) bool {
	n := features.count()
	return t.Guarded[page].isFound(n[0]+t.most[page][0], n[1]+t.most[page][1])
}

func (g *Guarded) isFound(runs, pairs int) bool { return runs >= g.least[0] || pairs >= g.least[1] }

func (g *Guarded) setLeast() {
	g.least = [2]int{g.Runs + 1, g.Pairs + 1}
	for n := g.Runs; n > 0; n-- {
		share := g.shares(n, 0)[0]
		if g.Strength(share, 0) >= LeastStrength || share >= LeastPart && !g.IsShort() {
			g.least[0] = n
		}
	}
	for n := g.Pairs; n > 0 && g.Strength(0, g.shares(0, n)[1]) >= LeastStrength; n-- {
		g.least[1] = n
	}
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (f *Features) set(feature uint16) { f[feature/64] |= 1 << (feature % 64) }

type feature struct {
	key    uint64
	isPair bool
}

// featuresOf returns the features that stand for a protected page: distinct ones.
func featuresOf(f *Folder, asks bool) (all []feature) {
	runs, pairs := slices.Clone(f.runs), []uint64(nil)
	if asks {
		eachPair(f.hashed(), 1, func(_, _ int, key uint64) { pairs = append(pairs, key) })
	}
	for isPair, keys := range [][]uint64{runs, pairs} {
		slices.Sort(keys)
		keys = slices.Compact(keys)
		for _, key := range keys[:min(len(keys), mostFeatures)] {
			all = append(all, feature{key, isPair == 1})
		}
	}
	return all
}

// placeOf returns the slot of a key, or the empty one where it would be.
func placeOf(slots []slot, key uint64) uint64 {
	last := uint64(len(slots) - 1)
	at := key >> 1 & last
	for slots[at].key != 0 && slots[at].key != key {
		at = (at + 1) & last
	}
	return at
}

func (t *Table) bit(key uint64) uint64 { return key >> 20 & uint64(16*len(t.slots)-1) }

// Matcher compares texts with the pages of a table. It is not for concurrent use.
type Matcher struct {
	table  *Table
	at     []uint32 // by page: its place among touched, counted from 1
	folder *Folder
	// touched are pages that share narrow features with the text, and has are the wide features that it has.
	touched []Found
	has     []uint64
	found   []Found
}

// Found is a page of a table with the features that a text has.
type Found struct {
	Page     int
	Features Features
}

// NewMatcher returns a matcher of texts that a folder folds.
func NewMatcher(t *Table, f *Folder) *Matcher {
	return &Matcher{table: t, at: make([]uint32, len(t.Guarded)), folder: f, has: make([]uint64, t.wides/64+1)}
}

// Match returns the pages that the last text of the folder may be a copy of, or a part of one. They are valid until the
// next call. Asks says that the text is of a page that asks for a password.
func (m *Matcher) Match(asks bool) []Found {
	for i := range m.touched {
		m.at[m.touched[i].Page] = 0
	}
	clear(m.has)
	m.touched, m.found = m.touched[:0], m.found[:0]
	see := func(key uint64) {
		if bit := m.table.bit(key); m.table.filter[bit/64]&(1<<(bit%64)) != 0 {
			m.add(key)
		}
	}
	for _, key := range m.folder.runs {
		see(key)
	}
	if asks {
		eachPair(m.folder.hashed(), PairGap, func(_, _ int, key uint64) { see(key) })
	}
	for _, page := range m.table.frequent {
		m.touch(page)
	}
	for i := range m.touched {
		one := &m.touched[i]
		if !m.table.mayBeCopied(one.Page, &one.Features) {
			continue
		}
		for _, w := range m.table.wide[one.Page] {
			if m.has[w.page/64]&(1<<(w.page%64)) != 0 {
				one.Features.set(w.feature)
			}
		}
		if n := one.Features.count(); m.table.Guarded[one.Page].isFound(n[0], n[1]) {
			m.found = append(m.found, *one)
		}
	}
	return m.found
}

func (m *Matcher) add(key uint64) {
	s := &m.table.slots[placeOf(m.table.slots, key)]
	if s.n == 0 && s.key != 0 {
		m.has[s.first/64] |= 1 << (s.first % 64)
	}
	for _, p := range m.table.postings[s.first:][:s.n] {
		m.touch(p.page).Features.set(p.feature)
	}
}

func (m *Matcher) touch(page uint32) *Found {
	if m.at[page] == 0 {
		m.touched = append(m.touched, Found{Page: int(page)})
		m.at[page] = uint32(len(m.touched))
	}
	return &m.touched[m.at[page]-1]
}

// count returns how many runs and how many pairs there are.
func (f *Features) count() (n [2]int) {
	for i, word := range f {
		n[i/(len(f)/2)] += bits.OnesCount64(word)
	}
	return n
}

// Share returns the shares of the runs and of the pairs of a page that are among features.
func (g *Guarded) Share(f *Features) (runs, pairs float64) {
	n := f.count()
	share := g.shares(n[0], n[1])
	return share[0], share[1]
}

func (g *Guarded) shares(runs, pairs int) (share [2]float64) {
	for i, n := range [2][2]int{{runs, g.Runs}, {pairs, g.Pairs}} {
		if n[1] > 0 {
			share[i] = float64(n[0]) / float64(n[1])
		}
	}
	return share
}

// thresholds are the least shares of the runs and pairs of a page, by its least number of words, that make a copy.
// Pages of other sites in the same trade stay below.
var thresholds = []struct {
	words int
	least [2]float64
}{
	{60, [2]float64{0.35, 0.5}},
	{40, [2]float64{0.45, 0.65}},
	{shortWords, [2]float64{0.65, 0.8}},
	{0, [2]float64{0.8, 2}},
}

// A page of less than shortWords words is short. A word of a script without spaces is as many letters as lettersOfWord.
const shortWords, lettersOfWord = 25, 7

// IsShort reports whether a page is so short that honest pages may have its words.
func (g *Guarded) IsShort() bool { return g.words() < shortWords }

func (g *Guarded) words() int { return max(g.Words, g.Letters/lettersOfWord) }

// Strength compares the shares of the runs and pairs of a page with what makes a copy: it is 1 or more for a copy.
func (g *Guarded) Strength(runs, pairs float64) float64 {
	for _, t := range thresholds {
		if g.words() >= t.words {
			return max(runs/t.least[0], pairs/t.least[1])
		}
	}
	return 0
}

// base of the hashes of runs. It is odd, so it has an inverse modulo 2^64.
const base = 0x9e3779b97f4a7c15

var inverse = func() (inverse uint64) {
	inverse = base
	for range 6 { // Newton: each round doubles the bits that are right
		inverse *= 2 - base*inverse
	}
	return inverse
}()

func appendRuns(keys []uint64, letters []rune) []uint64 {
	if len(letters) < RunLetters {
		return keys
	}
	forward, backward := uint64(0), uint64(0)
	for i, r := range letters[:RunLetters] {
		in := mixed(uint64(r))
		forward = forward*base + in
		backward += in * powers[i]
	}
	keys = append(slices.Grow(keys, len(letters)), keyOf(min(forward, backward))) // the same for letters in reverse
	for i, r := range letters[RunLetters:] {
		in, out := hashesOf(r), hashesOf(letters[i])
		forward = forward*base - out.first + in.hash
		backward = backward*inverse - out.before + in.last
		keys = append(keys, keyOf(min(forward, backward)))
	}
	return keys
}

// keyOf returns the key of a feature, which is not 0.
func keyOf(hash uint64) uint64 {
	hash = (hash ^ hash>>32) * 0xd6e8feb86659fd93
	return (hash ^ hash>>32) | 1
}

// letterHashes are the hash of a letter, and what a run gains by it as its last letter, backwards, or loses by it as
// the first letter of the run before, forwards and backwards.
type letterHashes struct{ hash, last, first, before uint64 }

func newLetterHashes(r rune) letterHashes {
	h := mixed(uint64(r))
	return letterHashes{h, h * powers[RunLetters-1], h * powers[RunLetters-1] * base, h * inverse}
}

// hashes of the letters of ASCII, which most letters are.
var hashes = func() (all [utf8.RuneSelf]letterHashes) {
	for r := range all {
		all[r] = newLetterHashes(rune(r))
	}
	return all
}()

func hashesOf(r rune) letterHashes {
	if r < utf8.RuneSelf {
		return hashes[r]
	}
	return newLetterHashes(r)
}

var powers = func() (all [RunLetters]uint64) {
	all[0] = 1
	for i := 1; i < len(all); i++ {
		all[i] = all[i-1] * base
	}
	return all
}()

type hashedWord struct {
	hash    uint64
	letters int
}

// hashed returns the words of the last text.
func (f *Folder) hashed() []hashedWord {
	for _, w := range f.Words[len(f.hashes):] {
		h := uint64(1)
		for _, r := range f.Letters[w.Start:w.End] {
			h = (h ^ uint64(r)) * 0x100000001b3
		}
		f.hashes = append(f.hashes, hashedWord{mixed(h), w.End - w.Start})
	}
	return f.hashes
}

// eachPair visits the pairs of words up to a distance apart, with their hashes, which are the same in either order.
func eachPair(words []hashedWord, gap int, visit func(a, b int, key uint64)) {
	for i, a := range words {
		for d := 1; d <= gap && i+d < len(words); d++ {
			if b := words[i+d]; a.letters+b.letters >= pairLetters {
				visit(i, i+d, keyOf(a.hash+b.hash))
			}
		}
	}
}

// mixed spreads the bits of a hash (SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
