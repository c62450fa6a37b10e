package pipeline

import (
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
)

// TestChooseBlocks: a corpus of very many documents gets more tables, unless the configuration names some.
func TestChooseBlocks(t *testing.T) {
	const line = "{\"f\":\"0123456789abcdef\"}\n"
	input := put(t, t.TempDir()+"/in.jsonl", []byte(strings.Repeat(line, 10_000)), plain)
	listing, err := corpus.List(t.Context(), []string{input}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(copies int, change func(*job.Config)) []int {
		config := job.Default()
		config.Fingerprints = "f"
		change(&config)
		return chooseBlocks(&config, &documents.Inputs{Files: slices.Repeat(listing.Files, copies)})
	}
	usual := func(*job.Config) {}
	for name, test := range map[string]struct{ got, want []int }{
		"few":   {of(100, usual), nil},
		"many":  {of(10_000, usual), []int{5}},
		"given": {of(10_000, func(c *job.Config) { c.Blocks = []int{6} }), nil},
		"sets":  {of(10_000, func(c *job.Config) { c.Fingerprints, c.Keys = "", methods.Exact }), nil},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: blocks %v, want %v", name, test.got, test.want)
		}
	}
}
