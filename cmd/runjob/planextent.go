package main

import (
	"fmt"
	"io"
	"strings"

	"mirrorbeam/internal/look/plan"
)

// printReads tells which files the job reads, if there is an input.
func printReads(w io.Writer, reads *plan.Reads) {
	if reads == nil {
		return
	}
	var parts []string
	for _, files := range reads.Files {
		name := files.Format
		if files.Compression != "" {
			name += " in " + files.Compression
		}
		part := fmt.Sprintf("%s of %s (%s)", counted(int64(files.Files), "file"), name, size(files.Bytes))
		if files.Reference {
			part += " of the reference"
		}
		parts = append(parts, part)
	}
	wrapped(w, "Reads %s, in %s.", strings.Join(parts, ", "), counted(int64(reads.Splits), "part"))
}

// printWrites tells what the outputs take, and whether the temporary files fit.
func printWrites(w io.Writer, a *plan.Advice) {
	if len(a.Writes) > 0 {
		var parts []string
		for _, one := range a.Writes {
			about := "about"
			if one.AtMost {
				about = "at most"
			}
			parts = append(parts, fmt.Sprintf("%s %s %s", one.Output, about, size(rounded(one.Bytes))))
		}
		wrapped(w, "Writes what --emit asks for, rows without compression: %s.", strings.Join(parts, ", "))
	}
	if a.TempFree == nil {
		return
	}
	verdict := "the temporary files fit"
	if needed := a.Choices[a.Chosen].TempBytes; float64(*a.TempFree) < needed {
		verdict = fmt.Sprintf("the temporary files, of about %s, do not fit", size(rounded(needed)))
	}
	wrapped(w, "The disk of --temp %s has %s free: %s.", a.Config.Temp, size(*a.TempFree), verdict)
}
