package methods

import "mirrorbeam/internal/measure/fingerprints"

// init registers SameBytes and SameWords. The digest of a document is a hash of its text: documents of one digest are the
// same. Nothing else is compared.
func init() {
	Register(identical(SameBytes, fingerprints.Bytes))
	Register(identical(SameWords, fingerprints.Words))
}

func identical(name Name, kind fingerprints.Name) Method {
	return Method{
		Name:         name,
		Fingerprints: kind,
		Keys: func(*Parameters) (func() Keys, error) {
			return func() Keys { return AppendDigest }, nil
		},
		Crowds: NeverWait,
		Scorer: func(p *Parameters) Scorer {
			s := bySets(p)
			s.Reads = Nothing
			return s
		},
		Promise: func(*Parameters) Promise { return Promise{Recall: 1, ByConstruction: true} },
	}
}
