package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"mirrorbeam.dev/sketch"
)

// This file implements the measure and the outputs once more, in the plainest way: sets of strings, every pair
// compared.

// measureOf returns the tokens of a naive measure: words, and single code points of the scripts without spaces between
// words with cjk.
func measureOf(cjk bool) sketch.Tokens {
	if cjk {
		return sketch.SingleTokens
	}
	return sketch.WordTokens
}

// naiveTokens returns the tokens of a text.
func naiveTokens(text string, cjk bool) (tokens []string) {
	inside := false
	for _, r := range text {
		switch {
		case cjk &&
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
				unicode.Myanmar):
			tokens = append(tokens, string(r))
			inside = false
		case unicode.IsLetter(r), unicode.IsDigit(r), inside && unicode.IsMark(r):
			if !inside {
				tokens = append(tokens, "")
				inside = true
			}
			tokens[len(tokens)-1] += string(unicode.ToLower(r))
		default:
			inside = false
		}
	}
	return tokens
}

// naiveShingles returns the shingles of a text as strings; nil if it has no
// token.
func naiveShingles(text string, width int, cjk bool) map[string]bool {
	tokens := naiveTokens(text, cjk)
	if len(tokens) == 0 {
		return nil
	}
	width = min(width, len(tokens))
	set := map[string]bool{}
	for i := range len(tokens) - width + 1 {
		set[strings.Join(tokens[i:i+width], "\x1f")] = true
	}
	return set
}

// truthDocument is a document as the truth sees it.
type truthDocument struct {
	line
	ref  string // path:position
	name string // the name that other rows use
	set  map[string]bool
}

// truth holds what the outputs of a job over a corpus must say.
type truth struct {
	documents  []truthDocument
	references int // number of documents of the reference, which come first
	rejects    []rejectedRow
	shared     [][]int // for each document, the number of shingles that it shares with each one up to itself
}

// naiveTruth compares all documents of the files, which are in document order.
func naiveTruth(width int, cjk bool, files ...file) *truth {
	tr := &truth{}
	count := map[string]int{}
	having := map[string][]int{} // documents by shingle
	for _, f := range files {
		position := int64(0)
		for _, l := range f.lines {
			switch l.kind {
			case rejectLine:
				tr.rejects = append(tr.rejects, rejectedRow{File: f.name, Position: position})
			case documentLine:
				tr.documents = append(tr.documents, truthDocument{
					line: l,
					ref:  fmt.Sprintf("%s:%d", f.name, position),
					set:  naiveShingles(l.text, width, cjk),
				})
				count[l.id]++
			}
			position += int64(len(l.raw)) + 1
		}
	}
	for i := range tr.documents {
		d := &tr.documents[i]
		if d.name = d.id; d.id == "" || count[d.id] > 1 {
			d.name = d.ref
		}
		shared := make([]int, i+1)
		for shingle := range d.set {
			having[shingle] = append(having[shingle], i)
			for _, j := range having[shingle] {
				shared[j]++
			}
		}
		tr.shared = append(tr.shared, shared)
	}
	return tr
}

// id returns the name of a document in its own row.
func (tr *truth) id(i int) string { return cmp.Or(tr.documents[i].id, tr.documents[i].ref) }

// similarity returns the Jaccard similarity of two documents, 0 if they are not compared.
func (tr *truth) similarity(i, j int) float64 {
	if side := tr.documents[i].side; side != "" && side == tr.documents[j].side {
		return 0
	}
	return tr.likeness(i, j)
}

// likeness returns the Jaccard similarity of two documents, 0 if they are of different scopes. A document without
// tokens is only like documents of the same bytes.
func (tr *truth) likeness(i, j int) float64 {
	a, b := &tr.documents[i], &tr.documents[j]
	if a.scope != b.scope {
		return 0
	}
	if len(a.set) == 0 && len(b.set) == 0 {
		if a.text == b.text {
			return 1
		}
		return 0
	}
	n := tr.shared[max(i, j)][min(i, j)]
	return float64(n) / float64(len(a.set)+len(b.set)-n)
}

// firsts returns, for each document, the first one that is identical to it.
func (tr *truth) firsts() []int {
	first := make([]int, len(tr.documents))
	for i := range first {
		first[i] = i
		for j := range i {
			if tr.likeness(j, i) == 1 {
				first[i] = j
				break
			}
		}
	}
	return first
}

// classes are the classes of identical documents. The first references documents are of a reference.
type classes struct {
	first      []int // of each document, the first one that is identical to it
	references int
}

