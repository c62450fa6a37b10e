package sketch

import (
	"errors"
	"strings"
	"testing"
)

// TestBudget: what a document becomes counts, whatever it becomes it by. Each document fits as it is and is too large
// under options that make more of it. It is accepted with the limit that it needs, if that is known.
func TestBudget(t *testing.T) {
	const limit = 4 << 20
	stopWords, err := ReadStopWords(strings.NewReader("a\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := NewShingles([]uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text                 string
		features             int
		options              Options
		sequence, quotations bool
		words                bool
		isCut                bool // the text is longer than its room, or its parts are not known
	}{
		"NFKC": {
			isCut:   true,
			text:    strings.Repeat("\ufdfa", 100_000),
			options: Options{Normalization: Normalization{NFKC: true}},
		},
		"fold": {
			isCut:   true,
			text:    strings.Repeat("\u0390", 600_000),
			options: Options{Normalization: Normalization{Fold: true}},
		},
		"names": {text: strings.Repeat("#", 200_000), options: Options{Code: Code{Language: "rust", Names: true}}},
		"skeleton": {
			isCut:   true,
			text:    strings.Repeat("\u0430", 1_000_000),
			options: Options{Normalization: Normalization{Skeleton: true}},
		},
		"tokens": {text: strings.Repeat("a ", 200_000) + strings.Repeat("a long word ", 100_000)},
		"weights": {
			text:     strings.Repeat("a ", 300_000),
			features: 10,
			options:  Options{Ignored: ignored, Normalization: Normalization{NFKC: true}},
		},
		"quotations": {text: strings.Repeat("a b \"some words\" ", 12_000), quotations: true},
		"normalized sequence": {
			text:     strings.Repeat("a b \"some words\" ", 12_000),
			sequence: true,
			options:  Options{Normalization: Normalization{NFKC: true}},
		},
		"a dense beginning": {
			text:     strings.Repeat("a ", 120_000) + strings.Repeat("a long word ", 10_000),
			sequence: true,
		},
		"tokens at once": {text: strings.Repeat("a ", 300_000)},
		"characters": {
			text:    strings.Repeat("a", 300_000),
			options: Options{Measure: Measure{Tokens: CharacterTokens}},
		},
		"stop words": {
			isCut:   true,
			text:    strings.Repeat("a ", 100_000),
			options: Options{StopWords: stopWords, StopWordUse: RequireStopWords},
		},
		"features": {text: "a", features: 1000, options: Options{FeatureShingles: 300}},
		"sequence": {text: strings.Repeat("a ", 120_000), sequence: true},
		"code places": {
			text:     strings.Repeat("(", 60_000),
			sequence: true,
			options:  Options{Code: Code{Language: "java", Names: true}},
		},
		"one piece": {
			isCut:    true,
			text:     strings.Repeat("\ufdfa", 100_000),
			sequence: true,
			options:  Options{Normalization: Normalization{NFKC: true}},
		},
		// Words go into the hash one chunk after the other, so only what prepares the text takes memory.
		"same words": {
			isCut:   true,
			text:    strings.Repeat("\ufdfa", 100_000),
			words:   true,
			options: Options{Normalization: Normalization{NFKC: true}},
		},
	} {
		budget := &Budget{Limit: limit, Small: 1 << 20}
		waits := 0
		budget.Await(func() error { waits++; return nil })
		options := test.options
		options.Budget = budget
		measure := measureOf(t, options, test.sequence, test.quotations, test.words)
		budget.Begin(10)
		if measure("some few words", 1); budget.Err() != nil || budget.IsLarge() || !test.words && budget.Used() <= 10 {
			t.Errorf("%s: a small document has used %d bytes: %v", name, budget.Used(), budget.Err())
		}
		budget.Begin(int64(len(test.text)))
		measure(test.text, test.features)
		if !errors.Is(budget.Err(), ErrSpent) || waits > 1 {
			t.Errorf("%s: %d bytes used of %d, after %d waits: %v", name, budget.Used(), limit, waits, budget.Err())
		}
		needs := budget.Needs()
		if (needs == 0) != test.isCut || needs > 4*limit {
			t.Errorf("%s: needs %d bytes", name, needs)
		}
		if budget.Limit = max(needs, limit); needs > 0 {
			budget.Begin(int64(len(test.text)))
			if measure(test.text, test.features); budget.Err() != nil {
				t.Errorf("%s: %d bytes used of the %d that it needs: %v", name, budget.Used(), needs, budget.Err())
			}
		}
		budget.Begin(10)
		if measure("some few words", 1); budget.Err() != nil {
			t.Errorf("%s: a small document after a large one: %v", name, budget.Err())
		}
	}
}

// measureOf returns what makes a fingerprint, a sequence, perhaps without quotations, or an identity of a text and as
// many features.
func measureOf(t *testing.T, options Options, sequence, quotations, words bool) func(text string, features int) {
	t.Helper()
	switch {
	case sequence, quotations:
		s, err := NewSequencer(options, quotations)
		if err != nil {
			t.Fatal(err)
		}
		return func(text string, _ int) { s.Sequence([]byte(text)) }
	case words:
		i, err := NewIdentifier(options, SameWords)
		if err != nil {
			t.Fatal(err)
		}
		return func(text string, _ int) { i.Texts([][]byte{[]byte(text)}) }
	}
	f, err := NewFingerprinter(options)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string, n int) {
		features := make([]Feature, n)
		for i := range features {
			features[i] = numbered(uint64(i), 1)
		}
		f.TextsAndFeatures([][]byte{[]byte(text)}, features)
	}
}

// TestBudgetWaits: a document stops if it cannot wait for its turn.
func TestBudgetWaits(t *testing.T) {
	fault := errors.New("interrupted")
	budget := &Budget{Limit: 1 << 30, Small: 1000}
	budget.Await(func() error { return fault })
	measure := measureOf(t, Options{Budget: budget}, false, false, false)
	budget.Begin(1)
	if measure(strings.Repeat("a b ", 1000), 0); !errors.Is(budget.Err(), fault) {
		t.Errorf("error %v", budget.Err())
	}
}
