package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
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

// TestPairOfReferenceDocumentsInTheInput: two documents of the input that are alike are
// a pair, though each is equal to one of the reference.
func TestPairOfReferenceDocumentsInTheInput(t *testing.T) {
	var words []string
	for i := range 200 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	one := strings.Join(words, " ")
	other := strings.Join(words[:190], " ") + " a b"
	lines := func(names ...string) []line {
		w := newWriter(1)
		for i, text := range []string{one, other}[:len(names)] {
			w.addAs(names[i], text)
		}
		return w.lines
	}
	folder := putCorpus(t, plain, file{"r.jsonl", lines("r1", "r2")}, file{"x.jsonl", lines("x1", "x2")})
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash, methods.All, methods.SimHash} {
		t.Run(string(keys), func(t *testing.T) {
			config := testConfig(t, filepath.Join(folder, "x*"))
			config.Reference = []string{filepath.Join(folder, "r*")}
			if config = byKeys(config, keys); keys == methods.SimHash {
				config.Score, config.Hamming = methods.Jaccard, 16
			}
			summary := runJob(t, config)
			var got []string
			for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
				got = append(got, fmt.Sprintf("%s %s %.2f", row.A, row.B, row.Jaccard))
			}
			if want := []string{"r1 x1 1.00", "r1 x2 0.94", "r2 x2 1.00"}; !slices.Equal(got, want) {
				t.Errorf("pairs %q, want %q", got, want)
			}
			got = nil
			for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
				got = append(got, fmt.Sprint(row.ID, " for ", row.KeptID, " ", row.Similarity, " ", row.Reference))
			}
			if want := []string{"x1 for r1 1 true", "x2 for r2 1 true"}; !slices.Equal(got, want) {
				t.Errorf("removed %q, want %q", got, want)
			}
			if n := summary.Counts; n.Removed != 2 || n.RemovedForReference != 2 || n.Kept != 0 || n.Pairs != 3 || n.Identical != 2 {
				t.Errorf("counts %+v", n)
			}
		})
	}
}
