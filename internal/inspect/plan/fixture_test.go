package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// scene is a small corpus on the disk, and what can be counted of it.
type scene struct {
	config Config
	bytes  int64                // of the lines
	prints []sketch.Fingerprint // of all documents
	// distinct are the documents with words, one for all that are equal.
	distinct []sketch.Fingerprint
}

// newScene makes a corpus of near-copies, copies, documents without words and unrelated ones.
func newScene(t *testing.T, seed uint64, n int) *scene {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	s := &scene{config: Default()}
	s.config.Threshold = 0.5
	var texts []string
	var content strings.Builder
	for i := range n {
		words := make([]string, 5+random.IntN(60))
		for k := range words {
			words[k] = fmt.Sprintf("w%d", random.IntN(3000))
		}
		switch kind := random.IntN(12); {
		case kind == 0:
			words = []string{strings.Repeat("?", random.IntN(3))}
		case kind < 8 && i > 0:
			words = strings.Fields(texts[random.IntN(i)])
			for range random.IntN(5) {
				if len(words) > 0 {
					// no two scenes have equal documents
					words[random.IntN(len(words))] = fmt.Sprint("other", seed, words[0])
				}
			}
		}
		texts = append(texts, strings.Join(words, " "))
		line, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "text": texts[i]})
		if err != nil {
			t.Fatal(err)
		}
		content.Write(append(line, '\n'))
		s.bytes += int64(len(line))
	}
	s.config.Input = []string{store(t, content.String())}
	s.count(t, texts)
	return s
}

// Corpus writes a corpus for tests that run jobs and returns its path. A smaller one of the same seed is its beginning.
func Corpus(t *testing.T, seed uint64, n int) string { return newScene(t, seed, n).config.Input[0] }

// count fingerprints the texts.
func (s *scene) count(t *testing.T, texts []string) {
	t.Helper()
	config := s.config.config()
	sketching := config.Sketching(0)
	sketcher, err := documents.NewSketcher(sketching, documents.Kept{}, "")
	if err != nil {
		t.Fatal(err)
	}
	known := map[sketch.Digest]bool{}
	for _, text := range texts {
		line, _ := json.Marshal(map[string]string{"text": text})
		_, f, err := sketcher.Sketch(&documents.Portion{}, 0, line)
		if err != nil {
			t.Fatal(err)
		}
		f.Set = slices.Clone(f.Set)
		s.prints = append(s.prints, f.Fingerprint)
		if len(f.Set) > 0 && !known[f.Digest] {
			s.distinct = append(s.distinct, f.Fingerprint)
		}
		known[f.Digest] = true
	}
}

// store writes a file of input and returns its path.
func store(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// identical returns the number of documents that are equal to an earlier one.
func (s *scene) identical() (n int) {
	known := map[sketch.Digest]bool{}
	for _, f := range s.prints {
		if known[f.Digest] {
			n++
		}
		known[f.Digest] = true
	}
	return n
}

// pairs compares all pairs of distinct documents for which wanted is true.
func (s *scene) pairs(wanted func(a, b *sketch.Fingerprint) bool) (similarities []float64) {
	for i := range s.distinct {
		for j := range i {
			if a, b := &s.distinct[j], &s.distinct[i]; wanted(a, b) {
				similarities = append(similarities, jaccard(a, b))
			}
		}
	}
	return similarities
}

// fits reports whether the sizes of two documents allow the threshold.
func (s *scene) fits(a, b *sketch.Fingerprint) bool {
	small, large := float64(min(len(a.Set), len(b.Set))), float64(max(len(a.Set), len(b.Set)))
	return small >= s.config.Threshold*large*(1-1e-9)
}

// shareBand returns the pairs that share a band of a scheme.
func (s *scene) shareBand(scheme lshbands.Scheme) func(a, b *sketch.Fingerprint) bool {
	bands, err := fingerprints.NewBands(scheme)
	if err != nil {
		panic(err)
	}
	of := map[sketch.Digest][]uint64{}
	for i := range s.distinct {
		of[s.distinct[i].Digest] = slices.Clone(bands.Of(s.distinct[i].Set))
	}
	return func(a, b *sketch.Fingerprint) bool {
		for k, key := range of[a.Digest] {
			if key == of[b.Digest][k] {
				return s.fits(a, b)
			}
		}
		return false
	}
}

func jaccard(a, b *sketch.Fingerprint) float64 {
	shared := 0
	for _, shingle := range a.Set {
		if _, found := slices.BinarySearch(b.Set, shingle); found {
			shared++
		}
	}
	return float64(shared) / float64(len(a.Set)+len(b.Set)-shared)
}

// atLeast returns the number of similarities from a threshold on.
func atLeast(similarities []float64, threshold float64) (n float64) {
	for _, similarity := range similarities {
		if similarity >= threshold {
			n++
		}
	}
	return n
}

// makePlan makes a plan that must succeed.
func makePlan(t *testing.T, c Config) *Advice {
	t.Helper()
	advice, err := Make(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return advice
}

// choice returns the choice of these keys.
func choice(t *testing.T, a *Advice, keys methods.Name) *Choice {
	t.Helper()
	i := slices.IndexFunc(a.Choices, func(c Choice) bool { return c.Keys == keys })
	if i < 0 {
		t.Fatalf("there is no choice of %s", keys)
	}
	return &a.Choices[i]
}

// near reports whether two sums of the same numbers are equal but for rounding.
func near(a, b float64) bool { return a == b || max(a, b)-min(a, b) <= 1e-9*max(a, b) }

// chooses returns the configuration with a change.
func (s *scene) chooses(change func(*job.Measure)) Config {
	c := s.config
	change(&c.Measure)
	return c
}
