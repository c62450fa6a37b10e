package listing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records/sketchblock"
)

// TestBaseTexts: files of all formats have the shingles of their texts, and what cannot be read is no base text.
func TestBaseTexts(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"LICENSE":      "this text is\nfor all to use",
		"header.txt":   "all to use\n",
		"lines.jsonl":  `{"text":"this text is for"}` + "\n" + `{"text":"one two three four"}` + "\n",
		"broken.jsonl": `{"text":"this text is for"}` + "\n" + `{"no":"one two three four"}` + "\n",
		"empty.txt":    "",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		names    []string
		shingles int
		fault    string
	}{
		{[]string{"LICENSE"}, 5, ""},
		{[]string{"header.txt"}, 1, ""},
		{[]string{"LICENSE", "header.txt", "lines.jsonl"}, 7, ""},
		{[]string{"broken.jsonl"}, 0, "broken.jsonl:28: "},
		{[]string{"empty.txt"}, 0, "contain no word"},
		{[]string{"missing.txt"}, 0, "missing.txt"},
	} {
		config := configOf(t)
		put(t, filepath.Join(filepath.Dir(config.Output), "in", "a.jsonl"))
		config.Input = []string{filepath.Join(filepath.Dir(config.Output), "in")}
		for _, name := range c.names {
			config.Ignore = append(config.Ignore, filepath.Join(folder, name))
		}
		inputs, _, err := Inputs(t.Context(), &config)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v: error %v, want one with %q", c.names, err, c.fault)
			}
			continue
		}
		if err != nil || len(inputs.Ignored) != c.shingles*sketchblock.HashSize {
			t.Errorf("%v: %d shingles, %v, want %d", c.names, len(inputs.Ignored)/sketchblock.HashSize, err, c.shingles)
		}
	}
}
