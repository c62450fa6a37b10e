package fingerprints

import (
	"encoding/binary"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/sketch"
)

// Given is the kind of jobs that get the fingerprints of documents from another program, in a field of their records.
// The columns of a block hold them as they hold the SimHash fingerprints of texts.
const Given Name = "given"

func init() {
	Register(Kind{
		Name:       Given,
		HasColumns: true,
		New: func(o Options) (Maker, error) {
			return &givenMaker{digester: sketch.NewDigester(o.Measure.Seed)}, nil
		},
		Explain: Explanations{Same: "the same: their fingerprints are equal"},
	})
}

type givenMaker struct {
	digester *sketch.Digester
	packed   []byte
	element  [1]uint64
}

// Make passes the fingerprint on. It is the one element of its document.
func (m *givenMaker) Make(_ []byte, content corpus.Record) (f Fingerprint) {
	m.packed = m.packed[:0]
	for _, word := range content.SimHash {
		m.packed = binary.LittleEndian.AppendUint64(m.packed, word)
	}
	f.Digest, f.SimHash = m.digester.Texts(m.packed), content.SimHash
	m.element[0] = f.Digest[0] >> (64 - asmkernels.ElementBits)
	f.Set = m.element[:]
	f.Stored = sketchblock.Document{Digest: f.Digest, Size: 1, SimHash: f.SimHash}
	return f
}
