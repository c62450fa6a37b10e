package pipeline

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// checkTrimmed compares the words that are left of each document with brute force, as docs/how-to/passages.md says it.
func checkTrimmed(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	type place struct{ document, word int }
	tr := s.truth(config)
	first, last, copies := map[string]place{}, map[string]place{}, map[string]int64{}
	clear := func(a, b place) bool { return a.document != b.document || a.word+config.PassageWords <= b.word }
	each := func(visit func(at place, passage string)) {
		for i, d := range tr.documents {
			words := naiveTokens(d.text, true)
			for at := 0; at+config.PassageWords <= len(words); at++ {
				visit(place{i, at}, strings.Join(words[at:at+config.PassageWords], " "))
			}
		}
	}
	each(func(at place, passage string) {
		if copies[passage] == 0 {
			first[passage] = at
		} else if !clear(last[passage], at) {
			return
		}
		last[passage] = at
		copies[passage]++
	})
	cut := map[place]bool{}
	each(func(at place, passage string) {
		if at.document >= tr.references && copies[passage] >= config.PassageCopies && clear(first[passage], at) {
			for i := range config.PassageWords {
				cut[place{at.document, at.word + i}] = true
			}
		}
	})
	var want [][]string
	gone, changed, words := int64(0), int64(0), int64(0)
	for i, d := range tr.documents[tr.references:] {
		var left []string
		all := naiveTokens(d.text, true)
		for at, word := range all {
			if !cut[place{tr.references + i, at}] {
				left = append(left, word)
			}
		}
		words += int64(len(all))
		if len(left) < len(all) {
			changed++
			if len(left) < config.MinWords {
				gone++
				continue
			}
		}
		want = append(want, left)
	}
	rows := readRows[map[string]any](t, config.Output, output.Trimmed)
	if len(rows) != len(want) {
		t.Fatalf("%d documents are left, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if got := naiveTokens(row["text"].(string), true); !slices.Equal(got, want[i]) {
			t.Fatalf("document %d has %q, want %q", i, got, want[i])
		}
	}
	if n := summary.Trimmed; n.Gone != gone || n.Documents != changed || n.Of != words || changed < 20 ||
		n.Words < 200 || gone == 0 && config.MinWords > 0 {
		t.Errorf("counts %+v, want %d documents cut, %d of them gone, and %d words", n, changed, gone, words)
	}
}

// TestTrimmedFormats: the same documents are cut alike, whatever the format, the compression and the storage, and a run
// with a state writes the same. Records that are not cut stay as they were.
func TestTrimmedFormats(t *testing.T) {
	t.Parallel()
	all := articles(t)
	byID, texts := map[string]article{}, map[string]string{}
	for _, d := range all {
		byID[d.ID] = d
	}
	eachStore(t, all, func(t *testing.T, format *corpus.Definition, config job.Config, _ map[string]string) {
		config.Emit, config.Keys, config.PassageWords = []string{output.Trimmed, output.Passages}, "same-bytes", 5
		whole := config
		whole.State = ""
		summary, err := Run(t.Context(), whole)
		if format.Cutter == nil && format.CopyRows == nil {
			if err == nil ||
				!strings.Contains(err.Error(), "nothing can be cut out of texts of the format "+format.Name) {
				t.Errorf("texts of the format %s are cut: %v", format.Name, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		changed := int64(0)
		for _, d := range nameInOrder(t, recordsIn(t, outputsOf(t, config.Output, output.Trimmed)),
			slices.Sorted(maps.Keys(texts))) {
			expected := heldBy(format, byID[d.ID])
			if d.Text != expected.Text {
				changed++
			}
			if format.Format == corpus.JSONLines {
				texts[d.ID] = d.Text
			}
			if expected.Text = texts[d.ID]; format.Format == corpus.PlainLines &&
				slices.Equal(naiveTokens(d.Text, true), naiveTokens(expected.Text, true)) {
				expected.Text = d.Text // other white space around a cut leaves other punctuation there
			}
			if d.article() != expected {
				t.Errorf("document %s is %q, want %q", d.ID, d.article(), expected)
			}
		}
		if n := summary.Trimmed; n.Documents-n.Gone != changed || changed < 20 || n.Gone < 5 {
			t.Errorf("%d documents are changed; counts %+v", changed, n)
		}
		checkRecalled(t, format, config)
	})
}
