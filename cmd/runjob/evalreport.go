package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mirrorbeam/internal/look/difference"
	"mirrorbeam/internal/look/evaluation"
)

type evalReport struct {
	Truth   truthFacts  `json:"truth"`
	Results resultFacts `json:"results"`
	// ListedPairs is absent if the job has emitted no pairs. ClusteredPairs and Clusters are absent if it has
	// emitted no clusters.
	ListedPairs    *pairScore            `json:"listed_pairs,omitempty"`
	ClusteredPairs *pairScore            `json:"clustered_pairs,omitempty"`
	Clusters       *evaluation.Agreement `json:"clusters,omitempty"`
	// Missed and Wrong are examples, the worst first.
	Missed []example `json:"missed,omitempty"`
	Wrong  []example `json:"wrong,omitempty"`
	Notes  []string  `json:"notes,omitempty"`
}

type truthFacts struct {
	File      string  `json:"file"`
	Threshold float64 `json:"threshold"`
	Documents int     `json:"documents"`
	Pairs     int     `json:"pairs"`
	Below     int64   `json:"below_threshold"`
}

type resultFacts struct {
	Folder    string  `json:"folder"`
	Threshold float64 `json:"threshold"`
	Documents int64   `json:"documents"`
	Pairs     int64   `json:"pairs"`
	Clusters  int64   `json:"clusters"`
}

// pairScore is the score of pairs, with the counts behind it.
type pairScore struct {
	evaluation.Score
	evaluation.PairCounts
}

func newPairScore(counts evaluation.PairCounts) *pairScore {
	return &pairScore{counts.Score(), counts}
}

type example struct {
	A string `json:"a"`
	B string `json:"b"`
	// Similarity comes from the truth for a missed pair, and from the job for a wrong one.
	Similarity   *float64 `json:"similarity,omitempty"`
	InOneCluster bool     `json:"in_one_cluster,omitempty"`
	// ExcerptA and ExcerptB are the beginnings of the texts. Difference shows where the texts differ.
	ExcerptA   string   `json:"excerpt_a,omitempty"`
	ExcerptB   string   `json:"excerpt_b,omitempty"`
	Difference []string `json:"difference,omitempty"`
}

func (x *example) show(texts map[string]string) {
	a, hasA := texts[x.A]
	b, hasB := texts[x.B]
	x.ExcerptA, x.ExcerptB = excerpt(a), excerpt(b)
	if hasA && hasB {
		x.Difference = differenceLines(difference.Words(a), difference.Words(b))
	}
}

const excerptLength = 100

func excerpt(text string) string {
	var start []rune
	for word := range strings.FieldsSeq(text) {
		if len(start) > 0 {
			start = append(start, ' ')
		}
		for _, r := range word {
			if len(start) >= excerptLength {
				return strings.TrimSpace(string(start)) + "…"
			}
			start = append(start, r)
		}
	}
	return string(start)
}

func (r *evalReport) print(to io.Writer) error {
	w := bufio.NewWriter(to)
	say(w, "truth %s: %s of %s", r.Truth.File, counted(int64(r.Truth.Pairs), "pair"), counted(int64(r.Truth.Documents), "document"))
	if r.Truth.Below > 0 {
		say(w, "; %s below the threshold %g", counted(r.Truth.Below, "line"), r.Truth.Threshold)
	}
	say(w, "\nresults in %s: %s, threshold %g, %s, %s\n\n", r.Results.Folder, counted(r.Results.Documents, "document"),
		r.Results.Threshold, counted(r.Results.Pairs, "pair"), counted(r.Results.Clusters, "cluster"))
	r.printScores(w)
	printExamples(w, "The most similar pairs that were missed:", r.Missed)
	printExamples(w, "The least similar pairs that are wrong:", r.Wrong)
	if len(r.Notes) > 0 {
		say(w, "\n")
	}
	for _, note := range r.Notes {
		say(w, "note: %s\n", note)
	}
	return w.Flush()
}

func (r *evalReport) printScores(w io.Writer) {
	say(w, "%-34s %9s %9s %9s\n", "", "precision", "recall", "F1")
	row := func(name string, score evaluation.Score, counts string) {
		say(w, "%-34s %9.5f %9.5f %9.5f%s\n", name, score.Precision, score.Recall, score.F1, counts)
	}
	pairs := func(name string, scores *pairScore) {
		if scores == nil {
			return
		}
		row(name, scores.Score, fmt.Sprintf("   %s of %s found, %s of %s wrong",
			count(scores.Found), count(scores.True), count(scores.Wrong), count(scores.Listed)))
	}
	pairs("pairs that are listed", r.ListedPairs)
	pairs("pairs in one cluster", r.ClusteredPairs)
	if r.Clusters == nil {
		return
	}
	row("clusters, by pairs", r.Clusters.Pairwise, "")
	row("clusters, B-cubed", r.Clusters.BCubed, "")
	row("  without documents that are alone", r.Clusters.BCubedClustered, "")
	say(w, "%-34s %9.5f\n", "clusters, adjusted Rand index", r.Clusters.AdjustedRand)
}

func printExamples(w io.Writer, title string, examples []example) {
	if len(examples) == 0 {
		return
	}
	say(w, "\n%s\n", title)
	for _, x := range examples {
		line := "  similarity "
		if x.Similarity == nil {
			line += "not given"
		} else {
			line += fmt.Sprintf("%.3f", *x.Similarity)
		}
		if x.InOneCluster {
			line += ", but in one cluster"
		}
		say(w, "%s\n     - %s\n", line, x.A)
		printText(w, x.ExcerptA)
		say(w, "     + %s\n", x.B)
		printText(w, x.ExcerptB)
		for _, line := range x.Difference {
			say(w, "       %s\n", line)
		}
	}
}

func printText(w io.Writer, text string) {
	if text != "" {
		say(w, "       | %s\n", text)
	}
}
