// Package fingerprints holds the kinds of fingerprints of documents. A [Kind] is one thing in one file. It says how a
// fingerprint is made, where it is in a sketch block, and what it tells of two documents. The method of a job says
// which kind it needs. A kind takes part once it is registered.
package fingerprints

import (
	"fmt"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Name names a kind.
type Name string

// Kind is a kind of fingerprint. Name and New are required.
type Kind struct {
	Name Name
	// New returns a maker of such fingerprints. The error says what is wrong with the options.
	New func(o Options) (Maker, error)

	// HasShingles says that the elements are shingles or features: they have a least number, and some may not count.
	HasShingles bool
	// HasColumns says that a sketch block has columns for band keys and SimHash fingerprints.
	HasColumns bool
	// Block returns a reader of what a block holds of documents in addition to its columns; nil: nothing.
	Block func() Reader
	// TimesRead is how many times the size of its packed content a document takes while the content is in use. The zero
	// value is the value of content which is no larger when it is read.
	TimesRead int64

	// Explain says what a fingerprint tells of two documents. The zero value leaves that to their sets.
	Explain Explanations
}

// Options say how fingerprints are made.
type Options struct {
	sketch.Options
	Fields corpus.Fields
	// Scheme is the scheme of the band keys. Without bands there are none.
	Scheme lshbands.Scheme
	// Keep returns what a block keeps of a set, in the memory of the set; nil keeps all.
	Keep func(set []uint64) []uint64
	// ExcludeQuotations leaves quoted words out of sequences.
	ExcludeQuotations bool
}

// Maker makes fingerprints of one kind. It is not for concurrent use.
type Maker interface {
	// Make makes the fingerprint of a document, given its record as the file has it and the content of the record. The
	// fingerprint is valid until the next call. It is of no use if the budget of the options is spent.
	Make(raw []byte, content corpus.Record) Fingerprint
}

// Fingerprint is the fingerprint of a document.
type Fingerprint struct {
	// Fingerprint holds the digest and the counts, and the whole set of a kind that has shingles.
	sketch.Fingerprint
	// Stored is what a block keeps: only its Digest, Size, Set, Sequence, Keys and SimHash are filled in.
	Stored sketchblock.Document
}

// Content is what a block holds of a document in addition to its columns: one of the two.
type Content struct {
	// Set holds the distinct shingle hashes, ascending.
	Set []uint64
	// Sequence are the shingles in the order of the text.
	Sequence sketch.Sequence
}

// Reader reads the content of documents again. It is not for concurrent use.
type Reader interface {
	// Read reads packed content into the memory of c.
	Read(c *Content, packed []byte) error
	// Shingles returns the distinct shingles of c, ascending. They are valid until the next call.
	Shingles(c *Content) []uint64
	// Leave puts into d what a block holds of c without common shingles. Own are the distinct shingles that are left.
	Leave(d *sketchblock.Document, c *Content, own []uint64, common *sketch.Shingles)
}

// Explanations are texts about two documents, each the rest of a sentence or a sentence.
type Explanations struct {
	// Same says what equal digests mean, as in "They are …".
	Same string
	// Unlike says that documents of different digests are never a pair.
	Unlike string
}

var registered = map[Name]*Kind{}

// Register adds a kind when the program starts. It panics if there is one of the same name: a programmer's mistake.
func Register(k Kind) {
	if registered[k.Name] != nil {
		panic(fmt.Sprintf("fingerprints: %s is there twice", k.Name))
	}
	registered[k.Name] = &k
}

// Of returns the kind of that name. No name stands for [Sets].
func Of(name Name) (*Kind, error) {
	if name == "" {
		name = Sets
	}
	if k := registered[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("fingerprints %s: there is no such kind", name)
}
