package report

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
)

// mostChanges is the number of changes of each output that a page lists.
const mostChanges = 60

// Changes say what is different from the last run of a scheduled job.
type Changes struct {
	finished.StateSummary
	// Rows are the changes of the most members, of suspects first, then of mirrors and of clusters.
	Rows []Change `json:"rows,omitempty"`
}

// Change is a row of changes, without its lineages. Its members are documents, sites, or copied pages. Since is 0 unless such a
// change was first found in an earlier run and nobody has acknowledged it.
type Change output.Change

// What says what has changed.
func (c Change) What() string {
	return map[string]string{output.Clusters: "cluster", output.Mirrors: "mirror group", output.Suspects: "suspect", output.Protected: "protected site"}[c.Of]
}

func (b *builder) addChanges(ctx context.Context) error {
	if b.summary.State == nil {
		return nil
	}
	s := &Changes{StateSummary: *b.summary.State}
	s.Suspects = nil // the table of suspects has them
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
		row.Lineage, row.Previous = "", nil
		if row.Name == "" { // it stands for changes that are not repeated one by one
			row.Name = "further ones"
		}
		if row.Since >= int64(s.Generation) {
			row.Since = 0
		}
		largest[row.Of].add(-float64(row.Added+row.Removed), Change(row))
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
func (c *Changes) Table() []changeCounts { return table(c.Changes) }

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
