package main

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/difference"
	"mirrorbeam/internal/look/finished"
)

// tour shows samples of the results of a job: the largest clusters, a pair that is similar but not identical
// with its difference, and the documents that would be removed.
type tour struct {
	results  *finished.Folder
	clusters map[string][]output.Member // by the name of the cluster
}

// show prints the tour.
func (t *tour) show(ctx context.Context, w io.Writer) error {
	t.clusters = map[string][]output.Member{}
	for member, err := range t.results.Members(ctx) {
		if err != nil {
			return err
		}
		t.clusters[member.Cluster] = append(t.clusters[member.Cluster], member)
	}
	if len(t.clusters) == 0 {
		return nil
	}
	t.largest(w)
	if err := t.nearPair(ctx, w); err != nil {
		return err
	}
	return t.removed(w)
}

// largest prints the clusters with the most documents.
func (t *tour) largest(w io.Writer) {
	names := make([]string, 0, len(t.clusters))
	for name := range t.clusters {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.clusters[b][0].Size, t.clusters[a][0].Size), cmp.Compare(a, b))
	})
	say(w, "\nThe largest clusters, each by its first document:\n")
	for _, name := range names[:min(5, len(names))] {
		kept := 0
		for _, row := range t.clusters[name] {
			if row.Kept {
				kept++
			}
		}
		say(w, "%6d documents, %d kept   %s\n", t.clusters[name][0].Size, kept, name)
	}
}

// nearPair prints the pair whose similarity is closest to 0.85, and how its documents differ.
func (t *tour) nearPair(ctx context.Context, w io.Writer) error {
	var a, b string
	jaccard, distance := 0.0, math.Inf(1)
	for pair, err := range t.results.Pairs(ctx) {
		if err != nil {
			return err
		}
		if d := math.Abs(pair.Jaccard - 0.85); !pair.Identical && d < distance {
			a, b, jaccard, distance = string(pair.A), string(pair.B), pair.Jaccard, d
		}
	}
	if math.IsInf(distance, 1) {
		return nil
	}
	texts, err := t.results.Texts(ctx, []string{a, b})
	if err != nil {
		return err
	}
	say(w, "\nA pair that is not a copy: similarity %.3f\n     - %s\n     + %s\n", jaccard, a, b)
	for _, line := range differenceLines(difference.Words(texts[a]), difference.Words(texts[b])) {
		say(w, "       %s\n", line)
	}
	return nil
}

// removed prints some of the documents that would be removed. Those least similar to the kept document come
// first: there one should look before one trusts a threshold.
func (t *tour) removed(w io.Writer) error {
	var rows []output.Member
	for _, cluster := range t.clusters {
		for _, row := range cluster {
			if !row.Kept {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b output.Member) int {
		return cmp.Or(cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.ID, b.ID))
	})
	say(w, "\n%s would be removed; the ones least similar to the document kept:\n", counted(int64(len(rows)), "document"))
	for _, row := range rows[:min(4, len(rows))] {
		say(w, "   %.3f   %s\n", row.Similarity, row.ID)
	}
	return nil
}
