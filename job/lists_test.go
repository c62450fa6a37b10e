package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep/preference"
)

// TestLists: the lists that a configuration names are read as they are written, and the error of one that cannot be
// used says which one it is and what is wrong with it.
func TestLists(t *testing.T) {
	folder := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stopWords := func(path string) (string, error) {
		return (&Config{Measure: Measure{StopWords: path}}).ReadStopWords()
	}
	ranking := func(path string) (string, error) {
		config := Default()
		config.Keep = preference.Preference("rank:" + path)
		return config.ReadRanking()
	}
	good := put("good", "# a list\nthe\nof\n")
	for _, c := range []struct {
		name string
		read func(path string) (string, error)
		path string
		says []string // in the error; nil: there is none
	}{
		{"stop words", stopWords, good, nil},
		{"no stop words", stopWords, put("empty", "# nothing\n\n"), []string{"stopwords", "it contains no word"}},
		{"a line without a word", stopWords, put("signs", "the\n...\n"), []string{"stopwords", "line 2"}},
		{"no file of stop words", stopWords, filepath.Join(folder, "none"), []string{"stopwords", "none"}},
		{"a ranking", ranking, good, nil},
		{"no source", ranking, put("empty", "# nothing\n\n"), []string{"keep rank:", "it contains no source"}},
		{"no file of sources", ranking, filepath.Join(folder, "none"), []string{"keep rank:", "no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.read(c.path)
			if c.says == nil {
				if err != nil || got != "# a list\nthe\nof\n" {
					t.Errorf("%q (%v)", got, err)
				}
				return
			}
			for _, text := range c.says {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want one that says %q", err, text)
				}
			}
		})
	}
}
