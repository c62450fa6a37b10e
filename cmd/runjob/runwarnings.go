package main

import (
	"context"
	"io"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/findings"
)

const shownWarnings = 5

const (
	// quotedInput is the size of the largest input that is read again for a passage, which takes some seconds.
	quotedInput = 1 << 30
	// quotedText is how many bytes of a text are looked at for a passage.
	quotedText = 1 << 20
)

// printGrave tells of sources that are gone and of clusters that hold much of a corpus, with a passage that documents
// of such a cluster share.
func printGrave(ctx context.Context, w io.Writer, s finished.Summary) {
	for _, warning := range s.Warnings {
		if !warning.IsGrave() {
			continue
		}
		say(w, "WARNING: %s (%s)\n", warning.Text, warning.Flag)
		if passage := sharedPassage(ctx, &s, warning.A, warning.B); passage != "" {
			say(w, "         what they share begins with: %s\n", passage)
		}
	}
}

// sharedPassage reads two documents again and returns the beginning of what they have in common. It is empty if there
// is no such passage, and if the texts cannot be had, which is no fault of the run.
func sharedPassage(ctx context.Context, s *finished.Summary, a, b string) string {
	if b == "" || s.Counts.Bytes+s.Counts.ReferenceBytes > quotedInput {
		return ""
	}
	folder, err := finished.Open(s.Config.Output)
	if err != nil {
		return ""
	}
	texts, err := folder.Texts(ctx, []string{a, b}, quotedText)
	if err != nil {
		return ""
	}
	return warnings.Passage(&s.Config, texts[a], texts[b])
}

func printWarnings(w io.Writer, all []warnings.Warning) {
	all = slices.DeleteFunc(slices.Clone(all), warnings.Warning.IsGrave)
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
		say(w, "sources: %s, none of which has near-duplicates in another\n", count(len(rows)))
		return
	}
	say(w, "sources: %s of %s of %s %s in %s, too", count(share.Documents), counted(of.Documents, "document"),
		of.Source, map[bool]string{true: "is", false: "are"}[share.Documents == 1], share.Name())
	sayIf(w, len(rows) > 2, "; of %s sources this is the largest share (summary.json has all)", count(len(rows)))
	say(w, "\n")
}

func printCommon(w io.Writer, s finished.Summary) {
	found, n := s.Common, s.Counts
	if found == nil {
		return
	}
	say(w, "common shingles: %s in more than %s", count(found.Shingles), counted(found.Above, "document"))
	sayIf(w, n.CommonIn > 0, ", left out of %s", counted(n.CommonIn, "document"))
	sayIf(w, n.CommonWhole > 0,
		", %s of which contain nothing else and are only compared for equality", count(n.CommonWhole))
	say(w, "\n")
}

func printTrimmed(w io.Writer, t *findings.Trimmed) {
	if t == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Benchmarks)) {
		b := t.Benchmarks[name]
		say(w, "%s: %s of %s found, in %s of %s", name, count(b.Found), counted(int64(b.Items), "item"),
			counted(b.Places, "place"), counted(b.Documents, "document"))
		sayIf(w, b.Short > 0, "; too short to look for: %s", count(int64(b.Short)))
		say(w, "\n")
	}
	share := 0.
	if t.Of > 0 {
		share = 100 * float64(t.Words) / float64(t.Of)
	}
	say(w, "trimmed: %s cut from %s, with %s of %s words (%.1f %%)", counted(t.Passages, "passage"),
		counted(t.Documents, "document"), count(t.Words), count(t.Of), share)
	sayIf(w, t.Gone > 0, "; removed as a whole: %s", counted(t.Gone, "document"))
	say(w, "\n")
}
