package report

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
)

// mostChanges is the number of changes of each output that a page lists.
const mostChanges = 60

// Changes say what is different from the last run of a scheduled job.
type Changes struct {
	// Generation is the number of the generation of the state that the run has written.
	Generation int        `json:"generation"`
	Files      FileCounts `json:"files"`
	// Counts counts the changes by the output that has them, and by their kind.
	Counts map[string]map[string]int64 `json:"changes"`
	// Unacknowledged counts in the same way the changes, of this run and of earlier ones, that nobody has acknowledged.
	Unacknowledged map[string]map[string]int64 `json:"unacknowledged,omitempty"`
	// Suspects say since when suspects are known. The table of suspects has that.
	Suspects []knownSuspect `json:"suspects,omitempty"`
	// Rows are the changes of the most members, of suspects first, then of mirrors and of clusters.
	Rows []Change `json:"rows,omitempty"`
}

// knownSuspect says which run has first seen a suspect.
type knownSuspect struct {
	ID         string `json:"id"`
	Generation int64  `json:"generation"`
	Seen       string `json:"seen"`
}

// FileCounts counts files by how they differ from those of the last run.
type FileCounts struct {
	Unchanged int64 `json:"unchanged"`
	New       int64 `json:"new"`
	Changed   int64 `json:"changed"`
	Removed   int64 `json:"removed"`
}

// Change is a row of changes. Its members are documents, sites, or copied pages.
type Change struct {
	Of      string `json:"of"`
	Change  string `json:"change"`
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Before  int64  `json:"before"`
	Added   int64  `json:"added"`
	Removed int64  `json:"removed"`
	// Since is the generation in which such a change was first found, if that is an earlier run that nobody has acknowledged.
	Since int64 `json:"since,omitempty"`
}

// What says what has changed.
func (c Change) What() string {
	return map[string]string{output.Clusters: "cluster", output.Mirrors: "mirror group", output.Suspects: "suspect", output.Protected: "protected site"}[c.Of]
}

// addChanges takes over what has changed.
func (b *builder) addChanges(ctx context.Context) error {
	s := b.summary.State
	if s == nil {
		return nil
	}
	b.figures.Changes = s
	largest := map[string]*best[Change]{}
	for _, of := range output.Followed {
		largest[of] = newBest[Change](mostChanges)
	}
	all := int64(0)
	for row, err := range b.folder.Changes(ctx) {
		if err != nil {
			return err
		}
		if all++; largest[row.Of] == nil {
			return fmt.Errorf("a change of %q, which is unknown", row.Of)
		}
		change := Change{Of: row.Of, Change: row.Change, Name: row.Name, Size: row.Size, Before: row.Before, Added: row.Added, Removed: row.Removed}
		if row.Name == "" { // it stands for changes that are not repeated one by one
			change.Name = "further ones"
		}
		if row.Since < int64(s.Generation) {
			change.Since = row.Since
		}
		largest[row.Of].add(-float64(row.Added+row.Removed), change)
	}
	for _, of := range slices.Backward(output.Followed) {
		s.Rows = append(s.Rows, largest[of].items...)
	}
	if shown := int64(len(s.Rows)); shown < all {
		b.note(fmt.Sprintf("%s of %s changes are listed: those of the most members.", count(shown), count(all)))
	}
	return nil
}

// changeCounts counts the changes of an output, by the kinds of output.ChangeKinds.
type changeCounts struct {
	Of     string
	Counts []int64
}

// Kinds returns the kinds of changes in the order of a table.
func (*Changes) Kinds() []string { return output.ChangeKinds }

// Table returns the numbers of changes.
func (c *Changes) Table() []changeCounts { return table(c.Counts) }

// Open returns the numbers of changes that nobody has acknowledged, of outputs that have any.
func (c *Changes) Open() []changeCounts {
	return slices.DeleteFunc(table(c.Unacknowledged), func(row changeCounts) bool { return slices.Max(row.Counts) == 0 })
}

// table returns counts by output, and by kind, in the order of a table.
func table(all map[string]map[string]int64) (rows []changeCounts) {
	for _, of := range slices.Backward(output.Followed) {
		counts, is := all[of]
		if !is {
			continue
		}
		row := changeCounts{Of: of}
		for _, kind := range output.ChangeKinds {
			row.Counts = append(row.Counts, counts[kind])
		}
		rows = append(rows, row)
	}
	return rows
}
