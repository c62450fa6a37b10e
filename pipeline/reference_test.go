package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
)

// countDocuments returns how many documents files hold.
func countDocuments(files []file) (n int) {
	for _, f := range files {
		for _, l := range f.lines {
			if l.kind == documentLine {
				n++
			}
		}
	}
	return n
}

// TestReferenceOfTheSameNames: files of one name in input and reference are distinguished by their whole paths.
func TestReferenceOfTheSameNames(t *testing.T) {
	lines := synthetic(62)[:5]
	referenceFolder, inputFolder := putCorpus(t, plain, file{"x.jsonl", lines}), putCorpus(t, plain, file{"x.jsonl", lines})
	config := testConfig(t, inputFolder)
	config.Reference = []string{filepath.Join(referenceFolder, "x*")}
	runJob(t, config)
	rows := readRows[removedRow](t, config.Output, output.Removed)
	if len(rows) != 5 {
		t.Errorf("%d documents go, want all 5", len(rows))
	}
	for _, row := range rows {
		if !strings.HasPrefix(row.Ref, inputFolder) || !strings.HasPrefix(row.KeptID, referenceFolder) || !row.Reference || row.Similarity != 1 {
			t.Errorf("%+v", row)
		}
	}
}

// TestReferenceRefused: a missing reference must not pass for one without copies.
func TestReferenceRefused(t *testing.T) {
	input := putCorpus(t, plain, file{"x.jsonl", synthetic(63)})
	for _, c := range []struct{ name, reference, says string }{
		{"no match", filepath.Join(input, "nothing*"), "reference: no file matches"},
		{"in both", filepath.Join(input, "x.jsonl"), "of reference are one file"},
		{"only rejects", put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n"), plain), "no document in the reference, 1 record"},
		{"empty", put(t, filepath.Join(t.TempDir(), "empty.jsonl"), nil, plain), "no document in the reference: nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, input)
			config.Reference = []string{c.reference}
			if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one of the input that says %q", err, c.says)
			}
		})
	}
}
