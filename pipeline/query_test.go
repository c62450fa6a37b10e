package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/query"
	"mirrorbeam/job"
)

type matchRow struct {
	ID           string  `json:"id"`
	Ref          string  `json:"ref"`
	Match        string  `json:"match"`
	MatchRef     string  `json:"match_ref"`
	Jaccard      float64 `json:"jaccard"`
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	Hamming      int     `json:"hamming"`
	Cosine       float64 `json:"cosine"`
	Identical    bool    `json:"identical"`
	Reference    bool    `json:"reference"`
}

// runIndex runs a job that writes an index and opens it.
func runIndex(t testing.TB, config job.Config) *query.Index {
	t.Helper()
	config.Emit = []string{output.Index}
	runJob(t, config)
	x, err := query.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// runQuery returns the matches of a query that must succeed.
func runQuery(t testing.TB, x *query.Index, q query.Request) ([]matchRow, query.Counts) {
	t.Helper()
	var out bytes.Buffer
	counts, err := x.Answer(context.Background(), q, &out)
	if err != nil {
		t.Fatal(err)
	}
	rows := decodeRows[matchRow](t, "matches", out.Bytes())
	if counts.Matches != int64(len(rows)) {
		t.Errorf("%d matches are counted, there are %d", counts.Matches, len(rows))
	}
	return rows, counts
}

// matchRows returns the expected answer to a query of all documents.
func (tr *truth) matchRows(threshold float64) (rows []matchRow) {
	for i := range tr.documents {
		a := &tr.documents[i]
		start := len(rows)
		for j := range tr.documents {
			b, jaccard := &tr.documents[j], tr.likeness(i, j)
			if jaccard < threshold {
				continue
			}
			row := matchRow{
				ID: tr.id(i), Ref: a.ref, Match: tr.id(j), MatchRef: b.ref, Jaccard: jaccard,
				ContainmentA: 1, ContainmentB: 1, Identical: jaccard == 1, Reference: j < tr.references,
			}
			if jaccard < 1 {
				shared := float64(tr.shared[max(i, j)][min(i, j)])
				row.ContainmentA, row.ContainmentB = shared/float64(len(a.set)), shared/float64(len(b.set))
			}
			rows = append(rows, row)
		}
		slices.SortStableFunc(rows[start:], func(x, y matchRow) int { return int(1e6*y.Jaccard) - int(1e6*x.Jaccard) })
	}
	return rows
}

// TestQueryFindsAllDocuments looks for all documents of a corpus with everything unusual in its own index, at the
// threshold of the index and above.
func TestQueryFindsAllDocuments(t *testing.T) {
	files, reference := cut(oddities(81), 3), file{"reference.jsonl", oddities(82)[:150]}
	input, known := putCorpus(t, plain, files...), putCorpus(t, plain, reference)
	tr := naiveTruth(3, true, append([]file{reference}, files...)...)
	for range reference.lines {
		if tr.references < len(tr.documents) && strings.HasPrefix(tr.documents[tr.references].ref, reference.name) {
			tr.references++
		}
	}
	for _, threshold := range []float64{1e-300, 0.2, 0.5, 0.8} {
		config := testConfig(t, input)
		config.Reference, config.Threshold = []string{known}, threshold
		x := runIndex(t, config)
		for _, asked := range []float64{0, 0.5, 0.9, 1} {
			if asked > 0 && asked < threshold {
				continue
			}
			want := tr.matchRows(max(asked, threshold))
			rows, counts := runQuery(t, x, query.Request{Input: []string{known}, Threshold: asked})
			more, others := runQuery(t, x, query.Request{Input: []string{input}, Threshold: asked})
			sameRows(t, fmt.Sprintf("index of %g, asked for %g", threshold, asked), append(rows, more...), want)
			if got := counts.Documents + others.Documents; got != int64(len(tr.documents)) {
				t.Errorf("%d documents were looked for, want %d", got, len(tr.documents))
			}
			if got := counts.Rejected + others.Rejected; got != int64(len(tr.rejects)) || !strings.Contains(counts.FirstReject, tr.rejects[0].File) {
				t.Errorf("%d records were rejected, the first %q, want %d", got, counts.FirstReject, len(tr.rejects))
			}
		}
	}
}
