package work

import (
	"cmp"
	"slices"
	"strings"
)

// Texts counts the documents of the input that are records with fields, and the ones whose text is likely to be
// in another field.
type Texts struct {
	Records int64
	// Empty counts texts without any character but white space.
	Empty int64
	// Addresses counts texts that are an address on the web and nothing else.
	Addresses int64
	// Short counts texts with fewer than ShortText distinct shingles.
	Short int64
}

// ShortText is the number of distinct shingles below which a text is short. It is a verse, a headline, a
// title. A few words more or less at its end make a near-duplicate that may be about something else.
const ShortText = 40

// Add adds other to t.
func (t *Texts) Add(other Texts) {
	t.Records += other.Records
	t.Empty += other.Empty
	t.Addresses += other.Addresses
	t.Short += other.Short
}

// Template is a cluster whose documents may have little in common but a template.
type Template struct {
	// Cluster is the name of the cluster, Documents the number of its documents.
	Cluster   string
	Documents int64
	// Mean and Least are the mean and the smallest similarity of its removed documents to the kept ones.
	Mean, Least float64
}

// Compare orders templates, the one with the most documents first.
func (t Template) Compare(other Template) int {
	return cmp.Or(cmp.Compare(other.Documents, t.Documents), strings.Compare(t.Cluster, other.Cluster))
}

// LargeCluster is a cluster and two of its documents.
type LargeCluster struct {
	// Name is the name of the cluster, Documents the number of its documents.
	Name      string
	Documents int64
	// A is its first document, and B the first that is not identical to it. B is empty if all are.
	A, B string
}

// Compare orders clusters, the one with the most documents first.
func (c LargeCluster) Compare(other LargeCluster) int {
	return cmp.Or(cmp.Compare(other.Documents, c.Documents), strings.Compare(c.Name, other.Name))
}

// Bridge is a cluster that would fall into two large parts without one pair.
type Bridge struct {
	// Cluster is the name of the cluster, Documents the number of its documents.
	Cluster   string
	Documents int64
	// Part is the number of documents in the smaller part.
	Part int64
	// A and B are the documents of the pair.
	A, B string
}

// Compare orders bridges, the one with the largest smaller part first.
func (b Bridge) Compare(other Bridge) int {
	return cmp.Or(cmp.Compare(other.Part, b.Part), strings.Compare(b.Cluster, other.Cluster))
}

const mostWorst = 10

// Worst counts clusters of a kind and names the first ten in their order. It is the same whatever the order in which
// they are added.
type Worst[T interface{ Compare(T) int }] struct {
	Count int64
	Named []T
}

// Add adds a cluster.
func (w *Worst[T]) Add(one T) {
	w.AddAll(Worst[T]{Count: 1, Named: []T{one}})
}

// AddAll adds the clusters of other.
func (w *Worst[T]) AddAll(other Worst[T]) {
	w.Count += other.Count
	for _, one := range other.Named {
		at, _ := slices.BinarySearchFunc(w.Named, one, func(a, b T) int { return a.Compare(b) })
		if at < mostWorst {
			w.Named = slices.Insert(w.Named, at, one)
			w.Named = w.Named[:min(len(w.Named), mostWorst)]
		}
	}
}

// RepeatedIDs says how many documents of the input share their id with another one. [Counts] says how many ids these are.
type RepeatedIDs struct {
	// Documents is the number of documents.
	Documents int64
	// Example is two of them, if there are any: the first in document order, and the next one with its id.
	Example IDExample
}

// IDExample is two documents with one id.
type IDExample struct {
	// At orders examples: it is the place of the first document among all.
	At uint64
	// First and Second are the documents, as path:position.
	First, Second string
}

// Add adds other to r. It keeps the first example, so that the order does not matter.
func (r *RepeatedIDs) Add(other RepeatedIDs) {
	if r.Documents == 0 || other.Documents > 0 && other.Example.At < r.Example.At {
		r.Example = other.Example
	}
	r.Documents += other.Documents
}
