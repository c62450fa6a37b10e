package sources

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Corpus is one of the two corpora of a job. Each has sources of its own.
type Corpus uint8

// The corpora of a job.
const (
	Input Corpus = iota
	Reference
	Corpora // how many there are
)

// CorpusOf returns the corpus of a document.
func CorpusOf(isReference bool) Corpus {
	if isReference {
		return Reference
	}
	return Input
}

// most returns the largest number of sources of a corpus.
func (c Corpus) most() int {
	if c == Reference {
		return MostReference
	}
	return MostInput
}

// Value is a value of a field that makes the documents that have it a source.
type Value struct {
	// Hash tells values apart.
	Hash uint64
	// Name is the value as tables show it.
	Name      string
	Documents int64
}

// compare orders values: the one with the most documents first, equal ones by name.
func (v Value) compare(other Value) int {
	return cmp.Or(cmp.Compare(other.Documents, v.Documents), strings.Compare(v.Name, other.Name), cmp.Compare(v.Hash, other.Hash))
}

// Others are the values that are not among the leading ones.
type Others struct {
	Values, Documents int64
}

// Leading finds the values of a field that most documents of a corpus have. However many values it sees, it takes
// little memory. The order in which it sees them does not matter.
type Leading struct {
	of     Corpus
	values []Value
	others Others
}

// LeadingOf returns a Leading without values.
func LeadingOf(corpus Corpus) *Leading { return &Leading{of: corpus} }

// Add takes in a value and all documents that have it.
func (l *Leading) Add(v Value) {
	if l.values = append(l.values, v); len(l.values) >= 2*l.of.most() {
		l.cut(l.of.most())
	}
}

// AddOthers takes in the values that another Leading has left out.
func (l *Leading) AddOthers(others Others) {
	l.others.Values += others.Values
	l.others.Documents += others.Documents
}

// Cut returns the leading values, as many as a corpus may have sources, and what is known of the others.
func (l *Leading) Cut() ([]Value, Others) {
	l.cut(l.of.most())
	return l.values, l.others
}

// cut leaves the given number of values.
func (l *Leading) cut(most int) {
	slices.SortFunc(l.values, Value.compare)
	for len(l.values) > most {
		last := len(l.values) - 1
		l.AddOthers(Others{Values: 1, Documents: l.values[last].Documents})
		l.values = l.values[:last]
	}
}

// Choice says which values of a field are sources.
type Choice struct {
	// Sources are the sources of the reference and then the sources of the input, each ordered by name. The documents with all
	// other values are the last source of their corpus.
	Sources []Source
	// Documents counts the documents of each source.
	Documents Tally
	// Numbers holds the sources by the hashes of their values. Rest is the source of all other documents.
	Numbers [Corpora]map[uint64]Number
	Rest    [Corpora]Number
}

// Choose makes the leading values of both corpora sources. One source of each is for all other values, if there are any.
func Choose(leading [Corpora]*Leading) *Choice {
	c := &Choice{}
	for _, corpus := range []Corpus{Reference, Input} {
		c.choose(leading[corpus])
	}
	return c
}

// choose adds the sources of a corpus.
func (c *Choice) choose(l *Leading) {
	values, others := l.Cut()
	if others.Values > 0 {
		l.cut(l.of.most() - 1)
		values, others = l.values, l.others
	}
	slices.SortFunc(values, func(a, b Value) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	c.Numbers[l.of] = make(map[uint64]Number, len(values))
	for _, v := range values {
		c.Numbers[l.of][v.Hash] = c.add(l.of, v.Name, v.Documents)
	}
	if others.Values > 0 {
		c.Rest[l.of] = c.add(l.of, othersName(others.Values), others.Documents)
	}
}

// add adds a source.
func (c *Choice) add(of Corpus, name string, documents int64) Number {
	number := Number(len(c.Sources))
	c.Sources = append(c.Sources, Source{Name: name, Reference: of == Reference})
	c.Documents.Add(number, documents)
	return number
}

// Number returns the source of the documents of a corpus that have a value, given its hash.
func (c *Choice) Number(of Corpus, hash uint64) Number {
	if number, isOne := c.Numbers[of][hash]; isOne {
		return number
	}
	return c.Rest[of]
}

// othersName is the name of the source for what is left of a corpus.
func othersName(n int64) string { return fmt.Sprintf("(%d others)", n) }
