package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// sourceNames returns the names of the sources of all documents, with "reference " before those of the reference: each
// file is one, or the values of a field that most documents have.
func (tr *truth) sourceNames(byField bool) []string {
	names := make([]string, len(tr.documents))
	const reference = "reference "
	for i, d := range tr.documents {
		names[i], _, _ = strings.Cut(d.ref, ":")
		if byField {
			names[i] = d.source
		}
		if i < tr.references {
			names[i] = reference + names[i]
		}
	}
	return names
}

// sourceRows returns the table of sources. Removed holds the refs of the removed documents.
func (tr *truth) sourceRows(config job.Config, removed map[string]bool) []sources.Row {
	threshold, names := config.Threshold, tr.sourceNames(config.SourceField != "")
	fileOf := func(i int) string { return names[i] }
	files := 1
	if config.SourceField != "" {
		files = 0
	}
	rows := map[string]*sources.Row{}
	in := map[[2]string]int64{}
	for i := range tr.documents {
		own := fileOf(i)
		row := rows[own]
		if row == nil {
			row = &sources.Row{Source: own, Reference: i < tr.references, Files: files}
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
				row.In = append(row.In, sources.Share{
					Source:    strings.TrimPrefix(pair[1], "reference "),
					Reference: strings.HasPrefix(pair[1], "reference "),
					Documents: documents,
				})
			}
		}
		slices.SortFunc(row.In, func(a, b sources.Share) int {
			return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source),
				referenceFirst(a.Reference, b.Reference))
		})
		row.Source = strings.TrimPrefix(own, "reference ")
		table = append(table, *row)
	}
	slices.SortFunc(table, func(a, b sources.Row) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source),
			referenceFirst(a.Reference, b.Reference))
	})
	return table
}

// referenceFirst orders a source of the reference before one of the input.
func referenceFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
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
		got[i].Lost, got[i].LostOf = 0, 0 // package clusters compares them with brute force
		for j := range got[i].In {
			got[i].In[j].Source = strings.TrimSuffix(got[i].In[j].Source, ".zst")
		}
	}
	want := tr.sourceRows(config, removed)
	if len(want) == 1 && config.SourceField == "" {
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

// shownSource returns a value in JSON as a table of sources shows it.
func shownSource(value string) string {
	var text string
	switch {
	case value == "null":
		return "(none)"
	case value == `""`:
		return value
	case json.Unmarshal([]byte(value), &text) == nil:
		return text
	}
	return value
}

// fromSources returns documents of many sources, in the field site. A few of them have many documents each; many have
// one or two. Some documents lack the field.
func fromSources(lines []line, many int, seed uint64) []line {
	random := newWriter(seed)
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.kind == rejectLine })
	return marked(lines, func(_ int, l *line) map[string]string {
		n := int(math.Pow(float64(many), random.random.Float64())) - 1
		value := fmt.Sprintf(`"site %d.example"`, n)
		switch {
		case n%7 == 3:
			value = fmt.Sprint(n)
		case n == 4:
			value = `""`
		case n == 5:
			value = `null`
		case n == 6:
			l.source = "(none)"
			return nil
		}
		l.source = shownSource(value)
		return map[string]string{"site": value}
	})
}

// TestSourceFieldChangesNothingElse: the rows of a job are the same with and without the field, and so is the hash of
// its configuration. With passages the table counts documents that share one.
func TestSourceFieldChangesNothingElse(t *testing.T) {
	input := putCorpus(t, plain, cut(fromSources(oddities(78), 20, 79), 4)...)
	for _, similarity := range []methods.Similarity{methods.Resemblance, methods.Containment} {
		t.Run(string(similarity), func(t *testing.T) {
			config := lawConfig(t, input)
			if config.Similarity = similarity; similarity == methods.Containment {
				config.Keys, config.Emit = methods.Auto, []string{output.Pairs}
			}
			plain := runJob(t, config)
			want := string(readOutput(t, config.Output, output.Pairs))
			config.SourceField, config.Output = "site", filepath.Join(t.TempDir(), "by field")
			summary := runJob(t, config)
			sameText(t, string(similarity), string(readOutput(t, config.Output, output.Pairs)), want)
			if !reflect.DeepEqual(summary.Counts, plain.Counts) || summary.ConfigHash != plain.ConfigHash {
				t.Errorf("%s: counts %+v and hash %s, want %+v and %s", similarity, summary.Counts, summary.ConfigHash,
					plain.Counts, plain.ConfigHash)
			}
			documents, elsewhere := int64(0), int64(0)
			for _, row := range summary.Sources {
				documents, elsewhere = documents+row.Documents, elsewhere+row.Elsewhere
			}
			if documents != summary.Counts.Documents || elsewhere == 0 {
				t.Errorf("%s: sources of %d documents, %d of them elsewhere: %+v", similarity, documents, elsewhere,
					summary.Sources)
			}
		})
	}
}
