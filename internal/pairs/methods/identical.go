package methods

import (
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
)

// init registers SameBytes and SameWords. A digest is a hash of the text, and documents of one digest are the same.
func init() {
	why := "changes words; {keys} same-bytes compares bytes, {keys} same-words words"
	Register(identical(SameBytes, fingerprints.Bytes, "of the same bytes",
		Refusal{Setting: "code", Why: why}, Refusal{Setting: "normalize", Why: why}, Refusal{
			Setting: "stopwords",
			Why:     why,
		},
		Refusal{Setting: "tokens", IfGiven: true, Why: why}))
	Register(identical(SameWords, fingerprints.Words, "of the same words in the same order"))
	none := identical(None, fingerprints.Bytes, "")
	none.Keys = func(*Parameters) (func() Keys, error) {
		return func() Keys { return func(all []candidates.Record, _ *Document) []candidates.Record { return all } }, nil
	}
	none.Tell = func(*Told) string { return "documents are not compared with each other" }
	Register(none)
}

func identical(name Name, kind fingerprints.Name, same string, refuses ...Refusal) Method {
	by := "{keys} " + string(name)
	makesNone := "is about shingles, and " + by + " makes none; leave it out"
	return Method{
		Name:         name,
		Fingerprints: kind,
		Refuses: append(refuses,
			Refusal{Setting: "features", Why: by + " compares texts; leave it out"},
			Refusal{
				Setting: "threshold",
				IfGiven: true,
				Why:     "with " + by + " two texts are the same or not; leave it out",
			},
			Refusal{Setting: "shingle", IfGiven: true, Why: makesNone},
			Refusal{Setting: "ignore", Why: makesNone},
			Refusal{Setting: "min_shingles", Why: makesNone},
			Refusal{Setting: "stopwords_use", Why: makesNone},
			Refusal{Setting: "verify", Why: by + " rests on the whole texts; leave it out"},
			Refusal{Setting: "audit", But: []string{"off"}, Why: "with " + by + " no pair can be missed; leave it out"},
		),
		Keys: func(*Parameters) (func() Keys, error) {
			return func() Keys { return AppendDigest }, nil
		},
		OversizedGroups: NeverWait,
		Scorer: func(p *Parameters) Scorer {
			s := bySets(p)
			s.Reads = Nothing
			return s
		},
		Promise: func(*Parameters) Promise { return Promise{Recall: 1, ByConstruction: true} },
		Tell:    func(*Told) string { return "documents " + same + " are joined, and no others" },
	}
}
