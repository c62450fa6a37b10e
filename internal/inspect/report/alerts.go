package report

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
)

// addAlerts lists what to look at twice: first the suspects, then the guards and the warnings of the job.
func (b *builder) addAlerts() {
	f := &b.figures
	b.accuse()
	for _, guard := range b.summary.GuardsMet {
		b.add(Alert{
			Kind:   "guard",
			Text:   fmt.Sprintf("The results do not pass --guard %s, so the run ended with the exit code 10", guard),
			Urgent: true,
		})
	}
	b.addWarnings()
	if c := f.Sensitivity; c != nil && c.isSensitive(f.Run.Threshold) {
		b.alert("crowded", "nearest",
			fmt.Sprintf(
				"%s of the pairs that are not identical are less than %.2g above the threshold: "+
					"a slightly different one gives quite different clusters",
				percent(c.Above, c.Of), c.Width),
			"Look at the pairs with the lowest similarity, and choose a threshold where there are few")
	}
	b.alertRemoved()
	if f.Skipped.Pairs > 0 {
		b.alert("skipped", "method",
			fmt.Sprintf("%s pairs in %s very large groups were not compared one by one", count(f.Skipped.Pairs),
				count(f.Skipped.Groups)),
			"Their documents were compared with a few pivot documents of the group. "+
				"Texts with a common template make such groups: see --common auto")
	}
	if a := f.Method.Audit; a != nil && a.Pairs > 0 {
		if promised := f.Method.ExpectedRecall; a.ListedHigh < promised {
			b.alert("recall", "method",
				fmt.Sprintf(
					"The audit found that %.1f %% of the pairs are listed, and %.1f %% were expected: "+
						"that is per pair, and pairs of one template are missed together", 100*a.Listed, 100*promised),
				"See --recall, or --keys exact")
		}
		if a.Wide {
			b.alert("wide_audit", "method", "The audit found too few pairs for a precise recall", "See --audit")
		}
	}
	if n := b.summary.Counts.Rejected; 100*n >= b.summary.Counts.Documents && n > 0 {
		b.alert("rejects", "rejects",
			fmt.Sprintf("%s records were rejected, and %s documents read", count(n),
				count(b.summary.Counts.Documents)), "")
	}
}

func (b *builder) addWarnings() {
	for _, w := range b.summary.Warnings {
		text := w.Text
		if w.Kind != warnings.SourceLoss { // that begins with a name
			text = capital(text)
		}
		topic := w.Kind.Topic()
		if b.options.HideIDs {
			text = topic.Text
		}
		if w.More > 0 {
			text = fmt.Sprintf("%s (and %s more of the kind)", text, count(w.More))
		}
		help := ""
		if w.Flag != "" {
			help = "See " + w.Flag
		}
		b.add(Alert{Kind: string(w.Kind), Text: text, Help: help, Place: topic.Place})
	}
}

const (
	// muchRemoved is the share of a corpus whose loss is told, in percent.
	muchRemoved = 40
	// fewOfCluster is the least size of a cluster that an alert names if it keeps a quarter of its documents.
	fewOfCluster = 8
)

func (b *builder) alertRemoved() {
	f := &b.figures
	if c := f.Counts; 100*c.Removed >= muchRemoved*c.Documents && c.Removed > 0 && b.summary.Config.TellsRemoved() {
		b.alert("much_removed", "clusters",
			fmt.Sprintf("%s of the documents are removed", percent(c.Removed, c.Documents)),
			"Look at the largest clusters before the copies go")
	}
	loose, example := 0, Cluster{}
	for _, c := range f.Clusters {
		if c.Size >= fewOfCluster && 4*c.Kept >= c.Size && f.Run.Split == string(keep.Component) &&
			f.Run.Drop != string(keep.Reference) {
			if loose++; c.Size > example.Size {
				example = c
			}
		}
	}
	if loose > 0 {
		b.alert("loose_clusters", "clusters",
			fmt.Sprintf(
				"%s a quarter of the documents or more, such as %s of %s: chains of similar documents join them, "+
					"and not all are alike",
				numbered(loose, "listed cluster keeps", "listed clusters keep"), count(int64(example.Kept)),
				count(int64(example.Size))), "See --split star, or a higher --threshold")
	}
}

