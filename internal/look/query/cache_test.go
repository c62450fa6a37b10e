package query

import (
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
)

// TestCache: an index in a bucket is read once for each of its generations.
func TestCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	m, folder := storagetest.NewMemory(t)
	reads := 0
	m.Ask = func(operation, _ string) error {
		if operation == "read" {
			reads++
		}
		return nil
	}
	path := folder + "/index"
	for _, content := range []string{"one", "two", "four"} {
		if err := storage.WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		reads = 0
		for range 3 {
			mapped, _, err := mapIndex(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(mapped.Bytes) != content {
				t.Errorf("mapped is %q, want %q", mapped.Bytes, content)
			}
			if err := mapped.Close(); err != nil {
				t.Error(err)
			}
		}
		if reads == 0 || reads > 2 {
			t.Errorf("%d reads for three queries", reads)
		}
	}
	var copies []string
	err := filepath.Walk(cache, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			copies = append(copies, path)
			folder, err := os.Stat(filepath.Dir(path))
			if err != nil || folder.Mode().Perm()&0o077 != 0 {
				t.Errorf("others may enter the folder of %s (%v)", path, err)
			}
		}
		return err
	})
	if err != nil || len(copies) != 1 {
		t.Errorf("copies %v (%v)", copies, err)
	}
	if _, _, err := mapIndex(folder + "/nothing"); err == nil {
		t.Error("a file that is not there is mapped")
	}
}
