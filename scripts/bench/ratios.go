package main

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"mirrorbeam.dev/internal/result/finished"
)

// ratios prints what the main job takes for each corpus, and how many times what it takes for the first. The corpora
// run in turn, so that a machine that slows down slows all of them.
func (b *benchmark) ratios(corpora []string) error {
	used := make([][]usage, len(corpora))
	summaries := make([]finished.Summary, len(corpora))
	for range b.runs {
		for i, corpus := range corpora {
			once, s, err := b.job(corpus)
			if err != nil {
				return err
			}
			used[i], summaries[i] = append(used[i], once), s
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "corpus\tCPU-s\ttimes\tpeak MB\ttemporary MB\tcandidates\tpairs\t")
	cpu := func(u usage) float64 { return u.cpu }
	for i, corpus := range corpora {
		s := &summaries[i]
		fmt.Fprintf(table, "%s\t%.2f\t%.1f\t%.0f\t%.0f\t%d\t%d\t\n", filepath.Base(corpus),
			median(used[i], cpu), median(used[i], cpu)/median(used[0], cpu),
			median(used[i], func(u usage) float64 { return u.peak })/1e6,
			float64(s.TempBytes)/1e6, s.Counts.Candidates, s.Counts.Pairs)
	}
	return table.Flush()
}
