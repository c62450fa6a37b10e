package pipeline

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
)

// putTree makes a folder of files in folders, with copies in each.
func putTree(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "in")
	row := func(format string, id, text int) string {
		return fmt.Sprintf(format, id, strings.Repeat(fmt.Sprintf("text number %d ", text), 20))
	}
	lines := func(ids ...int) (b []byte) {
		for _, id := range ids {
			b = append(b, row("{\"id\":%d,\"text\":%q}\n", id, id%5)...)
		}
		return b
	}
	for name, content := range map[string][]byte{
		"train/part-0.jsonl.gz":                  press(t, ".gz", lines(0, 1, 2, 5, 6)),
		"test/part-0.jsonl":                      lines(3, 8, 13),
		"lang=de/date=2024%2F01/part-0.jsonl.gz": press(t, ".gz", lines(4, 9)),
		"summary.json":                           lines(11),
		"odd\xff/table.csv":                      []byte("id,text\n" + row("%d,%s\n", 20, 7) + row("%d,%s\n", 21, 7)),
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// copiesOf returns the files with records of the input, by their outputs and the paths of their inputs.
func copiesOf(t *testing.T, config job.Config) map[string]string {
	t.Helper()
	content, err := storage.ReadFile(storage.Join(config.Output, workspace.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var manifest workspace.Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	copies := map[string]string{}
	for _, f := range manifest.Files {
		if f.Input == "" {
			continue
		}
		if content, err = storage.ReadFile(storage.Join(config.Output, f.Name)); err != nil {
			t.Fatal(err)
		}
		copies[f.Output+" of "+f.Input] = string(content)
	}
	return copies
}

// TestTree: in a tree the files have the names of the input, and the bytes of the other layout, on the disk and in a
// bucket.
func TestTree(t *testing.T) {
	config := testConfig(t, putTree(t))
	config.Emit = []string{output.Unique, output.Annotated, output.Trimmed}
	runJob(t, config)
	want := copiesOf(t, config)
	trees := config
	trees.Output, trees.Layout = filepath.Join(t.TempDir(), "out"), output.Tree
	runJob(t, trees)
	if got := copiesOf(t, trees); len(got) != 15 {
		t.Errorf("%d copies", len(got))
	} else {
		sameFiles(t, got, want)
	}
	published := allFiles(t, trees.Output)
	for _, of := range output.Copies {
		for _, name := range []string{
			"train/part-0.jsonl.gz", "test/part-0.jsonl", "lang=de/date=2024%2F01/part-0.jsonl.gz", "summary.json",
			"odd%FF/table.csv",
		} {
			if _, is := published[of+"/"+name]; !is {
				t.Errorf("there is no %s/%s", of, name)
			}
		}
	}
	if _, err := finished.Open(trees.Output); err != nil {
		t.Error(err)
	}
	// Results of one layout replace the results of the other.
	config.Output, config.Overwrite = trees.Output, true
	runJob(t, config)
	if left, err := os.ReadDir(config.Output); err != nil || len(left) != 15+4 {
		t.Errorf("there are %v (%v)", left, err)
	}

	_, folder := storagetest.NewMemory(t)
	stored := trees
	stored.Output, stored.Temp, stored.Overwrite = storage.Join(folder, "out"), storage.Join(folder, "temp"), true
	for range 2 {
		if _, err := Run(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, allFiles(t, stored.Output), published)
	}
}

// TestTreeOfTexts: texts come back as files in folders, with the bytes that they have in an archive of the other
// layout.
func TestTreeOfTexts(t *testing.T) {
	text := func(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("text number %d\n", n), 20)) }
	folder := filepath.Join(t.TempDir(), "in")
	for name, content := range map[string][]byte{
		"a/one.txt":           text(1),
		"a/two.md":            text(2),
		"b/again.txt":         text(1),
		"b/deep/three.txt.gz": press(t, ".gz", text(3)),
		"b/page.html":         []byte("<p>another page of the web"),
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	config := testConfig(t, folder)
	config.Emit = []string{output.Unique}
	runJob(t, config)
	want := map[string]string{}
	archives, err := filepath.Glob(filepath.Join(config.Output, "*.tar"))
	if err != nil || len(archives) != 2 {
		t.Fatalf("%v, %v", archives, err)
	}
	for _, name := range archives {
		archive, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		for members := tar.NewReader(archive); ; {
			header, err := members.Next()
			if err == io.EOF {
				break
			}
			content, err := io.ReadAll(members)
			if err != nil {
				t.Fatal(err)
			}
			want[header.Name] = string(content)
		}
	}
	config.Output, config.Layout = filepath.Join(t.TempDir(), "out"), output.Tree
	runJob(t, config)
	got := map[string]string{}
	for name := range tree(t, filepath.Join(config.Output, output.Unique)) {
		got[strings.TrimSuffix(name, ".gz")] = string(readFile(t, filepath.Join(config.Output, output.Unique, name)))
	}
	if len(want) != 4 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if copies := copiesOf(t, config); len(copies) != 4 ||
		copies["unique of "+filepath.Join(folder, "a/one.txt")] != string(text(1)) {
		t.Errorf("copies %v", copies)
	}
}

// TestNamesNotInUTF8: the manifest has the bytes of the path of an input that is no text, as rows have them, in each
// layout.
func TestNamesNotInUTF8(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "caf\xe9.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"a","text":"one"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []output.Layout{output.Shards, output.Tree} {
		t.Run(string(layout), func(t *testing.T) {
			config := testConfig(t, folder)
			config.Emit, config.Layout = []string{output.Unique}, layout
			runJob(t, config)
			copies := copiesOf(t, config)
			if len(copies) != 1 || copies["unique of "+folder+"/caf\ufffde9.jsonl"] == "" {
				t.Errorf("%s: copies %v", layout, copies)
			}
		})
	}
}
