package evaluation

import (
	"slices"

	"mirrorbeam/internal/ground/graphs"
)

// PairCounts says how listed pairs meet the true ones.
type PairCounts struct {
	// True pairs of documents, and how many of them were found: both are in one
	// class of identical documents, or a listed pair joins their classes.
	True  int64 `json:"true"`
	Found int64 `json:"found"`
	// Listed pairs, of classes of identical documents, and those which join no
	// true pair.
	Listed int64 `json:"listed"`
	Wrong  int64 `json:"wrong"`
	// Unknown are wrong pairs with a document that the truth does not name,
	// or both.
	Unknown int64 `json:"unknown"`
}

// Score returns recall, found of the true pairs, and precision, listed pairs
// that are not wrong of all listed; either is 1 where there is no pair.
func (c PairCounts) Score() Score {
	return newScore(share(c.Listed-c.Wrong, c.Listed), share(c.Found, c.True))
}

// Judge compares listed pairs with true ones. Where documents are identical only
// one of them needs to be in a listed pair; it stands for its class. It takes
// memory for the truth and the classes, none for the listed pairs.
type Judge struct {
	truth   *Truth
	classes graphs.Forest[Document]
	isNamed []bool                   // by class: the truth names a document of it
	known   graphs.Numbering[uint32] // the classes of true pairs
	listed  []bool                   // by number in known
	seen    PairCounts               // Listed, Wrong and Unknown so far
}

// NewJudge returns a judge. The classes of identical documents are as
// [Components] gives them, for all documents of the truth and any others.
func NewJudge(truth *Truth, classes graphs.Forest[Document]) *Judge {
	j := &Judge{truth: truth, classes: classes, isNamed: make([]bool, len(classes))}
	for document := range truth.Documents {
		j.isNamed[classes[document]] = true
	}
	for _, pair := range truth.Pairs {
		j.known.Add(j.classKey(pair.A, pair.B))
	}
	j.listed = make([]bool, len(j.known.Keys))
	return j
}

func (j *Judge) classKey(a, b Document) uint64 {
	a, b = j.classes[a], j.classes[b]
	return key(min(a, b), max(a, b))
}

// See takes in a listed pair and reports whether it is true. The pairs of two
// classes shall be listed once; only of right ones is a second not counted.
// Identical documents make no listed pair.
func (j *Judge) See(a, b Document) bool {
	at, known := j.known.Find(j.classKey(a, b))
	if !known {
		j.seen.Listed++
		j.seen.Wrong++
		if !j.isNamed[j.classes[a]] || !j.isNamed[j.classes[b]] {
			j.seen.Unknown++
		}
		return false
	}
	if !j.listed[at] {
		j.listed[at] = true
		j.seen.Listed++
	}
	return true
}

// SeeUnknown takes in a listed pair one of whose documents has no number, so
// that it is not true.
func (j *Judge) SeeUnknown() {
	j.seen.Listed++
	j.seen.Wrong++
	j.seen.Unknown++
}

// IsFound reports whether a true pair is found, after all listed pairs were
// seen.
func (j *Judge) IsFound(pair Pair) bool {
	if j.classes[pair.A] == j.classes[pair.B] {
		return true
	}
	at, _ := j.known.Find(j.classKey(pair.A, pair.B))
	return j.listed[at]
}

// Counts returns the counts, after all listed pairs were seen.
func (j *Judge) Counts() PairCounts {
	counts := j.seen
	counts.True = int64(len(j.truth.Pairs))
	for _, pair := range j.truth.Pairs {
		if j.IsFound(pair) {
			counts.Found++
		}
	}
	return counts
}

// JudgeClusters counts as listed every pair of documents that share a cluster.
// Labels are as for [Compare].
func JudgeClusters(truth *Truth, clusters []Document) PairCounts {
	counts := PairCounts{True: int64(len(truth.Pairs))}
	for _, pair := range truth.Pairs {
		if clusters[pair.A] == clusters[pair.B] {
			counts.Found++
		}
	}
	counts.Listed = sumPairs(sizes(clusters))
	// A true pair is one pair of documents.
	counts.Wrong = counts.Listed - counts.Found
	counts.Unknown = counts.Listed - sumPairs(sizes(clusters[:truth.Documents]))
	return counts
}

// Worst keeps the first of many items in an order, whatever order they come in.
type Worst[T any] struct {
	// Items are those kept, in order.
	Items []T

	limit   int
	compare func(a, b T) int
}

// NewWorst returns a list that keeps at most limit items.
func NewWorst[T any](limit int, compare func(a, b T) int) *Worst[T] {
	return &Worst[T]{limit: limit, compare: compare}
}

// Offer takes in an item if it is among the first.
func (w *Worst[T]) Offer(item T) {
	full := len(w.Items) == w.limit
	if w.limit == 0 || full && w.compare(item, w.Items[len(w.Items)-1]) >= 0 {
		return
	}
	if full {
		w.Items = w.Items[:len(w.Items)-1]
	}
	at, _ := slices.BinarySearchFunc(w.Items, item, w.compare)
	w.Items = slices.Insert(w.Items, at, item)
}
