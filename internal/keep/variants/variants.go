// Package variants tells pairs of documents that are about different things from versions and copies. Variants are
// records of one form, such as the descriptions of a library and of its documentation: rare words are exchanged in
// them, and the rest is the same.
package variants

import (
	"math"
	"slices"

	"mirrorbeam.dev/internal/records/paged"
)

// Rule says what becomes of similar pairs that are variants.
type Rule string

const (
	Warn Rule = "warn" // they are pairs like others, and a sample of them is counted
	Keep Rule = "keep" // neither document is removed for the other one
	Wide Rule = "wide" // the same, and all pairs with some other words are variants
)

var Rules = []Rule{Warn, Keep, Wide}

// Keeps reports whether variants are kept.
func (r Rule) Keeps() bool { return r == Keep || r == Wide }

// mostCosine bounds how alike the words of two variants are, where rare words weigh more.
func (r Rule) mostCosine() float64 {
	if r == Wide {
		return 0.998
	}
	return 0.975
}

const (
	// fewestSlots and mostSlots bound, in binary logarithms, the slots in which words are counted.
	fewestSlots, mostSlots = 10, 24
	// mostAtOnce is about how many neighbours of a document are compared at a time, and mostThirds how many of these
	// are asked for a third word.
	mostAtOnce, mostThirds = 256, 16
)

// Pairs are similar pairs of documents, whose numbers begin at 0.
type Pairs struct {
	Rule  Rule
	Store *paged.Store
	// Documents is how many documents there are, and Words returns what [AppendWords] has made of one.
	Documents int
	Words     func(document int) string
	// Len is how many pairs there are, and At returns the documents of one. Equal documents are no pair.
	Len int
	At  func(pair int) (a, b int)
}

// Judge visits the pairs of variants, in no order. These have words with letters that are not all alike, by the
// frequencies of words in the documents of pairs. By the narrow rule, also,
//   - each has a word that the other one lacks at two places or more, or
//   - a third document, in a pair with one of the two, has yet another word at one of these places.
func (p *Pairs) Judge(visit func(pair int)) {
	j := newJudge(p)
	for document := range p.Documents {
		j.weigh(document, visit)
	}
	for document := range p.Documents {
		j.judge(document, visit)
	}
}

// relation is what is known of a pair: 0 for one of versions or copies.
type relation uint8

const (
	unlike relation = iota + 1 // the words are not all alike
	areVariants
)

type judge struct {
	*Pairs
	starts    *paged.List[int, uint32] // where the pairs of each document begin in pairs
	pairs     *paged.List[uint32, uint32]
	relations *paged.List[int, relation]

	mask     word
	squares  []float32 // of the weights of words, by slot
	counts   []uint32  // of the words of one document, by slot; else 0
	norms    *paged.List[int, float64]
	words    []word // of one document
	differ   differ
	compared []neighbour
	changed  []uint64 // words that change, each with the number of its place
}

// neighbour is a document in a pair with the one that is judged.
type neighbour struct {
	words      []word
	hunks      []hunk // where it differs from that one
	isCompared bool
}

func newJudge(p *Pairs) *judge {
	j := &judge{Pairs: p, relations: paged.New[int, relation](p.Store, p.Len)}
	j.join()
	documents, all := 0, 0
	for document := range p.Documents {
		if j.degree(document) > 0 {
			documents, all = documents+1, all+len(p.Words(document))/wordBytes
		}
	}
	bits := fewestSlots
	for bits < mostSlots && all>>(bits+3) > 0 { // a word occurs more than 8 times, and few words share a slot
		bits++
	}
	j.mask, j.counts, j.squares = 1<<bits-1, make([]uint32, 1<<bits), make([]float32, 1<<bits)
	j.norms = paged.New[int, float64](p.Store, p.Documents)
	for document := range p.Documents {
		if j.degree(document) > 0 {
			j.count(document, func(slot word, n uint32) {
				if n == 1 {
					j.squares[slot]++
				}
			})
			j.forget()
		}
	}
	for slot, frequency := range j.squares {
		if weight := math.Log(float64(documents+1) / float64(frequency)); frequency > 0 {
			j.squares[slot] = float32(weight * weight)
		}
	}
	return j
}

// join lists the pairs of each document.
func (j *judge) join() {
	j.starts = paged.New[int, uint32](j.Store, j.Documents+2)
	each := func(visit func(document, pair int)) {
		for pair := range j.Len {
			if a, b := j.At(pair); a != b {
				visit(a, pair)
				visit(b, pair)
			}
		}
	}
	each(func(document, _ int) { j.starts.Set(document+2, j.starts.At(document+2)+1) })
	sum := uint32(0)
	for i := range j.starts.Len() {
		sum += j.starts.At(i)
		j.starts.Set(i, sum)
	}
	j.pairs = paged.New[uint32, uint32](j.Store, int(sum))
	each(func(document, pair int) {
		at := j.starts.At(document + 1)
		j.pairs.Set(at, uint32(pair))
		j.starts.Set(document+1, at+1)
	})
}

func (j *judge) slot(w word) word { return w >> 1 & j.mask }

func (j *judge) degree(document int) uint32 { return j.starts.At(document+1) - j.starts.At(document) }

// count counts the words with letters of a document. It visits each with how often it has occurred so far.
func (j *judge) count(document int, visit func(slot word, n uint32)) {
	j.words = appendUnpacked(j.words[:0], j.Words(document))
	for _, w := range j.words {
		if w.hasLetter() {
			slot := j.slot(w)
			j.counts[slot]++
			visit(slot, j.counts[slot])
		}
	}
}

