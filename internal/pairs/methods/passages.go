package methods

import (
	"fmt"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
)

// PassageWords is the number of words that a key covers, unless the user chooses another or a shingle has more. Shorter
// passages occur in too many unrelated documents.
const PassageWords = 6

// refusedByPassages are the settings that containment has no use for.
var refusedByPassages = []Refusal{
	{
		Setting: "keys",
		Why:     "is for {similarity} jaccard: with containment documents are brought together by passages",
	},
	{Setting: "bands", Why: "is for {similarity} jaccard"},
	{Setting: "rows", Why: "is for {similarity} jaccard"},
	{
		Setting: "recall",
		Why:     "is for {similarity} jaccard; docs/how-to/containment.md says which passages are found",
	},
	{Setting: "keep", IfGiven: true, Why: "is about clusters, which {similarity} containment has none of"},
	{Setting: "split", IfGiven: true, Why: "is about clusters, which {similarity} containment has none of"},
	{Setting: "drop", IfGiven: true, Why: "is about clusters, which {similarity} containment has none of"},
	{Setting: "score", Why: "is for {similarity} jaccard"},
	{Setting: "verify", Why: "{similarity} containment needs the whole texts of exact"},
	{Setting: "audit", But: []string{"off"}, Why: "is for {similarity} jaccard"},
	{
		Setting: "features",
		Why: "with {similarity} containment passages are looked for in texts; " +
			"name a field with {text_field}",
	},
	{
		Setting: "weight",
		Why: "with {similarity} containment a passage has a place in one text; " +
			"name its field with {text_field}",
	},
	{
		Setting: "stopwords_use",
		Why:     "leaves holes in passages; with {similarity} containment only remove can be used",
	},
}

// init registers Passages. Its keys are hashes of passages that winnowing selects. Every run of words that is long
// enough shares a key with every copy of it. Shorter runs share one with less probability.
func init() {
	Register(Method{
		Name:         Passages,
		Similarity:   Containment,
		Fingerprints: fingerprints.Sequences,
		Reads:        ReadsContent,
		DigestFirst:  true,
		Keys: func(p *Parameters) (func() Keys, error) {
			combined := p.PassageShingles()
			return func() Keys { return (&passageKeys{passages: fingerprints.NewPassages(combined)}).append }, nil
		},
		Called: "{similarity} containment",
		Owns: []Refusal{
			{Setting: "excerpt", IfGiven: true},
			{Setting: "no_quotations"},
			{Setting: "passage"},
			{Setting: "rarity"},
		},
		Refuses:         refusedByPassages,
		Load:            Load{Text: 4, Memory: 5},
		OversizedGroups: ToStars,
		Scorer:          func(p *Parameters) Scorer { return Scorer{Reads: Texts, IsExact: p.Verify == VerifyExact} },
		Promise: func(p *Parameters) Promise {
			return Promise{ByConstruction: true, Words: fingerprints.PassageRun(max(p.passageWords(), p.Shingle))}
		},
		Tell: func(t *Told) string {
			return fmt.Sprintf(
				"documents that share %d words in a row are always compared; shorter overlaps sometimes", t.Words)
		},
	})
}

type passageKeys struct {
	passages *fingerprints.Passages
	keys     []uint64
}

// append appends the records of one document: one by its digest, which brings identical documents together, and one for
// each of its keys. Each of these holds the previous key too, so that two documents that share both meet once.
func (k *passageKeys) append(all []candidates.Record, d *Document) []candidates.Record {
	all = AppendDigest(all, d)
	k.keys = k.passages.AppendKeys(k.keys[:0], &d.Sequence)
	all = slices.Grow(all, len(k.keys)) // a list that grows would leave as much behind
	r := d.Record()
	// The first key has no previous one, so it gets a value that no other document has.
	r.Previous[0] = candidates.PreviousOf(asmkernels.SplitMix(uint64(d.Ref)))
	for _, r.Key = range k.keys {
		all = append(all, r)
		r.Previous[0] = candidates.PreviousOf(r.Key)
	}
	return all
}
