package index

import (
	"io"
	"iter"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Kind says what an index holds, and what can be looked up in it.
type Kind struct {
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
	// Common are the shingles that do not count because very many documents have them, packed in the same way; empty for
	// none. The builder takes them out of the documents.
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
	// Add adds the documents of a block. SetsPiece has their sets.
	Add(w *work.TaskContext, block *sketchblock.Block, setsPiece runfile.Piece) error
	// Close writes the rest.
	Close() error
}

// New returns a builder of an index, which passes the bytes of its file to write. The documents must come in document order.
// The error is that there are no tables for the bits and the distance.
func (k Kind) New(c Corpus, write func([]byte) error) (CorpusBuilder, error) {
	header := Header{
		Threshold: k.Threshold, StopWords: c.StopWords, Ignored: c.Ignored, Common: c.Common, References: c.References, FirstFile: c.FirstFile, AreIntegers: c.AreIntegers,
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
	var common stripper
	if len(c.Common) > 0 {
		shingles, err := documents.SharedShingles(c.Common)
		if err != nil {
			return nil, err
		}
		if common.Stripper, err = sketch.NewStripper(shingles, k.Bits); err != nil {
			return nil, err
		}
	}
	if k.Bits == 0 {
		return &sets{Builder: NewBuilder(header, write, newTable), stripper: common, digester: sketch.NewDigester(k.Seed)}, nil
	}
	tables, err := lshbands.PlanTables(k.Bits, k.Distance, k.Blocks...)
	if err != nil {
		return nil, err
	}
	header.Bits, header.Distance, header.Blocks = tables.Bits(), tables.Distance(), tables.Blocks()
	return &fingerprints{
		FingerprintBuilder: NewFingerprintBuilder(header, write, newTable, tables.Tables(), KeysOf(&header, tables)),
		stripper:           common,
	}, nil
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

// stripper takes the common shingles out of sets. Without a [sketch.Stripper] there are none.
type stripper struct {
	*sketch.Stripper
	hashes []uint64
}

// strip returns what is left of a packed set, and its fingerprint.
func (s *stripper) strip(packed []byte) (own, simhash []uint64) {
	s.hashes = sketchblock.AppendSet(s.hashes[:0], packed)
	return s.Strip(s.hashes)
}

// sets is an index of full sets.
type sets struct {
	*Builder
	stripper
	digester *sketch.Digester
	own      []byte
}

// Add adds the documents of a block.
func (x *sets) Add(w *work.TaskContext, block *sketchblock.Block, setsPiece runfile.Piece) error {
	packed, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(packed) {
		d := Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: set}
		if x.Stripper != nil {
			own, _ := x.strip(set)
			if len(own) > 0 {
				d.Digest = x.digester.Set(own)
			}
			x.own = sketchblock.AppendPacked(x.own[:0], own)
			d.Set = x.own
		}
		if err := x.Builder.Add(d); err != nil {
			return err
		}
	}
	return nil
}

// fingerprints is an index of SimHash fingerprints.
type fingerprints struct {
	*FingerprintBuilder
	stripper
}

// Add adds the documents of a block. It reads their sets only if common shingles are to be taken out of them.
func (x *fingerprints) Add(w *work.TaskContext, block *sketchblock.Block, setsPiece runfile.Piece) error {
	if x.Stripper != nil {
		packed, err := w.ReadPiece(1, setsPiece)
		if err != nil {
			return err
		}
		for i, set := range block.Sets(packed) {
			own, simhash := x.strip(set)
			if err := x.add(block, i, simhash, len(own) == 0); err != nil {
				return err
			}
		}
		return nil
	}
	var fingerprint []uint64
	for i := range block.Len() {
		fingerprint = block.SimHash(fingerprint[:0], i)
		if err := x.add(block, i, fingerprint, block.Size(i) == 0); err != nil {
			return err
		}
	}
	return nil
}

func (x *fingerprints) add(block *sketchblock.Block, i int, fingerprint []uint64, isEmpty bool) error {
	return x.FingerprintBuilder.Add(Fingerprinted{
		Ref:         block.Ref(i),
		ID:          block.ID(i),
		Fingerprint: fingerprint,
		IsEmpty:     isEmpty,
		Digest:      block.Digest(i)[0],
	})
}
