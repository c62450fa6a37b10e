package fingerprints

import (
	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/sketch"
)

// Sequences is the kind of methods that look for passages: all shingles of a document, in the order of its one text.
const Sequences Name = "sequences"

func init() {
	Register(Kind{
		Name:        Sequences,
		HasShingles: true,
		New: func(o Options) (Maker, error) {
			sequencer, err := sketch.NewSequencer(o.Options, o.ExcludeQuotations)
			return &sequenceMaker{sequencer: sequencer}, err
		},
		Block:     func() Reader { return new(sequenceReader) },
		TimesRead: 12,
	})
}

type sequenceMaker struct {
	sequencer *sketch.Sequencer
	packed    []byte
}

func (m *sequenceMaker) Make(_ []byte, content corpus.Record) Fingerprint {
	d, sequence := m.sequencer.Sequence(content.Texts[0])
	m.packed = sketchblock.AppendSequence(m.packed[:0], sketchblock.Sequence(sequence))
	return Fingerprint{sketch.Fingerprint{Document: d}, sketchblock.Document{
		Digest:   d.Digest,
		Size:     len(d.Set),
		Sequence: m.packed,
	}}
}

type sequenceReader struct {
	set    []uint64
	sorter asmkernels.SetSorter
	packed []byte
}

func (r *sequenceReader) Read(c *Content, packed []byte) error {
	s, err := sketchblock.ParseSequence(sketchblock.Sequence(c.Sequence), packed)
	c.Sequence = sketch.Sequence(s)
	return err
}

func (r *sequenceReader) Shingles(c *Content) []uint64 {
	r.set = append(r.set[:0], c.Sequence.Shingles...)
	return r.sorter.Sort(r.set)
}

func (r *sequenceReader) Leave(d *sketchblock.Document, c *Content, own []uint64, common *sketch.Shingles) {
	left := c.Sequence
	left.LeaveOut(common, len(own) == 0)
	r.packed = sketchblock.AppendSequence(r.packed[:0], sketchblock.Sequence(left))
	d.Sequence = r.packed
}
