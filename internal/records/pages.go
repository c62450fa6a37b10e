package records

import (
	"bytes"
	"math"
	"slices"

	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
)

// Page is a document as a page of a site.
type Page struct {
	// Site and Path are hashes of the site's name and of the path on it.
	Site, Path uint64
	// Original is the hash of the name of another site, to which the page says that it belongs; 0 if it does not.
	Original uint64
	// Login says that the page asks for a password, and Start that it is the first page of its site.
	Login, Start bool
	// Language is its code in ISO 639, in small letters, two of them with a zero byte behind; zero if unknown.
	Language [3]byte
	// Markup is a sketch of the markup, nil for none: [MarkupSize] bytes.
	Markup []byte
	// Trace is a sketch of the text, nil for none: [TraceSize] bytes.
	Trace []byte
	// Address is the address as it is in the document, shorter than 64 KiB.
	Address []byte
}

// SplitPage is a page in the order of documents.
type SplitPage struct {
	Ref docref.Ref
	Page
}

// PageText is what a page says.
type PageText struct {
	Ref docref.Ref
	// Shown is the text that documents are compared by, and Contents all that the page contains, as a value of
	// package webtext; nil for a page that is text alone.
	Shown, Contents []byte
}

// ShardPage is a page at its output shard.
type ShardPage struct {
	Number Number
	Size   uint32
	Page
}

const MarkupSize = 32

// ReadShardPages returns the pages of an output shard, in no order.
func ReadShardPages(reader *runfile.Reader, pieces []runfile.Piece) ([]ShardPage, error) {
	packed, err := reader.ReadKind(nil, pieces, ShardPages)
	return slices.Collect(All[ShardPage](packed)), err
}

// Text is a document as a pipeline passes it on: its id, and the text that is compared.
type Text struct{ ID, Text string }

const TraceSize = 32

// Trace is a sketch of the text of a page, by which a later run knows the page again, even if some of its text has
// changed: the least shingle of each of 32 parts, a byte of it (one permutation hashing: Li, Owen, Zhang, 2012).
type Trace [TraceSize]byte

// TraceOf returns the trace of a set of shingles, in any order. A part without a shingle gets the shingle of the next
// part that has any (Shrivastava, Li, 2014).
func TraceOf(shingles []uint64) (t Trace) {
	var least [TraceSize]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, shingle := range shingles {
		part := shingle % TraceSize
		least[part] = min(least[part], shingle)
	}
	for i := range t {
		for away := range TraceSize {
			if shingle := least[(i+away)%TraceSize]; shingle != math.MaxUint64 {
				t[i] = byte(shingle/TraceSize) + byte(away)*37
				break
			}
		}
	}
	return t
}

// Similarity estimates the Jaccard similarity of two pages, with a standard error of at most .09.
func (t *Trace) Similarity(other *Trace) float64 {
	same := 0
	for i := range t {
		if t[i] == other[i] {
			same++
		}
	}
	const byChance = 1. / 256
	return max(0, (float64(same)/TraceSize-byChance)/(1-byChance))
}

// Traces are traces of different pages, ascending: a sample that the order of the pages does not change.
type Traces []Trace

const mostTraces = 16

// Add adds a trace if it is among the smallest.
func (s *Traces) Add(t *Trace) {
	at, found := slices.BinarySearchFunc(*s, *t, func(a, b Trace) int { return bytes.Compare(a[:], b[:]) })
	if at < mostTraces && !found {
		*s = slices.Insert(*s, at, *t)
		*s = (*s)[:min(len(*s), mostTraces)]
	}
}

// PageClass holds pages that are equal, and tells which other classes have copies of them.
type PageClass struct {
	ID     uint64
	Rarity int64
	// Sites counts the sites that have a page of the class or a copy of it.
	Sites    int64
	IsSpread bool // too many sites have it to be compared with each other
	Holdings []Holding
	Copies   []PageClassCopy
}

// Holding holds the pages of a class on one site, the first ones.
type Holding struct {
	Site  uint64
	Pages []ShardPage
}

// PageClassCopy leads to a class with copies of pages.
type PageClassCopy struct {
	Class      uint64
	Similarity float64
}
