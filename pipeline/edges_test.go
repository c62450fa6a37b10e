package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/transforms"
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

// TestOneDocument is the smallest job.
func TestOneDocument(t *testing.T) {
	files := []file{{"x.jsonl", synthetic(51)[:1]}}
	config := testConfig(t, putCorpus(t, plain, files...))
	if n := runJob(t, config).Counts; n.Documents != 1 || n.Kept != 1 || n.Pairs != 0 || n.Clusters != 0 {
		t.Errorf("counts %+v", n)
	}
	checkUnique(t, config, files)
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
				if b := readRaw(t, path); name == "a.jsonl" {
					if err := os.WriteFile(path, b[:len(b)-len(b)/4], 0o666); err != nil {
						t.Fatal(err)
					}
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
	inputs, size, err := listing.Inputs(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	work, err := openWorkspace(&config, "")
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	list := filepath.Join(work.Temp, "inputs.gob")
	if err := documents.WriteInputs(list, inputs); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size/2); err != nil {
		t.Fatal(err)
	}
	scheme, err := config.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	_, err = execute(context.Background(), transforms.NewJob(&config, transforms.Extent{Scheme: scheme, Bytes: size, Splits: len(inputs.Splits)}).In(work.Temp, work.Partial), &config)
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("error %v", err)
	}
}
