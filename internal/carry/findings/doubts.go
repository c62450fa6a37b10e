package findings

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
	// First and Second are the documents, as path:position. They are empty if there is no example.
	First, Second string
}

// merge keeps the first example.
func (e *IDExample) merge(from any) {
	if other := from.(IDExample); other.First != "" && (e.First == "" || other.At < e.At) {
		*e = other
	}
}

// mostWorst is how many clusters of a kind are named.
const mostWorst = 10

// Worst counts clusters of a kind and names the first ten in their order. It is the same whatever the order in which
// they are added.
type Worst[T interface{ Compare(T) int }] struct {
	Count int64
	Named []T
}

// Add adds a cluster.
func (w *Worst[T]) Add(one T) { w.merge(Worst[T]{Count: 1, Named: []T{one}}) }

// merge adds the clusters of another task.
func (w *Worst[T]) merge(from any) {
	other := from.(Worst[T])
	w.Count += other.Count
	for _, one := range other.Named {
		w.Named = insert(w.Named, one, mostWorst)
	}
}

// insert inserts an item at its place if it is among the first.
func insert[T interface{ Compare(T) int }](all []T, one T, most int) []T {
	at, _ := slices.BinarySearchFunc(all, one, T.Compare)
	all = slices.Insert(all, at, one)
	return all[:min(len(all), most)]
}
