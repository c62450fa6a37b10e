package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/transforms"
)

// TestReference compares an input with a reference corpus, by exact keys, by bands
// and by all pairs, with what the naive implementation says. The names of the reference
// sort behind those of the input.
func TestReference(t *testing.T) {
	parts := cut(oddities(61), 4)
	reference := []file{{"y.jsonl", parts[0].lines}, {"z.jsonl", parts[1].lines}}
	input := []file{{"a.jsonl", parts[2].lines}, {"b.jsonl", parts[3].lines}}
	tr := naiveTruth(3, true, append(slices.Clone(reference), input...)...)
	for _, f := range reference {
		for _, l := range f.lines {
			if l.kind == documentLine {
				tr.references++
			}
		}
	}
	referenceFolder, inputFolder := putCorpus(t, plain, reference...), putCorpus(t, plain, input...)
	for _, c := range []struct {
		keys  transforms.Keys
		keep  transforms.Keep
		split transforms.SplitMode
		lanes int
	}{
		{transforms.ExactKeys, transforms.First, transforms.Component, 1},
		{transforms.ExactKeys, transforms.Longest, transforms.Star, 4},
		{transforms.MinHash, transforms.Longest, transforms.Star, 2},
		{transforms.All, transforms.Longest, transforms.Component, 3},
		{transforms.All, transforms.First, transforms.Star, 1},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := testConfig(t, inputFolder)
			config.Reference = []string{referenceFolder}
			config.Threshold = 0.5
			if c.keys == transforms.MinHash {
				config.Recall = certain
			}
			config.Keys, config.Keep, config.Split, config.Lanes = c.keys, c.keep, c.split, c.lanes
			summary := runJob(t, config)
			checkAgainstTruth(t, config, summary, tr)
			checkUnique(t, config, input)
			forReference := int64(0)
			for _, row := range readRows[removedRow](t, config.Output, transforms.Removed) {
				if row.Reference {
					forReference++
				}
			}
			if n := summary.Counts.RemovedForReference; n != forReference || n == 0 || n == summary.Counts.Removed {
				t.Errorf("%d documents removed for the reference of %d, want %d", n, summary.Counts.Removed, forReference)
			}
		})
	}
}

// TestReferenceOfTheSameNames tells files of one name in input and reference
// apart by their whole paths.
func TestReferenceOfTheSameNames(t *testing.T) {
	lines := synthetic(62)[:5]
	referenceFolder, inputFolder := putCorpus(t, plain, file{"x.jsonl", lines}), putCorpus(t, plain, file{"x.jsonl", lines})
	config := testConfig(t, inputFolder)
	config.Reference = []string{filepath.Join(referenceFolder, "x*")}
	runJob(t, config)
	rows := readRows[removedRow](t, config.Output, transforms.Removed)
	if len(rows) != 5 {
		t.Errorf("%d documents go, want all 5", len(rows))
	}
	for _, row := range rows {
		if !strings.HasPrefix(row.Ref, inputFolder) || !strings.HasPrefix(row.KeptID, referenceFolder) || !row.Reference || row.Similarity != 1 {
			t.Errorf("%+v", row)
		}
	}
}

// TestReferenceRefused: a reference that is none must not pass for one without
// copies.
func TestReferenceRefused(t *testing.T) {
	input := putCorpus(t, plain, file{"x.jsonl", synthetic(63)})
	for _, c := range []struct{ name, reference, says string }{
		{"no match", filepath.Join(input, "nothing*"), "--reference: no file matches"},
		{"in both", filepath.Join(input, "x.jsonl"), "of --reference are one file"},
		{"only rejects", put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n"), plain), "no document in the --reference, 1 record"},
		{"empty", put(t, filepath.Join(t.TempDir(), "empty.jsonl"), nil, plain), "no document in the --reference: nothing"},
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
