// Package evaluation measures how well near-duplicates that were found agree with known ones: pair by pair ([Judge])
// and cluster by cluster ([Compare]).
//
// [Documents] gives numbers to the names of documents.
package evaluation

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/util/quoting"
)

// Score is how much of what was found is true and how much of what is true was found, each from 0 to 1.
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

// share returns part/whole, 1 where there is nothing: of no pairs none is wrong and none was missed.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Document is the number of a document, from 0.
type Document uint32

// Documents gives numbers to the names of documents, from 0 in the order in which they come. The zero value is not
// usable: see [NewDocuments].
type Documents struct {
	numbers map[string]Document
	names   []string
}

// NewDocuments returns no documents.
func NewDocuments() *Documents { return &Documents{numbers: map[string]Document{}} }

// Add returns the number of a document, a new one where the name is new. Like [graphs.Numbering.Add] it panics if there
// is no number for it: 2^32 names fill hundreds of gigabytes first.
func (d *Documents) Add(name string) Document {
	number, known := d.numbers[name]
	if !known {
		number = graphs.Next[Document](len(d.names))
		d.numbers[name], d.names = number, append(d.names, name)
	}
	return number
}

// Find returns the number of a document, if it has one.
func (d *Documents) Find(name string) (number Document, found bool) {
	number, found = d.numbers[name]
	return number, found
}

// Name returns the name of a document.
func (d *Documents) Name(number Document) string { return d.names[number] }

func (d *Documents) Len() int { return len(d.names) }

// Pair is two documents, the one with the smaller number first.
type Pair struct {
	A, B Document
	// Similarity is not a number where it is not known.
	Similarity float64
}

// Components joins the documents of each pair, directly and through others, of n documents in all, and returns for each
// the smallest number among those that it is joined to.
func Components(n int, pairs []Pair) graphs.Forest[Document] {
	forest := graphs.NewForest[Document](n)
	for _, pair := range pairs {
		forest.Union(pair.A, pair.B)
	}
	forest.Flatten()
	return forest
}

// Truth is what is known of some documents.
type Truth struct {
	// Documents is how many it names, also on lines that do not count. Their numbers come first where the truth is read
	// first.
	Documents int
	// Pairs are the near-duplicates, each once, in the order of the file.
	Pairs []Pair
	// Below is the number of lines whose similarity is below the threshold.
	Below int64
}

// ReadTruth reads a truth file: a line for each pair, two names of documents and perhaps their similarity, with tabs
// between them. What is in further fields, empty lines and those that start with # are left out. A line with a
// similarity below the threshold says that its pair is none. A pair that occurs more than once, either way round, is
// one, of the largest of its similarities. The names are bytes: they are taken for what rows of results call these
// documents, see [quoting.AppendText].
//
// Documents get their numbers from documents. Errors name the file as given and the line.
func ReadTruth(file string, lines iter.Seq2[[]byte, error], threshold float64, documents *Documents) (*Truth, error) {
	truth := &Truth{}
	var known graphs.Numbering[uint32]
	var nameA, nameB []byte
	number := 0
	for line, err := range lines {
		if err != nil {
			return nil, err
		}
		number++
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		a, b, similarity, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		nameA, nameB = quoting.AppendText(nameA[:0], a), quoting.AppendText(nameB[:0], b)
		pair := newPair(documents.Add(string(nameA)), documents.Add(string(nameB)), similarity)
		if similarity < threshold {
			truth.Below++
			continue
		}
		if at, isNew := known.Add(key(pair.A, pair.B)); isNew {
			truth.Pairs = append(truth.Pairs, pair)
		} else if earlier := &truth.Pairs[at].Similarity; math.IsNaN(*earlier) || similarity > *earlier {
			*earlier = similarity
		}
	}
	truth.Documents = documents.Len()
	return truth, nil
}

func newPair(a, b Document, similarity float64) Pair {
	return Pair{min(a, b), max(a, b), similarity}
}

// key makes one number of two; which comes first counts.
func key(a, b Document) uint64 { return uint64(a)<<32 | uint64(b) }

// parseLine takes a line of a truth file apart. The similarity is not a number where the line has none.
func parseLine(line []byte) (a, b []byte, similarity float64, err error) {
	a, rest, found := bytes.Cut(line, []byte{'\t'})
	if !found {
		return nil, nil, 0, fmt.Errorf("one field, %.64q, where two ids with a tab between them are needed", line)
	}
	b, rest, hasSimilarity := bytes.Cut(rest, []byte{'\t'})
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, 0, errors.New("an id is empty")
	}
	if bytes.Equal(a, b) {
		return nil, nil, 0, fmt.Errorf("a pair of %.64q with itself", a)
	}
	if !hasSimilarity {
		return a, b, math.NaN(), nil
	}
	third, _, _ := bytes.Cut(rest, []byte{'\t'})
	similarity, err = strconv.ParseFloat(string(third), 64)
	if err != nil || math.IsNaN(similarity) {
		return nil, nil, 0, fmt.Errorf(
			"the third field, %.64q, is no similarity such as 0.85; if the line is a heading, put # before it",
			third)
	}
	return a, b, similarity, nil
}
