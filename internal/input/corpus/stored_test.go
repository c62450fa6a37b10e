package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestListStored: inputs stand for the same files in every storage, or are refused for the same reason.
func TestListStored(t *testing.T) {
	const run = "run-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	local := t.TempDir()
	_, folder := storagetest.NewMemory(t)
	for name, content := range map[string]string{
		"a.jsonl":           "{}\n",
		"b.txt":             "b",
		"x/a.jsonl":         "{}\n",
		"x/c.json.gz":       string(gzipped(t, []byte("{}\n"))),
		"x/y/d.ndjson":      "",
		"x/y/_marked.jsonl": "{}",
		"x/.hidden/e.jsonl": "{}",
		".h/f.jsonl":        "{}",
		run + "/g.jsonl":    "{}",
		"x[1]/h.jsonl":      "{}",
		"out/manifest.json": `{"files":[{"name":"pairs-1.jsonl","output":"pairs"}]}`,
		"out/_SUCCESS":      "",
		"out/pairs-1.jsonl": "{}",
		"out/more.jsonl":    "{}",
	} {
		for _, folder := range []string{local, folder} {
			path := storage.Join(folder, name)
			if storage.Scheme(path) == "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := storage.WriteFile(path, []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(folder string, inputs []string) string {
		var names []string
		for _, input := range inputs {
			names = append(names, folder+"/"+input)
		}
		listing, err := List(t.Context(), names, Options{})
		if err != nil {
			return strings.ReplaceAll(err.Error(), folder, "")
		}
		var lines []string
		for _, file := range listing.Files {
			lines = append(lines,
				fmt.Sprint(strings.TrimPrefix(file.Path, folder), " ", strings.TrimPrefix(file.Name, folder), " ",
					file.Size, file.Compression))
		}
		slices.Sort(lines) // a name may begin with the folder
		return strings.Join(lines, "\n")
	}
	different := map[string]bool{}
	for _, inputs := range [][]string{
		{"a.jsonl"},
		{"x"},
		{"x/"},
		{"x", "a.jsonl", "x/a.jsonl"},
		{"*.jsonl"},
		{"*"},
		{"**"},
		{"x/**/*.jsonl"},
		{"**/y/*"},
		{"x/*/d.ndjson"},
		{"x/.*/*"},
		{".h/*"},
		{run + "/*"},
		{"**/g.jsonl"},
		{"x[[]1]/*"},
		{"x[1"},
		{"absent"},
		{"absent", "no*"},
		{"b.txt"},
		{"out"},
		{"out/*"},
		{"out/pairs-*"},
		{"out/[m]ore*"},
		{"out/more.jsonl"},
		{"*/a.jsonl"},
		{"**/**/a.jsonl"},
		{"?.jsonl"},
		{"x/y"},
		{"x/**"},
	} {
		want, got := list(local, inputs), list(folder, inputs)
		if got != want {
			t.Errorf("%q stand for\n%s\nin memory, for\n%s\non the disk", inputs, got, want)
		}
		different[want] = true
	}
	if len(different) < 15 {
		t.Errorf("only %d different listings", len(different))
	}
}

// TestListedSize: a storage that lists a file with another size than it has is not believed.
func TestListedSize(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	name := storage.Join(folder, "a.jsonl")
	if err := storage.WriteFile(name, []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	listed := false
	m.Ask = func(operation, _ string) error {
		if operation == "open" && !listed {
			listed = true
			return storage.WriteFile(name, []byte("{}\n{}\n"))
		}
		return nil
	}
	if _, err := List(t.Context(), []string{folder}, Options{}); err == nil ||
		!strings.Contains(err.Error(), name+": it is not the file of 3 bytes that was listed: ") {
		t.Errorf("%v", err)
	}
	if listing, err := List(t.Context(), []string{folder}, Options{}); err != nil || len(listing.Files) != 1 {
		t.Errorf("%v, %v", listing.Files, err)
	}
}

// TestReadsFail lets each operation on a stored file fail in turn, for each kind of
// stream: the error comes through and names the file.
func TestReadsFail(t *testing.T) {
	content := []byte(strings.Repeat("a line of a file\n", 50_000))
	for _, stored := range [][]byte{content, gzipped(t, content), zstded(t, content)} {
		m, folder := storagetest.NewMemory(t)
		name := storage.Join(folder, "a.jsonl")
		if err := storage.WriteFile(name, stored); err != nil {
			t.Fatal(err)
		}
		file := File{Path: name}
		if err := inspect(&file, Options{}); err != nil {
			t.Fatal(err)
		}
		operations := 0
		m.Ask = func(string, string) error { operations++; return nil }
		read := func() (lines int, err error) {
			for _, err := range Lines(t.Context(), name) {
				if err != nil {
					return lines, err
				}
				lines++
			}
			return lines, nil
		}
		if lines, err := read(); lines != 50_000 || err != nil {
			t.Errorf("%v: %d lines, %v", file.Compression, lines, err)
		}
		fault, all := errors.New("the storage fails"), operations
		if all < 5 {
			t.Errorf("%v: only %d operations", file.Compression, all)
		}
		for failing := range all {
			asked := 0
			m.Ask = func(string, string) error {
				if asked++; asked-1 == failing {
					return fault
				}
				return nil
			}
			if _, err := read(); !errors.Is(err, fault) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: operation %d of %d fails: %v", file.Compression, failing, all, err)
			}
		}
	}
}
