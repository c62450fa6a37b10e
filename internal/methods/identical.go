package methods

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/sketch"
)

// init registers SameBytes and SameWords. The digest of a document is one half of a hash of its text, and its one key is
// the other: documents that share a key and have one digest are the same. Nothing else is compared.
func init() {
	Register(identical(SameBytes, sketch.SameBytes))
	Register(identical(SameWords, sketch.SameWords))
}

func identical(name Name, identity sketch.Identity) Method {
	return Method{
		Name:     name,
		Identity: identity,
		Reads:    ReadsBands,
		Keys: func(*Parameters) (func() Keys, error) {
			return func() Keys {
				return func(all []candidates.Record, d *Document) []candidates.Record {
					return candidates.AppendHashed(all, d.Record(), d.Bands)
				}
			}, nil
		},
		Crowds:  NeverWait,
		Scorer:  func(*Parameters) Scorer { return NoScorer },
		Promise: func(*Parameters) Promise { return Promise{Recall: 1, ByConstruction: true} },
	}
}
