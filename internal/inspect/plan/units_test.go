package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// TestMoreTakesMoreMemory: no amount makes a process smaller, and each takes some; more shards make it smaller.
func TestMoreTakesMoreMemory(t *testing.T) {
	base := load{splits: 4, shards: 8, lanes: 4, records: 1e6, documents: 1e6}
	for name, change := range map[string]func(*load){
		"bytes":        func(l *load) { l.bytes += 1e6 },
		"documents":    func(l *load) { l.documents += 1e6 },
		"ordered":      func(l *load) { l.ordered += 1e6 },
		"records":      func(l *load) { l.records += 1e6 },
		"gathered":     func(l *load) { l.gathered += 1e6 },
		"probed":       func(l *load) { l.probed += 1e6 },
		"edges":        func(l *load) { l.edges += 1e6 },
		"fewer shards": func(l *load) { l.shards = 4 },
		"fewer splits": func(l *load) { l.splits = 3; l.lanes = 5; l.documents *= 2 },
	} {
		more := base
		if change(&more); more.memory() <= base.memory() {
			t.Errorf("%s: %g bytes, without it %g", name, more.memory(), base.memory())
		}
	}
}

// TestExpectedAbove compares with the mean of many draws.
func TestExpectedAbove(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, mean := range []float64{-3, -1, 0, 0.5, 4} {
		for _, deviation := range []float64{0, 0.5, 2} {
			const draws = 200_000
			sum := 0.
			for range draws {
				sum += max(mean+deviation*random.NormFloat64(), 0)
			}
			if got, want := expectedAbove(mean, deviation), sum/draws; math.Abs(got-want) > 0.02 {
				t.Errorf("mean %g, deviation %g: %g, want %g", mean, deviation, got, want)
			}
		}
	}
}

// randomSample makes documents of a sample. Shingles below 100 are common.
func randomSample(random *rand.Rand, n int) (all []sample.Document) {
	for range n {
		set := map[uint64]bool{}
		for range 5 + random.IntN(40) {
			shingle := random.Uint64N(1 << 48)
			if random.IntN(2) == 0 {
				shingle = random.Uint64N(100)
			}
			set[shingle] = true
		}
		d := sample.Document{Hash: random.Uint64() >> 1, Copies: 1 + random.IntN(3)}
		for shingle := range set {
			d.Set = append(d.Set, shingle)
		}
		slices.Sort(d.Set)
		all = append(all, d)
	}
	return all
}

// TestSharing: the shingles that only one document has are counted by documents and by copies.
func TestSharing(t *testing.T) {
	all := randomSample(rand.New(rand.NewPCG(3, 4)), 60)
	owners := map[uint64]int{}
	for _, d := range all {
		for _, shingle := range d.Set {
			owners[shingle] += d.Copies
		}
	}
	got, uniques, total := newSharing(all), 0., 0.
	for i, d := range all {
		unique := 0
		for _, shingle := range d.Set {
			if owners[shingle] == 1 {
				unique++
			}
		}
		// Two shingles may share a cell of the counter. Then neither is known to be unique.
		if got.unique[i] > unique || got.unique[i] < unique-2 {
			t.Errorf("document %d has %d unique shingles, want %d", i, got.unique[i], unique)
		}
		uniques, total = uniques+float64(got.unique[i]*d.Copies), total+float64(len(d.Set)*d.Copies)
	}
	if !near(got.shared(), 1-uniques/total) || uniques < 100 || got.all != total {
		t.Errorf("a share of %g is shared, want %g", got.shared(), 1-uniques/total)
	}
	if none := newSharing(nil); none.shared() != 1 || none.all != 0 {
		t.Errorf("of nothing: %+v", none)
	}
}

// TestExactKeys: the estimate is between no keys and a whole prefix. More copied documents have more keys, and all of
// them have whole prefixes.
func TestExactKeys(t *testing.T) {
	all := randomSample(rand.New(rand.NewPCG(5, 6)), 200)
	shingles, longest, copies := 0., 0., 0.
	const threshold = 0.6
	for _, d := range all {
		shingles += float64(len(d.Set) * d.Copies)
		longest += float64(lshbands.PrefixLength(threshold, len(d.Set)) * d.Copies)
		copies += float64(d.Copies)
	}
	for _, share := range []float64{1, 0.5, 1. / 64} {
		last := 0.
		for _, copied := range []float64{0, 0.3, 0.9, 1} {
			keys := exactKeys(all, share, threshold, shingles/share, copied)
			if keys < last || keys == 0 || keys > longest/copies*(1+1e-9) {
				t.Errorf("share %g, copied %g: %g keys a document, after %g, at most %g", share, copied, keys, last,
					longest/copies)
			}
			last = keys
		}
		if !near(last, longest/copies) {
			t.Errorf("share %g: all documents are copied, and have %g keys, want %g", share, last, longest/copies)
		}
	}
}

