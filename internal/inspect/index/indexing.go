package index

import (
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Builder writes an index. It is not for concurrent use.
type Builder struct {
	taker
	bits        int
	common      *sketch.Stripper // takes the common shingles out of sets; nil: there are none
	digester    *sketch.Digester
	hashes      []uint64
	fingerprint []uint64
	own         []byte
}

// taker takes the documents of an index. Close writes the rest.
type taker interface {
	Add(d Document) error
	Close() error
}

// New returns a builder of an index, which passes the bytes of its file to write. The documents must come in document
// order. The header has everything but segments; its blocks may be empty: then they are as [lshbands.PlanTables]
// chooses them. The seed is the one of the documents' measure. The error is that there are no tables for the bits and
// the distance.
func New(header Header, seed uint64, write func([]byte) error) (*Builder, error) {
	b := &Builder{bits: header.Bits, digester: sketch.NewDigester(seed)}
	var err error
	if b.common, err = header.Stripper(header.Bits); err != nil {
		return nil, err
	}
	if header.Bits == 0 {
		b.taker = newSetBuilder(writer{header: header, write: write})
		return b, nil
	}
	tables, err := lshbands.PlanTables(header.Bits, header.Distance, header.Blocks...)
	if err != nil {
		return nil, err
	}
	header.Blocks = tables.Blocks()
	b.taker = &fingerprintBuilder{
		writer:           writer{header: header, write: write},
		tables:           tables,
		segmentDocuments: segmentDocuments,
	}
	return b, nil
}

// Stripper returns what takes the common shingles out of sets, and makes fingerprints of the rest if bits is above 0.
// It is nil if there are no common shingles.
func (h *Header) Stripper(bits int) (*sketch.Stripper, error) {
	if len(h.Common) == 0 {
		return nil, nil
	}
	common, err := documents.SharedShingles(h.Common)
	if err != nil {
		return nil, err
	}
	return sketch.NewStripper(common, bits)
}

// AddBlock adds the documents of a block. Their sets are in setsPiece, which an index of fingerprints reads only if
// common shingles are to be taken out of them.
func (b *Builder) AddBlock(w *work.TaskContext, block *sketchblock.Block, setsPiece runfile.Piece) error {
	if b.bits > 0 && b.common == nil {
		for i := range block.Len() {
			if err := b.add(block, i, nil); err != nil {
				return err
			}
		}
		return nil
	}
	packed, err := w.ReadPiece(1, setsPiece)
	if err != nil {
		return err
	}
	for i, set := range block.Sets(packed) {
		if err := b.add(block, i, set); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) add(block *sketchblock.Block, i int, set []byte) error {
	d := Document{Ref: block.Ref(i), ID: block.ID(i), Digest: block.Digest(i), Set: set}
	switch {
	case b.common != nil:
		b.hashes = sketchblock.AppendSet(b.hashes[:0], set)
		own, simhash := b.common.Strip(b.hashes)
		if len(own) > 0 {
			d.Digest, d.Fingerprint = b.digester.Set(own), simhash
		}
		b.own = sketchblock.AppendPacked(b.own[:0], own)
		d.Set = b.own
	case b.bits > 0 && block.Size(i) > 0:
		b.fingerprint = block.SimHash(b.fingerprint[:0], i)
		d.Fingerprint = b.fingerprint
	}
	return b.Add(d)
}