// ends returns the documents that name a pair of two classes, given the first of each. If both first ones are of the
// reference, the later one gives way to the first document of the input that is identical to it, or the earlier one if
// the later has none. If neither has one, ok is false.
func (c classes) ends(i, j int) (a, b int, ok bool) {
	i, j = min(i, j), max(i, j)
	if j >= c.references {
		return i, j, true
	}
	if n := slices.Index(c.first[c.references:], j); n >= 0 {
		return i, c.references + n, true
	}
	n := slices.Index(c.first[c.references:], i)
	return j, c.references + n, n >= 0
}

// edges returns the pairs of documents that the output pairs must list. The first of identical documents is joined to
// the first of those that are near it, see ends. It is also joined to those identical to it, if one is of the input or
// the first has an edge.
func (c classes) edges(isNear func(i, j int) bool) [][2]int {
	named := map[int]bool{}
	for _, i := range c.first[c.references:] {
		named[i] = true
	}
	var edges [][2]int
	for j := range c.first {
		for i := range j {
			if c.first[i] != i || c.first[j] != j || !isNear(i, j) {
				continue
			}
			if a, b, ok := c.ends(i, j); ok {
				edges = append(edges, [2]int{a, b})
				named[i], named[j] = true, true
			}
		}
	}
	for i, first := range c.first {
		if first != i && named[first] {
			edges = append(edges, [2]int{first, i})
		}
	}
	return edges
}

func (tr *truth) classes() classes { return classes{tr.firsts(), tr.references} }

// edges returns the pairs of documents that the output pairs must list.
func (tr *truth) edges(threshold float64) [][2]int {
	if slices.ContainsFunc(tr.documents, func(d truthDocument) bool { return d.side != "" }) {
		return tr.edgesAcross(tr.firsts(), func(i, j int) bool { return tr.likeness(i, j) >= threshold })
	}
	return tr.classes().edges(func(i, j int) bool { return tr.similarity(i, j) >= threshold })
}

// components returns, for each document, the first of its component.
func (tr *truth) components(edges [][2]int) []int {
	root := make([]int, len(tr.documents))
	for i := range root {
		root[i] = i
	}
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
			low := min(root[e[0]], root[e[1]])
			changed = changed || root[e[0]] != low || root[e[1]] != low
			root[e[0]], root[e[1]] = low, low
		}
	}
	return root
}

// pairRows returns the rows of pairs, in their order: by component, then by the
// documents.
func (tr *truth) pairRows(threshold float64) []pairRow { return tr.rowsOf(tr.edges(threshold)) }

// rowsOf returns the rows of pairs whose edges are these.
func (tr *truth) rowsOf(edges [][2]int) []pairRow {
	root := tr.components(edges)
	slices.SortStableFunc(edges, func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(root[x[0]], root[y[0]]), cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	rows := make([]pairRow, len(edges))
	for i, e := range edges {
		a, b := &tr.documents[e[0]], &tr.documents[e[1]]
		row := pairRow{
			A:            a.name,
			B:            b.name,
			Jaccard:      tr.similarity(e[0], e[1]),
			ContainmentA: 1,
			ContainmentB: 1,
			Exact:        true,
		}
		if row.Identical = row.Jaccard == 1; !row.Identical {
			n := float64(tr.shared[e[1]][e[0]])
			row.ContainmentA, row.ContainmentB = n/float64(len(a.set)), n/float64(len(b.set))
		}
		rows[i] = row
	}
	return rows
}

// kept returns, for each document, the one that is kept for it. It chooses greedily over all documents, without
// components, keys or classes.
func (tr *truth) kept(threshold float64, longest bool) []int {
	order := make([]int, len(tr.documents))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &tr.documents[i], &tr.documents[j]
		if longest {
			return cmp.Compare(b.length, a.length)
		}
		return cmp.Compare(a.turn, b.turn)
	})
	kept := make([]int, len(order))
	var staying []int
	for i := range tr.references {
		kept[i] = i
		staying = append(staying, i)
	}
	for _, i := range order {
		if i < tr.references {
			continue
		}
		kept[i] = i
		best := threshold
		for _, j := range staying { // the most preferred comes first, so ties go to it
			if s := tr.similarity(i, j); s > best || s == best && kept[i] == i {
				kept[i], best = j, s
			}
		}
		if kept[i] == i {
			staying = append(staying, i)
		}
	}
	return kept
}

// likeReference returns the number of documents of the input that are near-duplicates of one of the reference.
func (tr *truth) likeReference(threshold float64) int64 {
	n := int64(0)
	for i := tr.references; i < len(tr.documents); i++ {
		for j := range tr.references {
			if tr.similarity(i, j) >= threshold {
				n++
				break
			}
		}
	}
	return n
}

