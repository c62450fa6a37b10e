package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/start/listing"
)

// TestApart: folders that a job writes to are apart from what it reads, whatever leads to them. Faults are found before
// anything is made or deleted.
func TestApart(t *testing.T) {
	t.Chdir(t.TempDir())
	content := file{"a.jsonl", synthetic(81)}.content()
	for _, path := range []string{"c/a.jsonl", "c/sub/a.jsonl", "r/a.jsonl", "far/a.jsonl"} {
		put(t, path, content, plain)
	}
	for path, target := range map[string]string{"alias": "c", "c/far": "../far"} {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	before := paths(t)
	for _, test := range []struct {
		input, reference, output, temp string
		want                           string // in the error; empty: none
	}{
		{"c", "", "c", "", "output c: lies in the folder c, which input searches"},
		{"c", "", "c/out", "", "output c/out: lies in the folder c"},
		{"c", "", "c/sub/deep/out", "", "output c/sub/deep/out: lies in the folder c, which input searches"},
		{"c", "", "alias/out", "", "output alias/out: lies in the folder c"},
		{"alias", "", "c/out", "", "output c/out: lies in the folder alias"},
		{"c", "", "far/out", "", "output far/out: lies in the folder c/far"},
		{"c/**/*.jsonl", "", "c/out", "", "output c/out: lies in the folder c"},
		{"c", "", "out", "c/temp", "temp c/temp: lies in the folder c"},
		{"c", "r", "r/out", "", "output r/out: lies in the folder r, which reference searches"},
		{"c/*.jsonl", "", "c/out", "", ""},
		{"c/a.jsonl", "", "c/out", "", ""},
		{"c", "", "c.out", "", ""},
	} {
		config := testConfig(t, test.input)
		config.Output, config.Temp = test.output, test.temp
		if test.reference != "" {
			config.Reference = []string{test.reference}
		}
		_, err := Run(context.Background(), config)
		if test.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", test, err)
			}
			os.RemoveAll(test.output)
		} else if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v", test, err)
		}
		sameText(t, "files", paths(t), before)
	}
}

// paths lists all paths below the working folder.
func paths(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(".", func(path string, _ os.FileInfo, err error) error {
		all.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestResultsAsInput: results may be the input of another job, but not of one
// that would replace them.
func TestResultsAsInput(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in.jsonl", file{"in.jsonl", synthetic(82)}.content(), plain)
	config := testConfig(t, "in.jsonl")
	config.Output, config.Emit = "o", []string{output.Unique}
	first := runJob(t, config)
	if err := os.Symlink("o", "alias"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("o/unique-00000-of-00001.jsonl", "link.jsonl"); err != nil {
		t.Fatal(err)
	}
	before := paths(t)
	config.Overwrite = true
	for _, input := range []string{"o/unique-*", "alias/unique-*", "link.jsonl", "*/unique-*"} {
		config.Input = []string{input}
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "-of-00001.jsonl is input, and as a result") {
			t.Errorf("%s: error %v", input, err)
		}
		sameText(t, "files", paths(t), before)
	}
	config.Output = "p"
	for _, input := range []string{"o", "o/*.jsonl"} {
		config.Input = []string{input}
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "o holds results of an earlier job") {
			t.Errorf("%s: error %v", input, err)
		}
	}
	config.Input = []string{"o/unique-*"}
	if second := runJob(t, config); second.Counts.Documents != first.Counts.Kept {
		t.Errorf("%d documents of %d that were kept", second.Counts.Documents, first.Counts.Kept)
	}
}

// TestLeftoversAreNoInput: the folders that a killed job leaves are not read.
func TestLeftoversAreNoInput(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "c/in.jsonl", file{"in.jsonl", synthetic(83)}.content(), plain)
	config := testConfig(t, "c")
	config.Output = "c/out"
	work, err := openWorkspace(&config, "")
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	for _, folder := range []string{work.Temp, work.Partial} {
		put(t, filepath.Join(folder, "x.json"), []byte("{}\n"), plain)
	}
	for _, input := range []string{"c", "c/**", "c/**/*.json*", "c/out/.*/*.json", "c/out.temp/*/*.json"} {
		config.Input = []string{input}
		inputs, _, err := listing.Inputs(t.Context(), config)
		if strings.Contains(input, "out") != (err != nil) || err == nil && len(inputs.Files) != 1 {
			t.Errorf("%s: %+v (%v)", input, inputs.Files, err)
		}
	}
}
