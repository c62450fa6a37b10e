package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
)

// TestNothingToDo runs on inputs without documents: the results are there, and
// empty.
func TestNothingToDo(t *testing.T) {
	for name, how := range map[string]struct {
		content string
		compression
	}{
		"empty":       {"", plain},
		"blank":       {"\n \n\t\n", plain},
		"empty gzip":  {"", gzipped},
		"blank zstd":  {"\n\n", zstded},
		"only a mark": {"\ufeff", plain},
	} {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t, put(t, filepath.Join(t.TempDir(), "x.jsonl"), []byte(how.content), how.compression))
			config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
			summary := runJob(t, config)
			for _, name := range append(config.Emit, output.Rejects) {
				if b := readOutput(t, config.Output, name); len(b) > 0 {
					t.Errorf("%s holds %q", name, b)
				}
			}
			if n := summary.Counts; n.Documents != 0 || n.Rejected != 0 || n.Kept != 0 || n.Removed != 0 {
				t.Errorf("counts %+v", n)
			}
		})
	}
}

// TestUniqueOfEveryFile: every input file has its file of unique, even a file without a byte, without a document, or
// without a kept document.
func TestUniqueOfEveryFile(t *testing.T) {
	lines := synthetic(52)
	files := []file{
		{"a.jsonl", lines},
		{"b.jsonl", nil},
		{"c.jsonl", []line{{kind: blankLine}}},
		{"d.jsonl", []line{{raw: "{}", kind: rejectLine}}},
		{"e.jsonl", lines[:10]}, // all of these came before
		{"f.jsonl", nil},
	}
	config := testConfig(t, putCorpus(t, plain, files...))
	runJob(t, config)
	for i, f := range files {
		name := fmt.Sprintf("unique-%05d-of-%05d.jsonl", i, len(files))
		if _, err := os.Stat(filepath.Join(config.Output, name)); err != nil {
			t.Errorf("of %s with %d lines: %v", f.name, len(f.lines), err)
		}
	}
	if !t.Failed() {
		checkUnique(t, config, files)
	}
}

// TestBrokenStreams cuts compressed files short. The readable part is read, the rest is reported, and rejects are in
// the order of files and positions.
func TestBrokenStreams(t *testing.T) {
	for _, how := range []compression{gzipped, zstded} {
		t.Run(string(how), func(t *testing.T) {
			dir := t.TempDir()
			lines := synthetic(54)
			for _, name := range []string{"a.jsonl", "b.jsonl"} {
				path := put(t, filepath.Join(dir, name), append([]byte("not a document\n"), file{name, lines}.content()...), how)
				if info, err := os.Stat(path); err != nil || name == "a.jsonl" && os.Truncate(path, info.Size()*3/4) != nil {
					t.Fatal(name, err)
				}
			}
			config := testConfig(t, dir)
			summary := runJob(t, config)
			rows := readRows[rejectedRow](t, config.Output, output.Rejects)
			lost := slices.ContainsFunc(rows, func(row rejectedRow) bool {
				return row.File == "a.jsonl" && strings.Contains(row.Error, "cut short")
			})
			if !lost || rows[len(rows)-1].File != "b.jsonl" {
				t.Errorf("rejects %+v", rows)
			}
			if !slices.IsSortedFunc(rows, func(a, b rejectedRow) int {
				return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Position, b.Position))
			}) {
				t.Errorf("rejects are not sorted: %+v", rows)
			}
			if n := summary.Counts.Documents; how == gzipped && n <= int64(len(lines)) || n < int64(len(lines)) {
				t.Errorf("%d documents, the whole file has %d", n, len(lines))
			}
		})
	}
}

// TestChangedInput: if a file shrinks while the job runs, the job fails. The error blames the input and gives the
// reason alone.
func TestChangedInput(t *testing.T) {
	failing(t)
	path := put(t, filepath.Join(t.TempDir(), "x.jsonl"), file{"x.jsonl", synthetic(57)}.content(), plain)
	config := testConfig(t, path)
	r := prepared(t, config)
	defer r.close()
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	_, err := execute(t.Context(), r.job, &r.Config)
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("error %v", err)
	}
}
