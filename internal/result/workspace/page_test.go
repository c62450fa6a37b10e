package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

const aPage = "<!doctype html>\n<html><head>\n" + PageMark + "\n"

// TestPagesGo: a page about results goes with them, however they are replaced. A file of somebody else stays.
func TestPagesGo(t *testing.T) {
	const other = "somebody's page"
	for _, s := range situations() {
		for _, page := range []string{aPage, other} {
			if !s.hasOld {
				continue
			}
			g := s.prepare(t)
			path := filepath.Join(g.output(), ReportName)
			if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := publish(g.options(), "new", diskOf(func(operation, _ string) error {
				return s.refuses(operation)
			})); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if got := g.standing(); got != "new" {
				t.Errorf("%s: the results are %q", s.name, got)
			}
			if content, err := os.ReadFile(path); (page == other) != (string(content) == other) ||
				(page == aPage) != os.IsNotExist(err) {
				t.Errorf("%s: %q is %q, %v", s.name, page, content, err)
			}
		}
	}
}

func TestPagesGoInBucket(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	if err := runInBucket(folder, "old", 3); err != nil {
		t.Fatal(err)
	}
	if err := storage.WriteFile(storage.Join(folder+"/out", ReportName), []byte(aPage)); err != nil {
		t.Fatal(err)
	}
	if err := runInBucket(folder, "new", 2); err != nil {
		t.Fatal(err)
	}
	if err := holdsResults(contents(t, m, folder+"/out"), "new", 2); err != nil {
		t.Error(err)
	}
}
