package pipeline

import (
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/sketch"
)

// bag is a kind of fingerprint of the test: the words of a document, whatever their order. This and the method that
// names it are all there is of it.
const bag = "bag"

func init() {
	sets, err := fingerprints.Of(fingerprints.Sets)
	if err != nil {
		panic(err)
	}
	fingerprints.Register(fingerprints.Kind{
		Name:        bag,
		HasShingles: true,
		Block:       sets.Block,
		New: func(o fingerprints.Options) (fingerprints.Maker, error) {
			return bagMaker{sketch.NewDigester(o.Measure.Seed)}, nil
		},
	})
	methods.Register(methods.Method{
		Name:         bag,
		Fingerprints: bag,
		Reads:        methods.ReadsContent,
		Keys: func(*methods.Parameters) (func() methods.Keys, error) {
			return func() methods.Keys {
				return func(all []candidates.Record, d *methods.Document) []candidates.Record {
					return candidates.AppendHashed(all, d.Record(), d.Set)
				}
			}, nil
		},
	})
}

type bagMaker struct{ digester *sketch.Digester }

func (m bagMaker) Make(_ []byte, content corpus.Record) (f fingerprints.Fingerprint) {
	for _, word := range naiveTokens(string(content.Texts[0]), true) {
		f.Set = append(f.Set, xxh3.HashString(word)>>16)
	}
	slices.Sort(f.Set)
	f.Set = slices.Compact(f.Set)
	if f.Digest = m.digester.Set(f.Set); len(f.Set) == 0 {
		f.Digest = m.digester.Texts(content.Texts...)
	}
	f.Stored = sketchblock.Document{Digest: f.Digest, Size: len(f.Set), Set: f.Set}
	return f
}

// TestRegisteredFingerprint: a kind of fingerprint that is registered goes through a whole job, and its pairs are
// explained.
func TestRegisteredFingerprint(t *testing.T) {
	t.Parallel()
	files := cut(oddities(92), 3)
	config := byKeys(testConfig(t, putCorpus(t, plain, files...)), bag)
	runJob(t, config)
	tr := naiveTruth(1, true, files...)
	want := tr.pairRows(config.Threshold)
	got := readRows[pairRow](t, config.Output, output.Pairs)
	sameRows(t, "pairs", got, want)
	if usual := naiveTruth(3, true, files...).pairRows(config.Threshold); len(want) < 20 || len(want) == len(usual) {
		t.Errorf("%d pairs have the same words, and %d the same shingles: that tells little", len(want), len(usual))
	}
	folder, err := finished.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range want[:5] {
		x, err := explain.Explain(t.Context(), folder, row.A, row.B, false, difference.Brief())
		if err != nil {
			t.Fatal(err)
		}
		if x.Similarity == nil || x.Similarity.Jaccard != row.Jaccard || x.Similarity.Same != row.Identical ||
			x.Keys == nil || x.Keys.Shared == nil || *x.Keys.Shared == 0 {
			t.Errorf("%+v is explained with %+v and %+v", row, x.Similarity, x.Keys)
		}
	}
}