// numbered returns a number with the form of a noun or a verb that it takes.
func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(int64(n)) + " " + many
}

func (b *builder) alert(kind, place, text, help string) {
	b.add(Alert{Kind: kind, Text: text, Help: help, Place: place})
}

func (b *builder) add(a Alert) { b.figures.Alerts = append(b.figures.Alerts, a) }

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// mostReasons is the number of different reasons that are counted; the records of all others are counted together.
const mostReasons = 200

// details are what differs between two errors of one reason.
var details = regexp.MustCompile(`[0-9]+|"[^"]*"?`)

// addRejects counts the rejects by reason. Two errors have one reason if they differ only in numbers and quotations.
func (b *builder) addRejects(ctx context.Context) error {
	reasons, others := map[string]*Reason{}, Reason{Error: "other reasons"}
	for row, err := range finished.Rows[output.Reject](ctx, b.folder, output.Rejects) {
		if err != nil {
			return err
		}
		key := details.ReplaceAllString(row.Error, "0")
		reason := reasons[key]
		if reason == nil {
			if reason = &others; len(reasons) < mostReasons {
				reason = &Reason{Error: row.Error, File: row.File, Position: row.Position}
				reasons[key] = reason
			}
		}
		reason.Records++
	}
	for _, reason := range reasons {
		b.figures.Rejects = append(b.figures.Rejects, *reason)
	}
	slices.SortFunc(b.figures.Rejects, func(x, y Reason) int {
		return cmp.Or(cmp.Compare(y.Records, x.Records), strings.Compare(x.Error, y.Error))
	})
	if others.Records > 0 {
		b.figures.Rejects = append(b.figures.Rejects, others)
		b.note(fmt.Sprintf("%s rejects have reasons beyond the first %d.", count(others.Records), mostReasons))
	}
	return nil
}

const mostChanges = 60

// Changes say what is different from the last run of a scheduled job.
type Changes struct {
	finished.StateSummary
	// Rows are the changes of the most members, of suspects first, then of mirrors and of clusters.
	Rows []Change `json:"rows,omitempty"`
}

// Change is a row of changes, without its lineages. Its members are documents, sites, or copied pages. Since is 0
// unless such a change was first found in an earlier run and nobody has acknowledged it.
type Change output.Change

// What says what has changed.
func (c Change) What() string {
	return map[string]string{
		output.Clusters:  "cluster",
		output.Mirrors:   "mirror group",
		output.Suspects:  "suspect",
		output.Protected: "protected site",
	}[c.Of]
}

func (b *builder) addChanges(ctx context.Context) error {
	if b.summary.State == nil {
		return nil
	}
	s := &Changes{StateSummary: *b.summary.State}
	s.Suspects = nil // the table of suspects has them
	b.figures.Changes = s
	largest := map[string]*graphs.Least[Change]{}
	for _, of := range output.Followed {
		largest[of] = least(mostChanges, func(c *Change) float64 { return -float64(c.Added + c.Removed) })
	}
	all := int64(0)
	for row, err := range finished.Rows[output.Change](ctx, b.folder, output.Changes) {
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
		largest[row.Of].Add(Change(row))
	}
	for _, of := range slices.Backward(output.Followed) {
		s.Rows = append(s.Rows, largest[of].Items...)
	}
	if shown := int64(len(s.Rows)); shown < all {
		b.note(fmt.Sprintf("%s of %s changes are listed: those of the most members.", count(shown), count(all)))
	}
	return nil
}

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
	return slices.DeleteFunc(table(c.Unacknowledged), func(row changeCounts) bool {
		return slices.Max(row.Counts) == 0
	})
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
