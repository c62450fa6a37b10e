package warnings

import (
	"cmp"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/job"
)

// ofSources warns of sources that lose more than nine tenths of their documents, or far more than the others, but for
// those that a guard is for.
func ofSources(c *job.Config, rows []sources.Row) []Warning {
	guards, _ := c.Guards()
	var all sources.Row
	for _, row := range rows {
		if !row.Reference {
			all.Documents, all.Removed = all.Documents+row.Documents, all.Removed+row.Removed
		}
	}
	lost := worst(rows, removedOf, func(row sources.Row) bool {
		return !isGuarded(guards, row) && row.Documents >= leastDocuments &&
			(10*row.Removed > 9*row.Documents || losesMore(row, all))
	})
	var listed []Warning
	for _, row := range lost[:min(len(lost), mostSources)] {
		listed = append(listed, ofSource(c, row))
	}
	return withMore(listed, int64(len(lost)))
}

// worst returns the sources that lose much, the one that loses most first.
func worst(rows []sources.Row, lost func(sources.Row) int64, isMuch func(sources.Row) bool) []sources.Row {
	some := slices.DeleteFunc(slices.Clone(rows), func(row sources.Row) bool { return !isMuch(row) })
	slices.SortStableFunc(some, func(a, b sources.Row) int { return cmp.Compare(lost(b), lost(a)) })
	return some
}

func removedOf(row sources.Row) int64 { return row.Removed }

// losesMore reports whether a source loses a third or more, and five times the share of all others together.
func losesMore(row, all sources.Row) bool {
	others := sources.Row{Documents: all.Documents - row.Documents, Removed: all.Removed - row.Removed}
	return others.Documents >= leastDocuments && 3*row.Removed >= row.Documents &&
		float64(row.Removed)*float64(others.Documents) >= 5*float64(others.Removed)*float64(row.Documents)
}

// ofSource warns of a source that loses most of its documents. What helps depends on where their near-duplicates are.
func ofSource(c *job.Config, row sources.Row) Warning {
	w := about(SourceLoss, templateFlag(c),
		"%s loses %d of its %d documents", row.Source, row.Removed, row.Documents)
	if len(row.In) == 0 || 2*row.In[0].Documents <= row.Documents {
		return w
	}
	if most := row.In[0]; !most.IsOf(row) {
		w.Text += fmt.Sprintf("; %d have near-duplicates in %s, which may contain the same data", most.Documents,
			most.Name())
		if w.Flag = "--input"; c.SourceField != "" {
			w.Flag = "--keep rank:FILE" // files may hold other sources, too
		}
	} else {
		w.Text += fmt.Sprintf("; %d are like others of the same source", most.Documents)
	}
	return w
}

const leastWords = 1000

// ofTrimmed warns if more than half of the words of the corpus are cut, and of sources that lose as much.
func ofTrimmed(t *findings.Trimmed, table []sources.Row) []Warning {
	if t == nil {
		return nil
	}
	why, flag := "occur earlier", "--passage-words, --passage-copies"
	if t.Benchmarks != nil {
		why, flag = "are of items of the reference", "--passage-share, --passage-words, --cut"
	}
	isMost := func(cut, of int64) bool { return of >= leastWords && 2*cut > of }
	var texts []string
	if isMost(t.Words, t.Of) {
		texts = append(texts,
			fmt.Sprintf("%d of %d words are cut from trimmed since they %s; passages says where", t.Words,
				t.Of, why))
	}
	if len(table) > 1 { // one source is the corpus
		cut := func(row sources.Row) int64 { return row.WordsCut }
		isMuch := func(row sources.Row) bool { return isMost(row.WordsCut, row.Words) }
		for _, row := range worst(table, cut, isMuch) {
			texts = append(texts,
				fmt.Sprintf("%s loses %d of its %d words in trimmed, which %s", row.Source, row.WordsCut,
					row.Words, why))
		}
	}
	var listed []Warning
	for _, text := range texts[:min(len(texts), mostSources)] {
		listed = append(listed, Warning{Kind: PassageLoss, Text: text, Flag: flag})
	}
	return withMore(listed, int64(len(texts)))
}
