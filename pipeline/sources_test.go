package pipeline

import (
	"cmp"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/job"
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
					Source: strings.TrimPrefix(pair[1], "reference "), Reference: strings.HasPrefix(pair[1], "reference "), Documents: documents,
				})
			}
		}
		slices.SortFunc(row.In, func(a, b sources.Share) int {
			return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source), referenceFirst(a.Reference, b.Reference))
		})
		row.Source = strings.TrimPrefix(own, "reference ")
		table = append(table, *row)
	}
	slices.SortFunc(table, func(a, b sources.Row) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source), referenceFirst(a.Reference, b.Reference))
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
