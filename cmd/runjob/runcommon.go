package main

import (
	"io"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
)

// printCommon tells which shingles are common, and what became of them.
func printCommon(w io.Writer, s finished.Summary) {
	found, n := s.Common, s.Counts
	if found == nil {
		return
	}
	say(w, "common shingles: %s in more than %s", count(found.Shingles), counted(found.Above, "document"))
	if s.Config.CommonLaw().IsOff() {
		say(w, ", which count all the same")
	} else if n.CommonIn > 0 {
		say(w, ", left out of %s", counted(n.CommonIn, "document"))
	}
	if n.CommonWhole > 0 {
		say(w, ", %s of which hold nothing else and are only compared for equality", count(n.CommonWhole))
	}
	if slices.Contains(s.Config.Emit, output.Boilerplate) {
		say(w, "; %s of boilerplate", counted(n.Boilerplate, "passage"))
	}
	say(w, "\n")
}
