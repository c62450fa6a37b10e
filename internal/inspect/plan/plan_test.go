package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// TestSmallCorpusIsCounted: what a plan says of a corpus that is no larger than its samples is true: nothing is
// estimated.
func TestSmallCorpusIsCounted(t *testing.T) {
	s := newScene(t, 1, 300)
	a := makePlan(t, s.config)
	all := s.pairs(s.fits)
	asked := makePlan(t, s.chooses(func(m *job.Measure) { m.Bands, m.Rows = 8, 2 }))
	if c, want := asked.Choices[asked.Chosen],
		s.pairs(s.shareBand(asked.Bands)); c.Candidates != float64(len(want)) || c.CandidatesError != 0 ||
		c.CandidatesLow != c.Candidates || c.CandidatesHigh != c.Candidates || len(want) < 100 {
		t.Errorf("%v: %g candidates with an error of %g, want %d", c.Scheme, c.Candidates, c.CandidatesError, len(want))
	}
	shingles, wordless := 0, int64(0)
	for _, f := range s.prints {
		if shingles += len(f.Set); len(f.Set) == 0 {
			wordless++
		}
	}
	facts := *a.Corpus
	want := Facts{
		Documents:        300,
		Bytes:            s.bytes,
		Shingles:         facts.Shingles,
		Wordless:         wordless,
		Identical:        float64(s.identical()),
		Pairs:            atLeast(all, 0.5),
		SampledDocuments: 300,
		SampledBytes:     s.bytes,
		DocumentShare:    1,
		Preset:           "titles",
		Looks:            "about 201 of 300 documents have fewer than 40 shingles: one more word at an end makes a near-duplicate",
	}
	if facts != want || !near(facts.Shingles*300, float64(shingles)) {
		t.Errorf("facts\n%+v, want\n%+v and %d shingles", facts, want, shingles)
	}
	if wordless == 0 || want.Identical == 0 || want.Pairs < 50 {
		t.Errorf("%+v tells little", want)
	}

	if chosen := &a.Choices[a.Chosen]; chosen.Keys != methods.All || chosen.Flags != "" {
		t.Errorf("a small corpus is compared by %+v", chosen)
	}
	c := choice(t, a, methods.All)
	if c.Candidates != float64(len(all)) || c.Missed != 0 || c.Probability != 1 || c.CandidatesError != 0 {
		t.Errorf("all pairs: %+v, want %d candidates", c, len(all))
	}
	if e := a.Estimate; e == nil || !near(e.CPUSeconds, leastCPUSeconds+float64(s.bytes)/gb*cpuSecondsPerGB) ||
		e.TempBytes < float64(s.bytes)/gb*tempBytesPerGB ||
		!near(e.Requests, leastRequests+float64(s.bytes)/gb*requestsPerGB) || c.TempBytes != e.TempBytes ||
		c.MemoryBytes < processMemory {
		t.Errorf("the job takes %+v, the choice %+v", e, c)
	}

	for i := range a.Choices {
		c := &a.Choices[i]
		switch c.Keys {
		case methods.MinHash:
			met := s.pairs(s.shareBand(c.Scheme))
			missed := 0.
			for _, similarity := range all {
				if similarity >= 0.5 {
					missed += 1 - c.Scheme.Probability(similarity)
				}
			}
			// Of choices with many keys, that nobody asks for, a plan looks at a part of the records.
			if off := math.Abs(c.Candidates - float64(len(met))); off > 5*c.CandidatesError ||
				!near(c.Missed, missed) || c.Probability != c.Scheme.Probability(0.5) {
				t.Errorf("%v: %g candidates with an error of %g, %g missed, want %d and %g", c.Scheme, c.Candidates,
					c.CandidatesError, c.Missed, len(met), missed)
			}
			usual := a.Estimate.TempBytes
			keyed := float64(s.bytes)/gb*sketchBytesPerGB + 300*8*float64(c.Scheme.Bands) + c.Bytes
			if c.KeysPerDocument != float64(c.Scheme.Bands) || !near(c.TempBytes, max(usual, keyed)) {
				t.Errorf("%v: %g keys a document, %g bytes of temporary files, want %g", c.Scheme, c.KeysPerDocument,
					c.TempBytes, max(usual, keyed))
			}
		case methods.Exact:
			// A prefix filter brings all pairs at the threshold together, and no pair that the sizes rule out.
			if c.Candidates < facts.Pairs || c.Candidates > float64(len(all)) || c.Missed != 0 || c.Probability != 1 {
				t.Errorf("exact: %+v, want from %g to %d candidates", c, facts.Pairs, len(all))
			}
			order := lshbands.NewCounters(shingles)
			for _, f := range s.prints {
				order.Add(f.Set)
			}
			prefix, err := lshbands.NewPrefixKeys(0.5)
			if err != nil {
				t.Fatal(err)
			}
			keys := 0
			for _, f := range s.prints {
				if len(f.Set) > 0 {
					keys += len(prefix.Of(f.Set, order.AppendFrequencies(nil, f.Set)))
				}
			}
			if c.KeysPerDocument <= 0 || !near(c.KeysPerDocument*float64(300-wordless), float64(keys)) {
				t.Errorf("exact: %g keys a document, want %d for %d documents", c.KeysPerDocument, keys, 300-wordless)
			}
		}
	}
}

