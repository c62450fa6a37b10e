package main

import (
	"fmt"
	"strings"

	"mirrorbeam/internal/look/difference"
)

const (
	maxDifferences = 3
	contextWords   = 5
	longestRun     = 12 // words shown of a stretch that only one text has
)

// differenceLines describes the first places where two texts differ, one line for each: some words before the
// place, [-what only a has-] and {+what only b has+}.
func differenceLines(a, b []string) []string {
	var lines []string
	for c := range difference.Changes(a, b) {
		if len(lines) == maxDifferences {
			break
		}
		line := "... " + strings.Join(a[max(c.FromA-contextWords, 0):c.FromA], " ")
		if c.ToA > c.FromA {
			line += " [-" + shorten(a[c.FromA:c.ToA]) + "-]"
		}
		if c.ToB > c.FromB {
			line += " {+" + shorten(b[c.FromB:c.ToB]) + "+}"
		}
		lines = append(lines, line+" ...")
	}
	return lines
}

// shorten joins words. It leaves out the middle if there are many.
func shorten(words []string) string {
	if len(words) <= longestRun {
		return strings.Join(words, " ")
	}
	half := longestRun / 2
	return fmt.Sprintf("%s ... (%d words) ... %s", strings.Join(words[:half], " "), len(words)-2*half, strings.Join(words[len(words)-half:], " "))
}
