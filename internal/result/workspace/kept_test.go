package workspace

import (
	"encoding/json"
	"testing"
	"time"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// kill makes a run with a recipe that keeps its folders and dies.
func kill(t *testing.T, options Options) (partial, temp string) {
	t.Helper()
	w, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(); err != nil {
		t.Fatal(err)
	}
	partial, temp = w.Partial, w.Temp
	if err := storage.WriteFile(storage.Join(temp, "run-file"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return partial, temp
}

// TestKept: a run takes up the folders of a dead run of the same recipe and output folder, and of no other. Its results
// are published as always.
func TestKept(t *testing.T) {
	grounds := map[string]string{"disk": t.TempDir()}
	_, grounds["bucket"] = storagetest.NewMemory(t)
	for name, folder := range grounds {
		options := Options{Output: storage.Join(folder, "out"), Temp: storage.Join(folder, "temp"), Recipe: "r"}
		partial, temp := kill(t, options)
		w, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		if !w.Resumed || w.Outdated || w.Partial != partial || w.Temp != temp {
			t.Errorf("%s: resumed %t in %s and %s, want %s and %s", name, w.Resumed, w.Partial, w.Temp, partial, temp)
		}
		if content, err := storage.ReadFile(storage.Join(w.Temp, "run-file")); err != nil || string(content) != "x" {
			t.Errorf("%s: %q, %v", name, content, err)
		}
		if err := storage.WriteFile(storage.Join(w.Partial, "t"), []byte("row")); err != nil {
			t.Fatal(err)
		}
		if err := w.Publish([]output.File{{Name: "clusters", Temporary: "t", Bytes: 3}}, nil); err != nil {
			t.Fatal(err)
		}
		if w.IsKept() {
			t.Errorf("%s: results are published, and the folders kept", name)
		}
		w.Close()
		for _, folder := range []string{partial, temp} {
			if left := names(t, folder); len(left) > 0 {
				t.Errorf("%s: left: %v", name, left)
			}
		}
	}
}

// TestKeptOutdated: a run of another recipe, or without one, clears away what was kept for its output folder.
func TestKeptOutdated(t *testing.T) {
	grounds := map[string]string{"disk": t.TempDir()}
	_, grounds["bucket"] = storagetest.NewMemory(t)
	for name, folder := range grounds {
		for _, recipe := range []string{"other", ""} {
			options := Options{Output: storage.Join(folder, "out"), Temp: storage.Join(folder, "temp"), Recipe: "r"}
			partial, temp := kill(t, options)
			options.Recipe = recipe
			w, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			if w.Resumed || w.Outdated != (recipe != "") || w.Temp == temp {
				t.Errorf("%s, recipe %q: resumed %t, outdated %t", name, recipe, w.Resumed, w.Outdated)
			}
			for _, folder := range []string{partial, temp} {
				if left := names(t, folder); len(left) > 0 {
					t.Errorf("%s: left: %v", name, left)
				}
			}
			w.Close()
		}
	}
}

// TestKeptBeside: a run for another output folder leaves alone what was kept, for a week.
func TestKeptBeside(t *testing.T) {
	grounds := map[string]string{"disk": t.TempDir()}
	_, grounds["bucket"] = storagetest.NewMemory(t)
	for name, folder := range grounds {
		options := Options{Output: storage.Join(folder, "out"), Temp: storage.Join(folder, "temp"), Recipe: "r"}
		_, temp := kill(t, options)
		for _, age := range []time.Duration{0, longestKept - time.Hour, longestKept + time.Hour} {
			content, err := json.Marshal(kept{"r", options.Output, temp, time.Now().Add(-age)})
			if err == nil {
				err = storage.WriteFile(storage.Join(temp, keptName), content)
			}
			if err != nil {
				t.Fatal(err)
			}
			w, err := Open(Options{Output: storage.Join(folder, "other"), Temp: options.Temp})
			if err != nil {
				t.Fatal(err)
			}
			w.Close()
			if left := len(names(t, temp)) > 0; left != (age < longestKept) {
				t.Errorf("%s: after %v the files are left: %t", name, age, left)
			}
		}
	}
}
