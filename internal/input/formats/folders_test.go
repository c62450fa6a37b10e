package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestFolderValues: a field that a record lacks has the value that a folder of its file names, in every format. A field
// of the record counts more, and so does the folder that is nearest to the file.
func TestFolderValues(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"lang=de/a.jsonl": `{"text":"x"}` + "\n" + `{"text":"x","lang":"nl"}` + "\n" +
			`{"text":"x","lang":null}`,
		"lang=en/lang=fr/b.csv":          "text\nx\n",
		"lang=a%20b/c.txt":               "x",
		"lang=" + noPartition + "/d.txt": "x",
		"lang/e.txt":                     "x",
		"lang=none.txt":                  "x",
		"lang=de/f.json":                 `[{"text":"x"}]`,
		"lang=it/g.tar":                  tarOf(t, []named{{"h.txt", "x"}, {"lang=es/i.txt", "x"}}),
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listing, err := corpus.List(t.Context(), []string{filepath.Join(folder, "**/*.*"), filepath.Join(folder, "*.*")},
		corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := wanted(corpus.Fields{Texts: []string{"text"}, Others: []string{"date", "lang"}})
	files, err := Prepare(t.Context(), listing.Files, want)
	if err != nil {
		t.Fatal(err)
	}
	decoder := NewDecoder(want)
	var got []string
	for number := range files {
		for batch, err := range Batches(files[number], number, corpus.Limits{Line: 1000}, want) {
			if err != nil {
				t.Fatal(err)
			}
			for position, record := range batch.Records() {
				content, err := decoder.Decode(&files[number], &batch, position, record)
				if err != nil || content.Others[0] != nil {
					t.Fatal(content, err)
				}
				name, _ := files[number].Place(position)
				got = append(got, filepath.Base(name)+" "+string(content.Others[1]))
			}
		}
	}
	slices.Sort(got)
	const all = "a.jsonl de|a.jsonl de|a.jsonl nl|b.csv fr|c.txt a b|d.txt |e.txt |f.json de|h.txt it|i.txt es|lang=none.txt "
	if strings.Join(got, "|") != all {
		t.Errorf("values %q, want %q", strings.Join(got, "|"), all)
	}
}
