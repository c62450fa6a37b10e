package pipeline

import (
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// TestIdentical: documents of the same bytes, or of the same words in the same order, are joined, and no others, whatever
// else is in the files, with a reference and without.
func TestIdentical(t *testing.T) {
	t.Parallel()
	files, references := cut(oddities(17), 3), cut(oddities(18), 3)
	input, reference := putCorpus(t, plain, files...), putCorpus(t, plain, references...)
	for i := range references {
		references[i].name = reference + "/" + references[i].name
	}
	whole := slices.Clone(files) // with the names that files have beside a reference
	for i := range whole {
		whole[i].name = input + "/" + whole[i].name
	}
	for _, test := range []struct {
		keys methods.Name
		same func(text string) string // the same for documents that are the same
	}{
		{methods.SameBytes, func(text string) string { return text }},
		{methods.SameWords, func(text string) string {
			if tokens := naiveTokens(text, true); len(tokens) > 0 {
				return "words: " + strings.Join(tokens, " ")
			}
			return text
		}},
	} {
		for _, of := range []struct{ references, input []file }{{nil, files}, {references, whole}} {
			tr := naiveTruth(3, true, slices.Concat(of.references, of.input)...)
			for _, f := range of.references {
				for _, l := range f.lines {
					if l.kind == documentLine {
						tr.references++
					}
				}
			}
			all := classes{references: tr.references}
			first := map[string]int{}
			for i, d := range tr.documents {
				key := test.same(d.text)
				if _, known := first[key]; !known {
					first[key] = i
				}
				all.first = append(all.first, first[key])
			}
			config := byKeys(testConfig(t, input), test.keys)
			if of.references != nil {
				config.Reference = []string{reference}
			}
			config.Emit = []string{output.Clusters, output.Pairs, output.Removed, output.Unique}
			summary := runJob(t, config)
			want := tr.rowsOf(all.edges(func(int, int) bool { return false }))
			sameRows(t, "pairs", readRows[pairRow](t, config.Output, output.Pairs), want)
			if n := int64(len(want)); n < 10 || summary.Counts.Identical != n || summary.Counts.Candidates != 0 || summary.Audit != nil || summary.Plan.ExpectedRecall != 1 {
				t.Errorf("%s: %d rows, counts %+v, plan %+v", test.keys, n, summary.Counts, summary.Plan)
			}
		}
	}
}