// forget clears the counts of the words.
func (j *judge) forget() {
	for _, w := range j.words {
		j.counts[j.slot(w)] = 0
	}
}

// weigh finds out in which pairs of a document with an earlier one the words are not all alike.
func (j *judge) weigh(document int, visit func(pair int)) {
	first, end := j.starts.At(document), j.starts.At(document+1)
	if first == end {
		return
	}
	norm := 0.
	j.count(document, func(slot word, n uint32) {
		norm += float64(2*n-1) * float64(j.squares[slot]) // the square of n is the sum of the first n odd numbers
	})
	j.norms.Set(document, norm)
	for i := first; i < end; i++ {
		pair, other := j.neighbour(document, i)
		if other > document || j.cosine(document, other) > j.Rule.mostCosine() {
			continue
		}
		j.relations.Set(pair, unlike)
		if j.Rule == Wide {
			visit(pair)
		}
	}
	j.forget()
}

// judge judges the pairs of a document whose words are not all alike.
func (j *judge) judge(document int, visit func(pair int)) {
	first, end, isUnlike := j.starts.At(document), j.starts.At(document+1), false
	for i := first; i < end && !isUnlike && j.Rule != Wide; i++ {
		isUnlike = j.relations.At(int(j.pairs.At(i))) == unlike
	}
	if !isUnlike {
		return
	}
	j.words = appendUnpacked(j.words[:0], j.Words(document))
	for first < end {
		last := end
		if end-first >= 2*mostAtOnce { // so that none is alone
			last = first + mostAtOnce
		}
		j.compare(document, first, last, visit)
		first = last
	}
}

func (j *judge) neighbour(document int, i uint32) (pair, other int) {
	pair = int(j.pairs.At(i))
	a, b := j.At(pair)
	return pair, a ^ b ^ document
}

// cosine returns the cosine of the angle between the words of two documents, 1 if one has none. The words of the first
// one are counted.
func (j *judge) cosine(document, other int) (cosine float64) {
	product := 0.
	for words := j.Words(other); len(words) > 0; words = words[wordBytes:] {
		if w := firstWord(words); w.hasLetter() {
			product += float64(j.counts[j.slot(w)]) * float64(j.squares[j.slot(w)])
		}
	}
	if squares := j.norms.At(document) * j.norms.At(other); squares > 0 {
		return product / math.Sqrt(squares)
	}
	return 1
}

// compare compares a document with some neighbours, where pairs may be variants.
func (j *judge) compare(document int, first, end uint32, visit func(pair int)) {
	n := int(end - first)
	j.compared = slices.Grow(j.compared[:0], n)[:n]
	for i := range j.compared {
		j.compared[i].isCompared = false
	}
	with := func(i int) *neighbour {
		to := &j.compared[i]
		if !to.isCompared {
			_, other := j.neighbour(document, first+uint32(i))
			to.words = appendUnpacked(to.words[:0], j.Words(other))
			to.hunks, to.isCompared = j.differ.compare(to.hunks[:0], j.words, to.words), true
		}
		return to
	}
	for i := range n {
		pair, other := j.neighbour(document, first+uint32(i))
		if j.relations.At(pair) != unlike {
			continue
		}
		to := with(i)
		is := other > document && j.changesTwice(to)
		for k := 1; k < n && k <= mostThirds && !is; k++ {
			is = hasThird(j.words, to, with((i+k)%n))
		}
		if is {
			j.relations.Set(pair, areVariants)
			visit(pair)
		}
	}
}

// changesTwice reports whether a document and a neighbour each have a word with letters at two places of difference.
func (j *judge) changesTwice(to *neighbour) bool {
	for side, text := range [][]word{j.words, to.words} {
		j.changed = j.changed[:0]
		for i, h := range to.hunks {
			for _, w := range text[h.from[side]:h.to[side]] {
				if w.hasLetter() {
					j.changed = append(j.changed, uint64(w)<<32|uint64(i))
				}
			}
		}
		slices.Sort(j.changed)
		isTwice := false
		for i := 1; i < len(j.changed) && !isTwice; i++ {
			one, other := j.changed[i-1], j.changed[i]
			isTwice = one != other && one>>32 == other>>32
		}
		if !isTwice {
			return false
		}
	}
	return true
}

// hasThird reports whether a third document differs from a text and its neighbour at one place.
func hasThird(text []word, of, third *neighbour) bool {
	others := third.hunks
	for _, h := range of.hunks {
		own, new := text[h.from[0]:h.to[0]], of.words[h.from[1]:h.to[1]]
		if !slices.ContainsFunc(own, word.hasLetter) || !slices.ContainsFunc(new, word.hasLetter) {
			continue
		}
		for len(others) > 0 && others[0].to[0] <= h.from[0] {
			others = others[1:]
		}
		for _, o := range others {
			if o.from[0] >= h.to[0] {
				break
			}
			isNew, isKnown := false, false
			for _, w := range third.words[o.from[1]:o.to[1]] {
				isOf := slices.Contains(new, w)
				isNew = isNew || w.hasLetter() && !isOf && !slices.Contains(own, w)
				isKnown = isKnown || w.hasLetter() && isOf
			}
			if isNew && !isKnown {
				return true
			}
		}
	}
	return false
}
