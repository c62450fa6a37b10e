package pipeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/sources"
	"mirrorbeam/internal/warnings"
	"mirrorbeam/job"
)

// sourceRows returns the table of sources: each file is one. Removed holds the refs of the removed documents.
func (tr *truth) sourceRows(threshold float64, removed map[string]bool) []sources.Row {
	fileOf := func(i int) string {
		name, _, _ := strings.Cut(tr.documents[i].ref, ":")
		if i < tr.references {
			return "reference " + name
		}
		return name
	}
	rows := map[string]*sources.Row{}
	in := map[[2]string]int64{}
	for i := range tr.documents {
		own := fileOf(i)
		row := rows[own]
		if row == nil {
			row = &sources.Row{Source: own, Reference: i < tr.references, Files: 1}
			rows[own] = row
		}
		row.Documents++
		if removed[tr.documents[i].ref] {
			row.Removed++
		}
		near := map[string]bool{}
		for j := range tr.documents {
			if j != i && (i >= tr.references || j >= tr.references) && tr.similarity(i, j) >= threshold {
				near[fileOf(j)] = true
			}
		}
		for other := range near {
			in[[2]string{own, other}]++
		}
		if delete(near, own); len(near) > 0 {
			row.Elsewhere++
		}
	}
	var table []sources.Row
	for own, row := range rows {
		row.In = []sources.Share{}
		for pair, documents := range in {
			if pair[0] == own {
				row.In = append(row.In, sources.Share{Source: strings.TrimPrefix(pair[1], "reference "), Documents: documents})
			}
		}
		slices.SortFunc(row.In, func(a, b sources.Share) int {
			return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source))
		})
		row.Source = strings.TrimPrefix(own, "reference ")
		table = append(table, *row)
	}
	slices.SortFunc(table, func(a, b sources.Row) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source))
	})
	return table
}

// checkSources compares the table of sources with the truth.
func checkSources(t *testing.T, config job.Config, summary Summary, tr *truth) {
	t.Helper()
	removed := map[string]bool{}
	for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
		removed[row.Ref] = true
	}
	got := slices.Clone(summary.Sources)
	for i := range got {
		got[i].Source = strings.TrimSuffix(got[i].Source, ".zst")
		for j := range got[i].In {
			got[i].In[j].Source = strings.TrimSuffix(got[i].In[j].Source, ".zst")
		}
	}
	want := tr.sourceRows(config.Threshold, removed)
	if len(want) == 1 {
		// The name of a source lacks the folder that all files have in common.
		want[0].Source = filepath.Base(want[0].Source)
		for i := range want[0].In {
			want[0].In[i].Source = want[0].Source
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sources\n%+v, want\n%+v", got, want)
	}
}

// warned returns files with data that a user may lose: a source that is all in another one, pages of one template, two
// families of documents that one pair joins, and a field of addresses.
func warned() []file {
	w := newWriter(12)
	taken := func(name string, add func()) file {
		w.lines = nil
		add()
		return file{name, w.lines}
	}
	var texts []string
	for range 60 {
		texts = append(texts, strings.Join(w.text(60), " "))
	}
	addTexts := func() {
		for _, text := range texts {
			w.add(text)
		}
	}
	template := strings.Join(w.text(100), " ")
	return []file{
		taken("first.jsonl", addTexts),
		taken("families.jsonl", func() {
			// Neighbours in this list of parts have more than four fifths of their shingles in common, others less.
			words := w.text(120)
			for i, part := range [][]string{words[:100], words[:108], words[11:], words[20:]} {
				w.add(strings.Join(part, " "))
				for copied := range 30 {
					if i == 0 || i == 3 {
						w.add(fmt.Sprintf("%s %d", strings.Join(part, " "), copied))
					}
				}
			}
			for range 10 {
				w.add(strings.Join(w.text(30), " "))
			}
		}),
		taken("pages.jsonl", func() {
			for range 150 {
				w.add(template + " " + strings.Join(w.text(8), " "))
			}
		}),
		taken("second.jsonl", addTexts),
		taken("sites.jsonl", func() {
			for i := range 1000 {
				w.add(fmt.Sprintf("https://example.org/%d/%s", i, w.text(1)[0]))
			}
		}),
	}
}

// TestWarnings: each of the things that a user may want to know of is told once, with the flag that helps.
func TestWarnings(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, warned()...))
	want := []warnings.Warning{
		{
			Kind: warnings.TextField, Flag: "--text-field",
			Text: "the text, field text, is a web address in 1000 of 1344 records: the texts may be in another field",
		},
		{
			Kind: warnings.SourceLoss, Flag: "--threshold 0.9, --split star, --stopwords-use require",
			Text: "pages.jsonl loses 149 of its 150 documents; 150 are like others of the same source",
		},
		{
			Kind: warnings.SourceLoss, Flag: "--input",
			Text: "second.jsonl loses 60 of its 60 documents; 60 have near-duplicates in first.jsonl, which may hold the same data",
		},
	}
	summary := runJob(t, config)
	got := map[warnings.Kind]int{}
	for i, warning := range summary.Warnings {
		if got[warning.Kind]++; i < len(want) && warning != want[i] {
			t.Errorf("warning %+v, want %+v", warning, want[i])
		}
	}
	if !reflect.DeepEqual(got, map[warnings.Kind]int{
		warnings.TextField: 1, warnings.SourceLoss: 2, warnings.LikelyTemplate: 1, warnings.OnePair: 1,
	}) {
		t.Errorf("warnings %+v", summary.Warnings)
	}
	last := summary.Warnings[len(summary.Warnings)-1]
	if !strings.Contains(last.Text, "of 64 documents is held together by one pair") || !strings.Contains(last.Text, "without it, 32 of them") || last.Flag != "--split star" {
		t.Errorf("warning %+v", last)
	}
	// With stars there are no chains.
	config.Split, config.Output = keep.Star, filepath.Join(t.TempDir(), "stars")
	for _, warning := range runJob(t, config).Warnings {
		if warning.Kind == warnings.OnePair || strings.Contains(warning.Flag, "--split") {
			t.Errorf("with stars: %+v", warning)
		}
	}
}

// TestWarningsInCuts: what is counted for warnings and of sources does not depend on how the job is cut.
func TestWarningsInCuts(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, warned()...))
	want, whole := runInner(t, config, wholeJob)
	if whole.Templates.Count != 1 || whole.Bridges.Count != 1 {
		t.Fatalf("doubtful clusters: %+v, %+v", whole.Templates, whole.Bridges)
	}
	sameInCuts(t, config, want, whole, innerJob{splitBytes: 4 << 10, shards: 7, placeBytes: 1 << 12, lanes: 3})
}
