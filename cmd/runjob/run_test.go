package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/lshbands"
)

// TestPlanTextOfSkippedPairs: if a job has skipped pairs, the plan says that keys which miss nothing by
// construction have missed these.
func TestPlanTextOfSkippedPairs(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.SimHash} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			summary := finished.Summary{Plan: finished.Plan{Keys: keys, ExpectedRecall: 1}}
			for _, groups := range []int64{0, 1} {
				summary.Skipped.Groups = groups
				if text := planText(summary); strings.Contains(text, "except for skipped pairs") != (groups > 0) {
					t.Errorf("%s, %d groups skipped: %s", keys, groups, text)
				}
			}
		})
	}
}

func TestPlanTextOfBands(t *testing.T) {
	for bands, want := range map[int]string{1: "1 band of 3 rows finds a pair ", 7: "7 bands of 3 rows find a pair "} {
		t.Run(fmt.Sprint(bands), func(t *testing.T) {
			summary := finished.Summary{Plan: finished.Plan{
				Keys:   methods.MinHash,
				Scheme: lshbands.Scheme{Bands: bands, Rows: 3},
			}}
			if text := planText(summary); !strings.HasPrefix(text, want) {
				t.Errorf("%d bands: %s", bands, text)
			}
		})
	}
}

func TestSourcesText(t *testing.T) {
	for of, want := range map[int64]string{
		1: "1 of 1 document of a is in b, too",
		3: "3 of 3 documents of a are in b, too",
	} {
		t.Run(fmt.Sprint(of), func(t *testing.T) {
			var b strings.Builder
			printSources(&b,
				[]sources.Row{{Source: "a", Documents: of, In: []sources.Share{{Source: "b", Documents: of}}}, {
					Source:    "b",
					Documents: 9,
				}})
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s, want %s", b.String(), want)
			}
		})
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0:    "0 B",
		1:    "1 B",
		49:   "49 B",
		50:   "0.1 kB",
		999:  "1.0 kB",
		64e6: "64.0 MB",
		2e9:  "2.0 GB",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := size(n); got != want {
				t.Errorf("%d bytes are written %s, want %s", n, got, want)
			}
		})
	}
}

// TestLeftBehind: an interrupted command describes its output folder only if it has one.
func TestLeftBehind(t *testing.T) {
	for command, want := range map[command]bool{
		&runCommand{}:    true,
		&planCommand{}:   false,
		&queryCommand{}:  false,
		&evalCommand{}:   false,
		&finishCommand{}: false,
		&recutCommand{}:  true,
		nil:              false,
	} {
		if text := leftBehind(command); strings.Contains(text, "the output folder") != want {
			t.Errorf("%T: interrupted%s", command, text)
		}
	}
}

// TestCheck: a check finds what the job would refuse, asks no cluster and leaves nothing behind.
func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		args string
		exit int
		says string
	}{
		"in order": {
			"--input in.jsonl --runner flink --endpoint 127.0.0.1:1 --output out", exitDone,
			"settings and input are in order",
		},
		"a setting": {"--input in.jsonl --threshold 3 --output out", exitUsage, "--threshold 3"},
		"no input": {
			"--input nowhere.jsonl --runner flink --endpoint 127.0.0.1:1 --output out", exitInput,
			"no file matches",
		},
		"stdin": {"--input - --format jsonl --output out", exitDone, "settings and input are in order"},
		"the other": {
			"--input in.jsonl --runner flink --region here --output out", exitUsage,
			"--region: means nothing to --runner flink",
		},
		"its own eyes": {"--input out --output out/below", exitInput, "out"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("in.jsonl", between(""))
			code, message := s.command("runjob",
				append([]string{"run", "--check"}, strings.Fields(test.args)...)...).ends()
			if code != test.exit || !strings.Contains(message, test.says) {
				t.Errorf("exit code %d, want %d: %s", code, test.exit, message)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "out")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the output folder is there: %v", err)
			}
		})
	}
}

// TestCheckState: a check says what a run would take from its state, and changes nothing there.
func TestCheckState(t *testing.T) {
	s := newScene(t)
	writeOld(t, filepath.Join(s.dir, "in.jsonl"), between(""))
	run := strings.Fields("run --input in.jsonl --output out --state state --overwrite")
	check := func(says string, args ...string) {
		t.Helper()
		if code, message := s.command("runjob", slices.Concat(run, []string{"--check"}, args)...).ends(); code !=
			exitDone || !strings.Contains(message, says) {
			t.Errorf("exit code %d, want %q: %s", code, says, message)
		}
	}
	check("1 file new, 0 changed, 0 removed, 0 unchanged: all documents are compared\n")
	if _, err := os.Stat(filepath.Join(s.dir, "state")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state is there: %v", err)
	}
	if code, message := s.command("runjob", run...).ends(); code != exitDone {
		t.Fatal(message)
	}
	check("0 files new, 0 changed, 0 removed, 1 unchanged: the pairs of unchanged documents are reused")
	check("from scratch: settings that decide which pairs are similar have changed", "--threshold", "0.7")
	check("all documents are compared\n", "--rebuild")
	s.write("more.jsonl", between(""))
	check("1 file new, 0 changed, 0 removed, 1 unchanged: ", "--input", "more.jsonl")
}
