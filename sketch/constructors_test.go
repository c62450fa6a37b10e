package sketch

import (
	"strings"
	"testing"
)

// TestConstructorsRefuse: a constructor says what is wrong with its arguments, and makes nothing of them.
func TestConstructorsRefuse(t *testing.T) {
	keep := func([]byte) bool { return true }
	negative, unknown := Measure{Shingle: -1}, Measure{Tokens: "letters"}
	for name, c := range map[string]struct {
		make func() (any, error)
		says string
	}{
		"hasher":          {func() (any, error) { return NewHasher(negative) }, "shingles of -1 tokens"},
		"hasher's tokens": {func() (any, error) { return NewHasher(unknown) }, `tokens "letters": must be script`},
		"word filter":     {func() (any, error) { return NewWordFilter(unknown, keep) }, "letters"},
		"shingle filter":  {func() (any, error) { return NewShingleFilter(negative, keep) }, "-1"},
		"fingerprinter":   {func() (any, error) { return NewFingerprinter(Options{Measure: unknown}) }, "letters"},
		"sequencer":       {func() (any, error) { return NewSequencer(Options{Measure: negative}, false) }, "-1"},
		"identifier": {func() (any, error) {
			return NewIdentifier(Options{Measure: unknown}, SameWords)
		}, "letters"},
		"MinHash":   {func() (any, error) { return NewMinHash(-1) }, "-1 components"},
		"universal": {func() (any, error) { return NewUniversalMinHash(-1, 0) }, "-1 components"},
		"words":     {func() (any, error) { return NewSingleHash(SingleHashOptions{Size: 1}) }, "0 words"},
		"size":      {func() (any, error) { return NewSingleHash(SingleHashOptions{Words: 1}) }, "0 hashes"},
		"LSH":       {func() (any, error) { return NewLSH(LSHOptions{Width: -1}) }, "-1 tokens"},
		"SimHash":   {func() (any, error) { return NewSimHash(SimHashOptions{Bits: 65}) }, "65 bits"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.says)
		}
	}
}
