package fingerprints

import (
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Sets is the kind of methods that compare sets of shingles, or of features. Band keys and SimHash fingerprints follow
// from the set, and are made while it is in the cache.
const Sets Name = "sets"

func init() {
	Register(Kind{
		Name:        Sets,
		HasShingles: true,
		HasColumns:  true,
		New: func(o Options) (Maker, error) {
			bands, err := NewBands(o.Scheme)
			if err != nil {
				return nil, err
			}
			fingerprinter, err := sketch.NewFingerprinter(o.Options)
			return &setMaker{
				fingerprinter: fingerprinter,
				bands:         bands,
				fields:        o.Fields,
				budget:        o.Budget,
				keep:          o.Keep,
			}, err
		},
		Block: func() Reader { return setReader{} },
	})
}

type setMaker struct {
	fingerprinter *sketch.Fingerprinter
	bands         *Bands
	fields        corpus.Fields
	budget        *sketch.Budget
	keep          func([]uint64) []uint64
	features      []sketch.Feature
}

func (m *setMaker) Make(raw []byte, content corpus.Record) Fingerprint {
	d := m.sketch(raw, content)
	if m.budget.Err() != nil {
		return Fingerprint{}
	}
	f := Fingerprint{Fingerprint: d}
	f.Stored = sketchblock.Document{
		Digest:  d.Digest,
		Size:    len(d.Set),
		Set:     d.Set,
		Keys:    m.bands.Of(d.Set),
		SimHash: d.SimHash,
	}
	if m.keep != nil {
		f.Stored.Set = m.keep(d.Set)
	}
	return f
}

func (m *setMaker) sketch(raw []byte, content corpus.Record) sketch.Fingerprint {
	if m.fields.Features == "" {
		return m.fingerprinter.Texts(content.Texts)
	}
	m.features = m.features[:0]
	for _, feature := range content.Features {
		m.features = append(m.features, sketch.Feature(feature))
	}
	if m.fields.Beside {
		return m.fingerprinter.TextsAndFeatures(content.Texts, m.features)
	}
	return m.fingerprinter.Features(m.features, raw)
}

type setReader struct{}

func (setReader) Read(c *Content, packed []byte) error {
	c.Set = sketchblock.AppendSet(c.Set[:0], packed)
	return nil
}

func (setReader) Shingles(c *Content) []uint64 { return c.Set }

func (setReader) Leave(d *sketchblock.Document, _ *Content, own []uint64, _ *sketch.Shingles) {
	d.Set = own
}

// Bands makes the keys of the bands of MinHash signatures. It is not for concurrent use.
type Bands struct {
	scheme    lshbands.Scheme
	minhash   *sketch.MinHash
	signature []uint32
	keys      []uint64
}

// NewBands returns the Bands of a scheme, without bands no keys. The error says that the scheme is impossible.
func NewBands(scheme lshbands.Scheme) (*Bands, error) {
	minhash, err := sketch.NewMinHash(scheme.Components())
	if err != nil {
		return nil, err
	}
	return &Bands{scheme: scheme, minhash: minhash}, nil
}

// Of returns the keys of a set, one for each band. They are valid until the next call.
func (b *Bands) Of(set []uint64) []uint64 {
	b.signature = b.minhash.SignatureOfHashes(b.signature, set)
	b.keys = b.scheme.AppendKeys(b.keys[:0], b.signature)
	return b.keys
}