// TestReference: documents of the reference are counted apart, and pairs of two of them are no candidates.
func TestReference(t *testing.T) {
	s, known := newScene(t, 3, 150), newScene(t, 4, 100)
	c := s.chooses(func(m *job.Measure) { m.Reference = known.config.Input })
	a := makePlan(t, c)
	want := len(s.pairs(s.fits))
	for i := range s.distinct {
		for j := range known.distinct {
			if s.fits(&s.distinct[i], &known.distinct[j]) {
				want++
			}
		}
	}
	if got := choice(t, a, methods.All).Candidates; got != float64(want) {
		t.Errorf("%g candidates, want %d", got, want)
	}
	if f := a.Corpus; f.Documents != 150 || f.ReferenceDocuments != 100 || f.Bytes != s.bytes+known.bytes {
		t.Errorf("facts %+v", f)
	}
}

// TestRanking: the choices are ranked by cost, those that fit first, and the marked ones are what they are said to be.
func TestRanking(t *testing.T) {
	s := newScene(t, 5, 200)
	for name, c := range map[string]Config{
		"usual":     s.config,
		"exact":     s.chooses(func(m *job.Measure) { m.Keys = methods.Exact }),
		"recall":    s.chooses(func(m *job.Measure) { m.Recall = 0.9 }),
		"bands":     s.chooses(func(m *job.Measure) { m.Bands, m.Rows = 5, 4 }),
		"memory":    {Input: s.config.Input, Measure: s.config.Measure, Memory: 20_000},
		"no memory": {Input: s.config.Input, Measure: s.config.Measure, Memory: 1},
		"few bands": {Documents: 1 << 20, Measure: s.chooses(func(m *job.Measure) { m.Bands, m.Rows = 2, 6 }).Measure},
		"no input":  {Documents: 1 << 20, Measure: s.config.Measure},
	} {
		t.Run(name, func(t *testing.T) {
			a := makePlan(t, c)
			for i := range a.Choices[1:] {
				if a.Choices[i].compare(&a.Choices[i+1]) > 0 {
					t.Errorf("choice %d is ranked before a better one", i)
				}
			}
			seen := map[string]bool{}
			for i, choice := range a.Choices {
				if (choice.Flags == "") != (i == a.Chosen) || choice.Flags != "" && seen[choice.Flags] {
					t.Errorf("choice %d of %d has the flags %q", i, a.Chosen, choice.Flags)
				}
				seen[choice.Flags] = true
				if (choice.MemoryBytes == 0) != (len(c.Input) == 0) {
					t.Errorf("choice %d takes %g bytes of memory", i, choice.MemoryBytes)
				}
				if choice.Fits != (c.Memory == 0 || choice.Bytes <= float64(c.Memory)) {
					t.Errorf("choice %d of %g bytes fits: %v", i, choice.Bytes, choice.Fits)
				}
			}
			config := c.config()
			recall := config.PromisedRecall()
			if a.Chosen >= 0 {
				recall = min(recall, a.Choices[a.Chosen].Probability)
			}
			best := slices.IndexFunc(a.Choices, func(other Choice) bool {
				return other.Fits && other.Probability >= recall
			})
			if a.Best != best {
				t.Errorf("choice %d is the best, want %d", a.Best, best)
			}
			if a.Chosen < 0 {
				return
			}
			chosen := a.Choices[a.Chosen]
			if i := a.Cheaper; i >= 0 && a.Choices[i].Saving(&chosen) <= 0 {
				t.Errorf("%+v is not cheaper than %+v", a.Choices[i], chosen)
			}
			if i := a.Safer; i >= 0 && a.Choices[i].Probability < chosen.Probability {
				t.Errorf("%+v is not safer than %+v", a.Choices[i], chosen)
			}
		})
	}
}

