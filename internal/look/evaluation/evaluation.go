// Package evaluation measures how well near-duplicates that were found agree
// with known ones: pair by pair ([Judge]) and cluster by cluster ([Compare]).
//
// [Documents] gives numbers to the names of documents.
package evaluation

import (
	"mirrorbeam/internal/ground/graphs"
)

// Score is how much of what was found is true and how much of what is true was
// found, each from 0 to 1.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// F1 is the harmonic mean of both, 0 where both are 0.
	F1 float64 `json:"f1"`
}

func newScore(precision, recall float64) Score {
	s := Score{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		s.F1 = 2 * precision * recall / (precision + recall)
	}
	return s
}

// share returns part/whole, 1 where there is nothing: of no pairs none is wrong
// and none was missed.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Document is the number of a document, from 0.
type Document uint32

// Documents gives numbers to the names of documents, from 0 in the order in
// which they come. The zero value is not usable: see [NewDocuments].
type Documents struct {
	numbers map[string]Document
	names   []string
}

// NewDocuments returns no documents.
func NewDocuments() *Documents { return &Documents{numbers: map[string]Document{}} }

// Add returns the number of a document, a new one where the name is new. Like [graphs.Numbering.Add] it panics if there is no
// number for it: 2^32 names fill hundreds of gigabytes first.
func (d *Documents) Add(name string) Document {
	if number, known := d.numbers[string(name)]; known {
		return number
	}
	number, kept := graphs.Next[Document](len(d.names)), string(name)
	d.numbers[kept] = number
	d.names = append(d.names, kept)
	return number
}

// Find returns the number of a document, if it has one.
func (d *Documents) Find(name string) (number Document, found bool) {
	number, found = d.numbers[string(name)]
	return number, found
}

// Name returns the name of a document.
func (d *Documents) Name(number Document) string { return d.names[number] }

// Len returns how many documents have numbers.
func (d *Documents) Len() int { return len(d.names) }

// Pair is two documents, the one with the smaller number first.
type Pair struct {
	A, B Document
	// Similarity is not a number where it is not known.
	Similarity float64
}

// Components joins the documents of each pair, directly and through others, of n
// documents in all, and returns for each the smallest number among those that it
// is joined to.
func Components(n int, pairs []Pair) graphs.Forest[Document] {
	forest := graphs.NewForest[Document](n)
	for _, pair := range pairs {
		forest.Union(pair.A, pair.B)
	}
	forest.Flatten()
	return forest
}
