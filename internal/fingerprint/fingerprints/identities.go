package fingerprints

import (
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/sketch"
)

// The kinds of methods that join documents which are the same, and no others. A block keeps a digest of the texts.
const (
	Bytes = Name(sketch.SameBytes)
	Words = Name(sketch.SameWords)
)

func init() {
	Register(identity(Bytes, "Their bytes are not the same, and --keys same-bytes joins no other documents."))
	Register(identity(Words,
		"Their words are not the same in the same order, and --keys same-words joins no other documents."))
}

func identity(name Name, unlike string) Kind {
	return Kind{
		Name: name,
		New: func(o Options) (Maker, error) {
			identifier, err := sketch.NewIdentifier(o.Options, sketch.Identity(name))
			return identityMaker{identifier}, err
		},
		Explain: Explanations{Same: "the same: they have one hash of 128 bits", Unlike: unlike},
	}
}

type identityMaker struct{ identifier *sketch.Identifier }

// Make identifies a document. Its text is its one element.
func (m identityMaker) Make(_ []byte, content corpus.Record) Fingerprint {
	d := m.identifier.Texts(content.Texts)
	var f Fingerprint
	f.Digest, f.Stored.Digest = d.Digest, d.Digest
	if !d.IsValid {
		f.InvalidBytes = 1
	}
	if !d.IsEmpty {
		f.Stored.Size = 1
	}
	return f
}
