package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
)

// TestRankTables: the cheapest tables for the number of documents come first and are chosen, unless the configuration
// names others. Documents of a corpus are counted.
func TestRankTables(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in.jsonl")
	lines := "{\"f\":\"0123456789abcdef\"}\n{\"f\":1}\n{\"f\":\"x\"}\n"
	if err := os.WriteFile(input, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(c *Config)
		chosen []int
		place  int
	}{
		"ten million": {func(c *Config) { c.Documents = 1e7 }, []int{4}, 0},
		"a billion":   {func(c *Config) { c.Documents = 1e9 }, []int{5}, 0},
		"blocks":      {func(c *Config) { c.Documents, c.Blocks = 1e9, []int{4} }, []int{4}, mostRanked},
		"a corpus":    {func(c *Config) { c.Input, c.Fingerprints = []string{input}, "f" }, []int{4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := Default()
			c.Keys = methods.SimHash
			test.change(&c)
			advice, err := Make(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			chosen := advice.Tables[advice.Chosen]
			if !slices.Equal(chosen.Blocks, test.chosen) || advice.Chosen != test.place {
				t.Errorf("tables %d of %+v are chosen", advice.Chosen, advice.Tables)
			}
			if c.Documents == 0 && (advice.Corpus.Documents != 2 || advice.Corpus.Rejected != 1) {
				t.Errorf("counted %+v", advice.Corpus)
			}
		})
	}
}