// clusterRows returns the rows of clusters.
func (tr *truth) clusterRows(threshold float64, longest, star bool) []clusterRow {
	kept, cluster := tr.clusters(threshold, longest, star)
	root := tr.components(tr.edges(threshold))
	size := map[int]int{}
	var order []int
	for i, c := range cluster {
		size[c]++
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(root[i], root[j]), cmp.Compare(cluster[i], cluster[j]))
	})
	least, sum, gone := map[int]float64{}, map[int]float64{}, map[int]float64{}
	for _, i := range order {
		if c := cluster[i]; kept[i] != i {
			similarity := tr.similarity(i, kept[i])
			if gone[c] == 0 || similarity < least[c] {
				least[c] = similarity
			}
			sum[c] += similarity
			gone[c]++
		}
	}
	var rows []clusterRow
	for _, i := range order {
		if size[cluster[i]] > 1 {
			rows = append(rows, clusterRow{
				Cluster:    tr.documents[cluster[i]].name,
				ID:         tr.id(i),
				Ref:        tr.documents[i].ref,
				Kept:       kept[i] == i,
				Similarity: tr.similarityToKept(i, kept[i]),
				Size:       int64(size[cluster[i]]),
				Least:      least[cluster[i]],
				Mean:       math.Round(sum[cluster[i]]/gone[cluster[i]]*1e4) / 1e4,
				Reference:  i < tr.references,
			})
		}
	}
	return rows
}

// clusters returns, for each document, the document that is kept for it and the first of its cluster.
func (tr *truth) clusters(threshold float64, longest, star bool) (kept, cluster []int) {
	kept = tr.kept(threshold, longest)
	if !star {
		return kept, tr.components(tr.edges(threshold))
	}
	cluster = make([]int, len(kept))
	for i := range cluster {
		cluster[i] = slices.Index(kept, kept[i])
	}
	return kept, cluster
}

func (tr *truth) similarityToKept(i, kept int) float64 {
	if i == kept {
		return 1
	}
	return tr.similarity(i, kept)
}

// removedRows returns the rows of removed, by component, then by document.
func (tr *truth) removedRows(threshold float64, longest, star bool) []removedRow {
	kept, cluster := tr.clusters(threshold, longest, star)
	root := tr.components(tr.edges(threshold))
	var order []int
	for i := range kept {
		if kept[i] != i {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(root[i], root[j]) })
	rows := make([]removedRow, len(order))
	for n, i := range order {
		rows[n] = removedRow{
			ID:         tr.id(i),
			Ref:        tr.documents[i].ref,
			Cluster:    tr.documents[cluster[i]].name,
			KeptID:     tr.documents[kept[i]].name,
			Similarity: tr.similarity(i, kept[i]),
			Reference:  kept[i] < tr.references,
		}
	}
	return rows
}

// edgesAcross returns the pairs of documents that the output pairs must list if documents have sides. First holds the
// first document that is identical to each, and isNear says whether two of these are near each other, whatever their
// sides are. Two classes of identical documents have one row: of the first document of the earlier one and the first of
// the later one that is of another side, or else the other way round. Each document has a row with the first one of
// another side that is identical to it. If there is none, it has the row that an earlier identical one has with its
// first partner.
func (tr *truth) edgesAcross(first []int, isNear func(i, j int) bool) (edges [][2]int) {
	partner := map[int]int{} // the first one, of first documents
	add := func(a, b int) {
		edges = append(edges, [2]int{min(a, b), max(a, b)})
		for _, e := range [][2]int{{a, b}, {b, a}} {
			if known, has := partner[e[0]]; !has || e[1] < known {
				partner[e[0]] = e[1]
			}
		}
	}
	for j := range first {
		for i := range j {
			if first[i] != i || first[j] != j || !isNear(i, j) {
				continue
			}
			if b := tr.firstOther(first, j, i); b >= 0 {
				add(i, b)
			} else if a := tr.firstOther(first, i, j); a >= 0 {
				add(a, j)
			}
		}
	}
	for i := range first {
		if same := tr.firstOther(first, first[i], i); same >= 0 {
			edges = append(edges, [2]int{min(i, same), max(i, same)})
		} else if p, has := partner[first[i]]; has && first[i] != i {
			edges = append(edges, [2]int{min(i, p), max(i, p)})
		}
	}
	slices.SortFunc(edges, func(x, y [2]int) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	return slices.Compact(edges)
}

// firstOther returns the first document of a class that is not of the side of another document, -1 if there is none.
func (tr *truth) firstOther(first []int, class, than int) int {
	for i := range first {
		if first[i] == class && tr.documents[i].side != tr.documents[than].side {
			return i
		}
	}
	return -1
}
