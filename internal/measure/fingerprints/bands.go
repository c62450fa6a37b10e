package fingerprints

import (
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Bands makes the keys of the bands of MinHash signatures. It is not for concurrent use.
type Bands struct {
	scheme    lshbands.Scheme
	minhash   *sketch.MinHash
	signature []uint32
	keys      []uint64
}

// NewBands returns the Bands of a scheme. A scheme without bands makes no keys. The error says that the scheme is
// impossible.
func NewBands(scheme lshbands.Scheme) (*Bands, error) {
	minhash, err := sketch.NewMinHash(scheme.Components())
	if err != nil {
		return nil, err
	}
	return &Bands{scheme: scheme, minhash: minhash}, nil
}

// Of returns the keys of a set, one for each band. They are valid until the next call.
func (b *Bands) Of(set []uint64) []uint64 {
	b.signature = b.minhash.Signature(b.signature, set)
	b.keys = b.scheme.AppendKeys(b.keys[:0], b.signature)
	return b.keys
}
