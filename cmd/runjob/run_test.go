package main

import (
	"strings"
	"testing"

	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/lshbands"
)

// TestPlanTextOfSkippedPairs: if a job has skipped pairs, the plan says that keys which miss nothing by
// construction have missed these.
func TestPlanTextOfSkippedPairs(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.SimHash} {
		summary := finished.Summary{Plan: finished.Plan{Keys: keys, ExpectedRecall: 1}}
		for _, groups := range []int64{0, 1} {
			summary.Skipped.Groups = groups
			if text := planText(summary); strings.Contains(text, "except for skipped pairs") != (groups > 0) {
				t.Errorf("%s, %d groups skipped: %s", keys, groups, text)
			}
		}
	}
}

func TestPlanTextOfBands(t *testing.T) {
	for bands, want := range map[int]string{1: "1 band of 3 rows finds a pair ", 7: "7 bands of 3 rows find a pair "} {
		summary := finished.Summary{Plan: finished.Plan{Keys: methods.MinHash, Scheme: lshbands.Scheme{Bands: bands, Rows: 3}}}
		if text := planText(summary); !strings.HasPrefix(text, want) {
			t.Errorf("%d bands: %s", bands, text)
		}
	}
}

func TestSourcesText(t *testing.T) {
	for of, want := range map[int64]string{1: "1 of 1 document of a is in b, too", 3: "3 of 3 documents of a are in b, too"} {
		var b strings.Builder
		printSources(&b, []sources.Row{{Source: "a", Documents: of, In: []sources.Share{{Source: "b", Documents: of}}}, {Source: "b", Documents: 9}})
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 49: "49 B", 50: "0.1 kB", 999: "1.0 kB", 64e6: "64.0 MB", 2e9: "2.0 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d bytes are written %s, want %s", n, got, want)
		}
	}
}

// TestLeftBehind: an interrupted command describes its output folder only if it has one.
func TestLeftBehind(t *testing.T) {
	for command, want := range map[command]bool{&runCommand{}: true, &planCommand{}: false, &queryCommand{}: false, &evalCommand{}: false, &finishCommand{}: false, &recutCommand{}: true, nil: false} {
		if text := leftBehind(command); strings.Contains(text, "the output folder") != want {
			t.Errorf("%T: interrupted%s", command, text)
		}
	}
}
