package corpus

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
)

// TestPassedFiles: the files of a folder that the format does not take are counted by ending, in every storage.
func TestPassedFiles(t *testing.T) {
	local := t.TempDir()
	_, stored := storagetest.NewMemory(t)
	for _, folder := range []string{local, stored} {
		for _, name := range []string{
			"a.jsonl", "b.csv.gz", "notes.txt", "x/p.pdf", "x/Q.PDF", "x/r.docx", "README", "x/y/s.pdf.gz", ".hidden.pdf", "_marked.pdf", "z.a b", "w.",
		} {
			path := storage.Join(folder, name)
			if folder == local {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := storage.WriteFile(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		for input, want := range map[string]PassedFiles{
			folder:                         {".txt": 1, ".pdf": 3, ".docx": 1, "(none)": 2, "(other)": 1},
			storage.Join(folder, "*.txt"):  nil,
			storage.Join(folder, "README"): nil,
		} {
			listing, err := List(t.Context(), []string{input}, Options{})
			if err != nil || !maps.Equal(listing.Passed, want) {
				t.Errorf("%s: %v, %v, want %v", input, listing.Passed, err, want)
			}
		}
		listing, err := List(t.Context(), []string{folder}, Options{Format: Text.String()})
		if err != nil || len(listing.Passed) > 0 {
			t.Errorf("texts are all files: %v, %v", listing.Passed, err)
		}
	}
}

// TestManyEndings: no number of endings takes much memory.
func TestManyEndings(t *testing.T) {
	passed := PassedFiles{}
	for i := range 10 * mostEndings {
		passed.add(fmt.Sprintf("file.%d", i))
	}
	if len(passed) != mostEndings+1 || passed[otherEnding] != 9*mostEndings {
		t.Errorf("%d endings, %d others", len(passed), passed[otherEnding])
	}
}