// TestCurve: the curve has the probabilities of its scheme, and all pairs that share a key, each for as many as share
// none.
func TestCurve(t *testing.T) {
	s := newScene(t, 6, 250)
	a := makePlan(t, s.chooses(func(m *job.Measure) { m.Bands, m.Rows = 8, 2 }))
	met := s.pairs(s.shareBand(a.Bands))
	if a.Bands != (lshbands.Scheme{Bands: 8, Rows: 2}) || len(a.Curve) != curveSteps+1 || len(met) < 50 {
		t.Fatalf("a curve of %v with %d points, %d pairs", a.Bands, len(a.Curve), len(met))
	}
	told := 0
	for i, p := range a.Curve {
		if p.Similarity != float64(i)/curveSteps || p.Probability != a.Bands.Probability(p.Similarity) ||
			i > 0 && p.Probability < a.Curve[i-1].Probability {
			t.Errorf("point %d is %+v", i, p)
		}
		if (p.Pairs == nil) != (p.Probability < tellingProbability) {
			t.Errorf("point %d: probability %g, pairs %v", i, p.Probability, p.Pairs)
		}
		if p.Pairs == nil {
			continue
		}
		want := 0.
		for _, similarity := range met {
			if int(similarity*curveSteps) == i {
				want += 1 / a.Bands.Probability(similarity)
			}
		}
		if told += int(want); !near(*p.Pairs, want) {
			t.Errorf("from %g on: %g pairs, want %g", p.Similarity, *p.Pairs, want)
		}
	}
	if told < 50 {
		t.Errorf("%d pairs tell little", told)
	}
}

// TestRefused: a plan that cannot be made fails with an error of its kind, which names what is wrong.
func TestRefused(t *testing.T) {
	good := newScene(t, 8, 20).config
	mixed := store(t, `{"text":"a b c"}`+"\n{\n"+`{"text":"a b c d"}`+"\n[]\n")
	with := func(input string, change func(*Config)) Config {
		c := Default()
		c.Input = []string{input}
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, c := range []struct {
		name   string
		config Config
		kind   failure.Kind
		want   []string
	}{
		{"nothing", Default(), failure.Usage, []string{"input: give at least one file"}},
		{
			"too much", with("x", func(c *Config) { c.Documents = 5 }), failure.Usage,
			[]string{"documents 5: the documents of input are counted"},
		},
		{
			"all at once",
			Config{Documents: -1, Measure: with("", func(c *Config) { c.Threshold = 2 }).Measure},
			failure.Usage,
			[]string{"documents -1", "threshold 2"},
		},
		{
			"all pairs", with("x", func(c *Config) { c.Keys = methods.All }), failure.Usage,
			[]string{"keys all: compares all pairs"},
		},
		{
			"tables", with("x", func(c *Config) { c.Keys, c.Score = methods.SimHash, methods.Jaccard }), failure.Usage,
			[]string{"score jaccard: SimHash candidates"},
		},
		{
			"no pairs", with("x", func(c *Config) { c.Keys = methods.SameWords }), failure.Usage,
			[]string{"keys same-words: compares no pair"},
		},
		{"no threshold", with("x", func(c *Config) { c.Threshold = 2 }), failure.Usage, []string{"threshold 2"}},
		{"no file", with(good.Input[0]+"x", nil), failure.Input, []string{"in.jsonlx"}},
		{
			"no stop words", with(good.Input[0], func(c *Config) { c.StopWords = good.Input[0] + "x" }), failure.Usage,
			[]string{"in.jsonlx"},
		},
		{
			"rejects", with(mixed, func(c *Config) { c.MaxRejects = 1 }), failure.Input,
			[]string{
				"2 records could not be read, max_rejects allows 1",
				"the first is at in.jsonl:17: malformed JSON",
			},
		},
		{
			"no record", with(store(t, "{\n[]\n"), nil), failure.Input,
			[]string{"no document in the input, 2 records could not be read: the first is at in.jsonl:0"},
		},
		{
			"empty", with(store(t, "\n"), nil), failure.Input,
			[]string{"no document in the input: there is nothing to plan for"},
		},
	} {
		a, err := Make(t.Context(), c.config)
		if a != nil || !errors.Is(err, c.kind) {
			t.Errorf("%s: error %v, want one of %s", c.name, err, c.kind)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", c.name, err, want)
			}
		}
	}
	if a := makePlan(t, with(mixed, func(c *Config) { c.MaxRejects = 2 })); a.Corpus.Rejected != 2 ||
		a.Corpus.Documents != 2 {
		t.Errorf("facts %+v, want 2 rejects", *a.Corpus)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Make(ctx, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestFewLongDocuments: if no document of a corpus of few long ones is in the sample, the corpus is read once more.
func TestFewLongDocuments(t *testing.T) {
	var content strings.Builder
	random := rand.New(rand.NewPCG(26, 1))
	for range 2 {
		content.WriteString(`{"text":"`)
		for range 500_000 {
			fmt.Fprintf(&content, "w%d ", random.IntN(600))
		}
		content.WriteString("\"}\n")
	}
	config := Default()
	config.Input = []string{store(t, content.String())}
	advice, err := Make(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if facts := advice.Corpus; facts.SampledDocuments != 2 || facts.Shingles < 1000 {
		t.Errorf("%+v: want both documents", *facts)
	}
}