// TestOptions: no way is listed twice. The one of the configuration needs no flags, and the flags of each other way ask
// for just that way.
func TestOptions(t *testing.T) {
	for _, change := range []func(*job.Config){
		func(*job.Config) {},
		func(c *job.Config) { c.Keys = methods.Exact },
		func(c *job.Config) { c.Keys = methods.MinHash },
		func(c *job.Config) { c.Recall, c.Threshold = 0.9, 0.3 },
		func(c *job.Config) { c.Bands, c.Rows = 4, 4 },
		func(c *job.Config) { c.Rows = 2 },
		func(c *job.Config) { c.Keys, c.Recall = methods.MinHash, 0.99999 },
	} {
		config := job.Default()
		change(&config)
		o, err := listOptions(&config)
		if err != nil {
			t.Fatal(err)
		}
		seen, chosen := map[keying]bool{}, 0
		for _, option := range o.all {
			if seen[option.keying] {
				t.Errorf("%+v is listed twice", option)
			}
			if seen[option.keying] = true; option.keying == o.chosen {
				chosen++
			}
			if (option.flags == "") != (option.keying == o.chosen) {
				t.Errorf("%+v has the flags %q", option.keying, option.flags)
			}
			if asked := withFlags(t, config, option.flags); asked != option.keying {
				t.Errorf("the flags %q of %+v ask for %+v", option.flags, option.keying, asked)
			}
		}
		if chosen != 1 || !seen[keying{keys: methods.Exact}] || !seen[keying{keys: methods.All}] {
			t.Errorf("options %+v", o.all)
		}
		for _, step := range o.steps {
			if !seen[step] {
				t.Errorf("the step %+v is no option", step)
			}
			for _, recall := range recalls {
				between, err := lshbands.Plan(config.Threshold, recall, lshbands.Scheme{Rows: o.base.Rows})
				if n := between.Bands; err == nil && step.scheme.Bands > 0 &&
					(n-o.base.Bands)*(n-step.scheme.Bands) < 0 {
					t.Errorf("between %v and the step to %v is %v", o.base, step.scheme, between)
				}
			}
		}
		// A corpus that is small enough is compared by all pairs, unless exact keys were asked for.
		o.settle(&config, methods.SmallCorpus)
		isAll := config.Keys == methods.Auto && config.Method() == methods.Exact
		if (o.chosen.keys == methods.All) != isAll {
			t.Errorf("%s: a small corpus is compared by %+v", config.Keys, o.chosen)
		}
		for _, option := range o.all {
			if (option.flags == "") != (option.keying == o.chosen) {
				t.Errorf("of a small corpus, %+v has the flags %q", option.keying, option.flags)
			}
		}
	}
	config := job.Default()
	o, err := listOptions(&config)
	if err != nil {
		t.Fatal(err)
	}
	if o.settle(&config, methods.SmallCorpus+1); o.chosen.keys != methods.Exact {
		t.Errorf("a larger corpus is compared by %+v", o.chosen)
	}
}

// withFlags returns the keys of a configuration to which flags were added that replace others of keys.
func withFlags(t *testing.T, config job.Config, flags string) keying {
	t.Helper()
	if flags != "" {
		config.Recall, config.Bands, config.Rows = 0, 0, 0
	}
	words := strings.Fields(flags)
	for i := 0; i < len(words); i += 2 {
		var err error
		switch words[i] {
		case "--keys":
			config.Keys = methods.Name(words[i+1])
		case "--recall":
			_, err = fmt.Sscan(words[i+1], &config.Recall)
		case "--bands":
			_, err = fmt.Sscan(words[i+1], &config.Bands)
		case "--rows":
			_, err = fmt.Sscan(words[i+1], &config.Rows)
		default:
			t.Fatalf("flags %q", flags)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	k := keying{keys: config.Method()}
	if k.keys != methods.MinHash {
		return k
	}
	var err error
	if k.scheme, err = lshbands.Plan(config.Threshold, config.PromisedRecall(), lshbands.Scheme{
		Bands: config.Bands,
		Rows:  config.Rows,
	}); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestHotGroups: only large groups are named, by a document of theirs.
func TestHotGroups(t *testing.T) {
	inputs := documents.Inputs{Files: []corpus.File{{Name: "a"}}}
	estimate := sample.Estimate{Groups: []sample.Group{
		{Documents: leastHotGroup - 1, Candidates: 9, Example: 1}, {
			Documents:  leastHotGroup,
			Candidates: 8,
			Example:    77,
			Dense:      true,
		},
	}}
	got := hotGroups(&inputs, estimate)
	if want := []HotGroup{{Documents: leastHotGroup, Candidates: 8, Example: "a:77", Dense: true}}; !slices.Equal(got,
		want) {
		t.Errorf("heaps %+v, want %+v", got, want)
	}
}

// TestLargerCorpusIsSampled: all documents of a larger corpus are counted, and some are fingerprinted. What these say
// of the others is about true.
func TestLargerCorpusIsSampled(t *testing.T) {
	if testing.Short() {
		t.Skip("a corpus of some megabytes")
	}
	s := newScene(t, 9, 20_000)
	a := makePlan(t, s.config)
	shingles := 0.
	for _, f := range s.prints {
		shingles += float64(len(f.Set))
	}
	facts := a.Corpus
	if facts.Documents != 20_000 || facts.Bytes != s.bytes || facts.SampledDocuments >= 15_000 ||
		facts.SampledDocuments < 5000 {
		t.Errorf("facts %+v", facts)
	}
	if got := facts.Shingles * 20_000; got < 0.9*shingles || got > 1.1*shingles {
		t.Errorf("%g shingles, want about %g", got, shingles)
	}
}
