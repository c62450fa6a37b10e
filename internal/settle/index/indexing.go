package index

import (
	"io"
	"iter"

	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Kind says what an index holds, and what can be looked up in it.
type Kind struct {
	// Config identifies the configuration of the index.
	Config string
	// Seed is the seed of the documents' measure.
	Seed uint64
	// Threshold is the least similarity that a query finds.
	Threshold float64
	// Bits, if above 0, makes an index of SimHash fingerprints of that length, in which a query finds fingerprints up
	// to Distance away. With 0 the index holds full sets.
	Bits, Distance int
	// Blocks are the blocks of the permuted tables of these; empty: as [lshbands.PlanTables] chooses them.
	Blocks []int
}

// Corpus says where the documents of an index come from.
type Corpus struct {
	// StopWords is the list of stop words as the user wrote it, empty if there is none.
	StopWords string
	// Ignored are the shingles of base texts, packed as in a sketch block and ascending; empty for none.
	Ignored []byte
	// Common are the shingles that have been taken out of all documents of the job, packed in the same way; empty for none.
	Common []byte
	// References is the number of files of the reference, which are the first of all.
	References int
	// AreIntegers says that ids are whole numbers, and that no other documents share them.
	AreIntegers bool
	// Files are the files of the documents. The first has the number FirstFile.
	FirstFile int
	Files     []corpus.File
}

// CorpusBuilder takes the documents of an index.
type CorpusBuilder interface {
	// Add adds the documents of a block that lies on a desk. SetsPiece has their sets.
	Add(w *work.Desk, block *sketchblock.Block, setsPiece runfile.Piece) error
	// Close writes the rest.
	Close() error
}

// New returns a builder of an index, which passes the bytes of its file to write. The documents must come in document order.
// The error is that there are no tables for the bits and the distance.
func (k Kind) New(c Corpus, write func([]byte) error) (CorpusBuilder, error) {
	header := Header{
		Sketch: sketch.Version, Unicode: sketch.UnicodeVersion, Config: k.Config, Threshold: k.Threshold,
		StopWords: c.StopWords, Ignored: c.Ignored, Common: c.Common, References: c.References, FirstFile: c.FirstFile, AreIntegers: c.AreIntegers,
	}
	for i := range c.Files {
		header.Files = append(header.Files, c.Files[i].Name)
		if c.Files[i].Members == nil {
			continue
		}
		if header.Members == nil {
			header.Members = map[int][]string{}
		}
		for _, member := range c.Files[i].Members {
			header.Members[i] = append(header.Members[i], member.Name)
		}
	}
	if k.Bits == 0 {
		x := &sets{Builder: NewBuilder(header, write, newTable)}
		if len(c.Common) > 0 {
			x.digester = sketch.NewDigester(k.Seed)
		}
		return x, nil
	}
	tables, err := lshbands.PlanTables(k.Bits, k.Distance, k.Blocks...)
	if err != nil {
		return nil, err
	}
	header.Bits, header.Distance, header.Blocks = tables.Bits(), tables.Distance(), tables.Blocks()
	return fingerprints{NewFingerprintBuilder(header, write, newTable, tables.Tables(), KeysOf(&header, tables))}, nil
}

// KeysOf returns the keys of fingerprints in the tables of an index with that header.
func KeysOf(header *Header, tables *lshbands.Permuted) KeyOf {
	if header.IsNumbered() {
		return func(table int, fingerprint []uint64, number int) uint64 {
			return NumberedKey(tables.Prefix(table, fingerprint), tables.PrefixBits(table), number)
		}
	}
	return func(table int, fingerprint []uint64, _ int) uint64 {
		var permuted [1]uint64
		tables.Permute(table, permuted[:], fingerprint)
		return permuted[0]
	}
}

func newTable(keys iter.Seq[uint64]) (io.WriterTo, error) { return lshbands.NewTable(keys) }

// sets is an index of full sets.
type sets struct {
	*Builder
	// digester, if not nil, makes the digests of the index anew: common shingles are out of the sets, and not out of the
	// digests. A query has no others.
	digester *sketch.Digester
	hashes   []uint64
}

// Add adds the documents of a block.
func (x *sets) Add(w *work.Desk, block *sketchblock.Block, setsPiece runfile.Piece) error {
	packed, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(packed) {
		d := Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: set}
		if x.digester != nil && len(set) > 0 {
			x.hashes = sketchblock.AppendSet(x.hashes[:0], set)
			d.Digest = x.digester.Set(x.hashes)
		}
		if err := x.Builder.Add(d); err != nil {
			return err
		}
	}
	return nil
}

// fingerprints is an index of SimHash fingerprints.
type fingerprints struct{ *FingerprintBuilder }

// Add adds the documents of a block, and needs no sets.
func (x fingerprints) Add(_ *work.Desk, block *sketchblock.Block, _ runfile.Piece) error {
	var fingerprint []uint64
	for i := range block.Len() {
		fingerprint = block.SimHash(fingerprint[:0], i)
		d := Fingerprinted{
			Ref: block.Ref(i), ID: block.ID(i), Fingerprint: fingerprint, IsEmpty: block.Size(i) == 0, Digest: block.Digest(i)[0],
		}
		if err := x.FingerprintBuilder.Add(d); err != nil {
			return err
		}
	}
	return nil
}
