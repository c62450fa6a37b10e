package pipeline

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/job"
)

// TestTold: what a job decides about texts for lack of anything better is in its summary.
func TestTold(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, files map[string]string, encoding string) Summary {
		folder := t.TempDir()
		config := job.Default()
		config.Input = []string{filepath.Join(folder, "in")}
		config.Output = filepath.Join(folder, "out")
		config.Encoding = encoding
		for name, content := range files {
			put(t, filepath.Join(folder, "in", name), []byte(content), plain)
		}
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return summary
	}
	t.Run("a guessed encoding", func(t *testing.T) {
		const latin = "id,text\n1,Le caf\xe9 est tr\xe8s bon \xe0 Paris\n"
		tables := map[string]string{
			"a.csv": "id,text\n1,words of ASCII\n",
			"b.csv": latin,
			"c.csv": latin,
			"d.csv": "\ufeffid,text\n1,é\n",
			"e.csv": "id,text\n1,é\n",
			"f.csv": "\xff\xfei\x00d\x00,\x00t\x00e\x00x\x00t\x00\n\x001\x00,\x00a\x00\n\x00",
		}
		summary := run(t, tables, "")
		if diff := cmp.Diff(map[string]int64{"windows-1252": 2}, summary.Counts.GuessedEncodings); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"windows-1252": "b.csv"}, summary.Files.GuessedEncodings); diff != "" {
			t.Error(diff)
		}
		if named := run(t, tables, "windows-1252"); named.Counts.GuessedEncodings != nil {
			t.Errorf("with a named one: %v", named.Counts.GuessedEncodings)
		}
	})
	t.Run("pages without words", func(t *testing.T) {
		pages := map[string]string{
			"a.html": "<html><img src=a.png></html>",
			"b.html": "<html><img src=b.png></html>",
			"c.html": "<html><p>words of a page</html>",
		}
		summary := run(t, pages, "")
		isTold := slices.ContainsFunc(summary.Warnings, func(w warnings.Warning) bool {
			return w.Kind == warnings.BlankTexts
		})
		if summary.Counts.Removed != 1 || !isTold {
			t.Errorf("%+v, %v", summary.Counts, summary.Warnings)
		}
	})
}
