package pipeline

import (
	"strings"
	"testing"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
)

// TestBucketToBucket: a job whose input, temporary files and output are all in another storage than the local disk
// publishes the same files. So does one whose results replace earlier ones.
func TestBucketToBucket(t *testing.T) {
	config := lawConfig(t, putCorpus(t, plain, cut(oddities(lawSeed), 3)...))
	runJob(t, config)
	want := allFiles(t, config.Output)
	_, folder := storagetest.NewMemory(t)
	config.Input = []string{copyFiles(t, config.Input[0], storage.Join(folder, "input"))}
	config.Output, config.Temp = storage.Join(folder, "output"), storage.Join(folder, "temp")
	for range 2 {
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		got := allFiles(t, config.Output)
		if len(got) != len(want) || len(got) < 5 {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
		for name, content := range want {
			sameText(t, name, got[name], content)
		}
		if summary.TempBytes == 0 {
			t.Error("the temporary files took no room")
		}
		config.Overwrite = true
	}
	if left := allFiles(t, config.Temp); len(left) > 0 {
		t.Errorf("temporary files are left: %d", len(left))
	}
}

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
