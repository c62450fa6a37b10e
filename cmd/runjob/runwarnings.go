package main

import (
	"io"

	"mirrorbeam/internal/sources"
	"mirrorbeam/internal/warnings"
)

// shownWarnings is how many warnings are printed. All are in summary.json.
const shownWarnings = 5

// printWarnings tells where the results may lack what the user wants to keep.
func printWarnings(w io.Writer, all []warnings.Warning) {
	shown := all[:min(len(all), shownWarnings)]
	for _, warning := range shown {
		say(w, "warning: %s (%s)\n", warning.Text, warning.Flag)
	}
	if rest := int64(len(all) - len(shown)); rest > 0 {
		say(w, "and %s in summary.json\n", counted(rest, "more warning"))
	}
}

// printSources tells which source has most of its documents in another one, if there are several.
func printSources(w io.Writer, rows []sources.Row) {
	if len(rows) < 2 {
		return
	}
	most, share := -1., sources.Share{}
	var of sources.Row
	for _, row := range rows {
		for _, in := range row.In {
			part := float64(in.Documents) / float64(row.Documents)
			if !in.IsOf(row) && part > most {
				most, share, of = part, in, row
			}
		}
	}
	if most < 0 {
		say(w, "sources: %s, none of which has near-duplicates in another\n", count(int64(len(rows))))
		return
	}
	say(w, "sources: %s; most of one in another: %s of %s of %s are in %s; for all see summary.json\n",
		count(int64(len(rows))), count(share.Documents), counted(of.Documents, "document"), of.Source, share.Name())
}
