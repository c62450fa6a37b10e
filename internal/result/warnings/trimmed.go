package warnings

import (
	"fmt"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/schema/findings"
)

const leastWords = 1000

// ofTrimmed warns if more than half of the words of the corpus are cut, and of sources that lose as much.
func ofTrimmed(t *findings.Trimmed, table []sources.Row) []Warning {
	if t == nil {
		return nil
	}
	isMost := func(cut, of int64) bool { return of >= leastWords && 2*cut > of }
	var texts []string
	if isMost(t.Words, t.Of) {
		texts = append(texts,
			fmt.Sprintf("%d of %d words are cut from trimmed since they occur earlier; passages says where", t.Words,
				t.Of))
	}
	if len(table) > 1 { // one source is the corpus
		cut := func(row sources.Row) int64 { return row.WordsCut }
		isMuch := func(row sources.Row) bool { return isMost(row.WordsCut, row.Words) }
		for _, row := range worst(table, cut, isMuch) {
			texts = append(texts,
				fmt.Sprintf("%s loses %d of its %d words in trimmed, which occur earlier", row.Source, row.WordsCut,
					row.Words))
		}
	}
	var listed []Warning
	for _, text := range texts[:min(len(texts), mostSources)] {
		listed = append(listed, Warning{Kind: PassageLoss, Text: text, Flag: "--passage-words, --passage-copies"})
	}
	return withMore(listed, int64(len(texts)))
}
