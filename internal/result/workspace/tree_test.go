package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestForeignInTree: what somebody has put into the tree of an earlier job is never removed, nor read as a result.
func TestForeignInTree(t *testing.T) {
	for about, put := range map[string]func(tree, elsewhere string) error{
		"a file": func(tree, _ string) error {
			return os.WriteFile(filepath.Join(tree, "train", "mine"), nil, 0o666)
		},
		"a folder": func(tree, _ string) error { return os.Mkdir(filepath.Join(tree, "mine"), 0o777) },
		"a link instead of a folder": func(tree, elsewhere string) error {
			return errors.Join(os.Rename(filepath.Join(tree, "train"), elsewhere),
				os.Symlink(elsewhere, filepath.Join(tree, "train")))
		},
	} {
		g := newGroundOf(t, ofTrees)
		if err := publish(g.options(), "old", disk{}); err != nil {
			t.Fatal(err)
		}
		if err := put(filepath.Join(g.output(), "unique"), filepath.Join(g.root, "elsewhere")); err != nil {
			t.Fatal(err)
		}
		before := g.paths()
		err := publish(g.options(), "new", disk{})
		if err == nil || !strings.Contains(err.Error(), "unique/") ||
			!strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%s: %v", about, err)
		}
		if after := g.paths(); len(after) != len(before) {
			t.Errorf("%s: of %v are left %v", about, before, after)
		}
	}
}

// TestForeignTree: a folder of somebody else that has the name of a tree stays, and a job of shards minds it not.
func TestForeignTree(t *testing.T) {
	g := newGroundOf(t, ofTrees)
	mine := filepath.Join(g.output(), "unique", "mine")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o777), os.WriteFile(mine, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := publish(g.options(), "new", disk{}); err == nil ||
		!strings.Contains(err.Error(), "a folder by the name of unique: move it away") {
		t.Error(err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// TestSameNames: two names that are one, as where capital letters do not count, end the job, and nothing is lost.
func TestSameNames(t *testing.T) {
	g := newGround(t)
	w, err := Open(g.options())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var files []output.File
	for range 2 {
		writer, err := output.NewWriter(w.Partial, output.File{Name: "unique/a", Output: output.Unique}, output.JSONL)
		if err != nil {
			t.Fatal(err)
		}
		file, err := writer.Close()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if err := w.Publish(files, testSummary{}); err == nil || !strings.Contains(err.Error(), "unique/a: file exists") {
		t.Error(err)
	}
	if name := g.standing(); name != "" {
		t.Errorf("the results %q stand", name)
	}
	if _, err := os.Stat(filepath.Join(g.output(), "unique")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the tree is left: %v", err)
	}
}

// TestManifestNames: no manifest leads out of its folder.
func TestManifestNames(t *testing.T) {
	for name, isTaken := range map[string]bool{
		"unique/a":               true,
		"unique/lang=de/a.jsonl": true,
		"unique/summary.json":    true,
		"unique/..a":             true,
		"unique/-":               true,
		"unique/../a":            false,
		"unique//a":              false,
		"unique/":                false,
		"unique":                 false,
		"/unique/a":              false,
		"other/a":                false,
		"unique/./a":             false,
		"unique/a/..":            false,
		`unique/..\\a`:           false,
		"annotated/a":            false,
	} {
		_, err := parseManifest([]byte(
			`{"token":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","files":[{"name":"` + name +
				`","output":"unique","rows":1,"bytes":1}]}`,
		))
		if (err == nil) != isTaken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBucketTrees publishes trees in a bucket over each other. What somebody has put into one is not removed.
func TestBucketTrees(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	run := func(names ...string) error {
		w, err := Open(Options{Output: folder + "/out", Temp: folder + "/temp", Overwrite: true})
		if err != nil {
			return err
		}
		defer w.Close()
		var files []output.File
		for _, name := range names {
			writer, err := output.NewWriter(w.Partial, output.File{Name: name, Output: output.Unique}, output.JSONL)
			if err != nil {
				return err
			}
			file, err := writer.Close()
			if err != nil {
				return err
			}
			files = append(files, file)
		}
		return w.Publish(files, testSummary{})
	}
	for _, names := range [][]string{
		{"unique/train/a", "unique/b"},
		{"unique/train"},
		{"unique-00000-of-00001.jsonl"},
		{"unique/c"},
	} {
		if err := run(names...); err != nil {
			t.Fatal(err)
		}
		left := contents(t, m, folder+"/out")
		for _, name := range append(names, ManifestName, SummaryName, SuccessName) {
			if _, is := left[name]; !is {
				t.Errorf("there is no %s", name)
			}
			delete(left, name)
		}
		if len(left) > 0 {
			t.Errorf("beside %v there are %v", names, left)
		}
	}
	if err := storage.WriteFile(folder+"/out/unique/mine", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := run("unique/d"); err == nil || !strings.Contains(err.Error(), "unique/mine") {
		t.Error(err)
	}
	if left := contents(t, m, folder+"/out"); left["unique/mine"] != "mine" || len(left) != 5 {
		t.Errorf("there are %v", left)
	}
}
