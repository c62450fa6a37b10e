package pipeline

import (
	"strings"
	"testing"

	"mirrorbeam/internal/ground/storage"
)

// allFiles returns the results in a folder of any storage, by name. What tells of the run itself is left out.
func allFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	s, err := storage.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for info, err := range s.List(folder) {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(info.Name, folder+"/")
		if name == "summary.json" || name == "manifest.json" {
			continue
		}
		content, err := storage.ReadFile(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}

// copyFiles copies the files in a folder of the local disk to a folder of any storage, which it returns.
func copyFiles(t *testing.T, from, to string) string {
	t.Helper()
	for info, err := range (storage.Local{}).List(from) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := storage.ReadFile(info.Name)
		if err == nil {
			err = storage.WriteFile(to+strings.TrimPrefix(info.Name, from), content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
