package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
)

// exception is what two runs over the same documents may write differently, and why. A path is the name of a file, or
// it leads to a value of summary.json or manifest.json, as in summary.json/counts/documents. It may be a pattern of
// [path.Match]; below "..." is all that begins like it.
type exception struct{ path, why string }

// anyRun are the exceptions of two runs of any kind. The metrics file and the exit code follow from the summary.
var anyRun = []exception{
	{"summary.json/config/output", "they write to folders of their own"},
	{"summary.json/config/overwrite", "so it has no effect on one of them"},
	{"summary.json/config/temp", "temporary files are gone afterwards"},
	{"summary.json/config/lanes", "the number of workers decides about the time alone"},
	{"summary.json/config/memory", "the memory decides about the time alone"},
	{"summary.json/config/resume", "a resumed run repeats less"},
	{"summary.json/config/runner", "every engine gives the same results"},
	{"summary.json/begun", "it is the time of the run"},
	{"summary.json/stages...", "they are the costs of the run"},
	{"summary.json/seconds", "a cost"},
	{"summary.json/cpu_seconds", "a cost"},
	{"summary.json/peak_memory_bytes", "a cost"},
	{"summary.json/temp_bytes", "a cost"},
	{"summary.json/requests...", "a cost"},
	{"manifest.json/token", "it identifies the run"},
}

// incrementalRun are the further exceptions of a run with a state and a run over everything without one.
var incrementalRun = []exception{
	{"summary.json/state...", "only a state knows what has changed"},
	{output.Changes + "-*", "only a state knows what has changed"},
	{"manifest.json/files/" + output.Changes + "-*...", "only a state knows what has changed"},
	{"summary.json/warnings/protected_changed*...", "only a state knows what a protected site was"},
	{"summary.json/warnings/other_settings*...", "only a state knows the settings of the last run"},
	{"summary.json/warnings/*/flag", "--common does not help a run with a state"},
	{"summary.json/config/state", "it is the difference between the two"},
	{"summary.json/config/allow_removal", "only a state knows files that are gone"},
	{"summary.json/config/republish", "only a run with a state may leave its results as they are"},
	{"summary.json/config/rebuild", "only a run with a state may do without what it knows"},
	{
		"summary.json/config/input...",
		"with --add it names what is new, and with --common the other run reads copies of the files",
	},
	{"summary.json/config/add", "only a state knows the files that --input does not name"},
	{"summary.json/counts/candidates", "pairs of two unchanged documents are not compared again"},
}

// rebuiltRun are the further exceptions of an incremental run and a run with another state that reads all files again.
// Both tell what has changed.
var rebuiltRun = []exception{
	{"summary.json/config/state", "each has a state of its own"},
	{"summary.json/warnings/other_settings*...", "and a last run of its own"},
	{"summary.json/config/rebuild", "it is the difference between the two"},
	{"summary.json/counts/candidates", "pairs of two unchanged documents are not compared again"},
	{"summary.json/state/from_scratch", "the other run never reuses what it knows, which needs no reason"},
	{"summary.json/state/suspects/*/seen", "it is the time of a run"},
}

// sameResults fails unless two folders hold the same results, byte for byte, and the same summary, but for the
// exceptions.
func sameResults(t testing.TB, what, got, want string, except ...exception) {
	t.Helper()
	all := differences(t, got, want, except...)
	for _, difference := range all[:min(len(all), 20)] {
		t.Errorf("%s: %s", what, difference)
	}
	if len(all) > 20 {
		t.Errorf("%s: %d differences in all", what, len(all))
	}
}

// differences lists the paths at which two folders of results differ, but for the exceptions, with both values.
func differences(t testing.TB, got, want string, except ...exception) (all []string) {
	t.Helper()
	except = slices.Concat(anyRun, except)
	gots, wants := leaves(t, got), leaves(t, want)
	paths := maps.Clone(gots)
	maps.Copy(paths, wants)
	for _, at := range slices.Sorted(maps.Keys(paths)) {
		isExcepted := func(e exception) bool { return e.has(at) }
		if g, w := gots[at], wants[at]; g != w && !slices.ContainsFunc(except, isExcepted) {
			all = append(all, at+": "+describeDifference(legible(t, g), legible(t, w)))
		}
	}
	return all
}

// legible returns the content of a file as it was before it was compressed, if it was.
func legible(t testing.TB, leaf string) string {
	if content, isFile := strings.CutPrefix(leaf, fileLeaf); isFile {
		return fileLeaf + string(unpressed(t, []byte(content)))
	}
	return leaf
}

// fileLeaf precedes the content of a file, so that an empty file is not a missing one.
const fileLeaf = "file\n"

// has reports whether the exception covers a path.
func (e exception) has(at string) bool {
	pattern, isBeginning := strings.CutSuffix(e.path, "...")
	if parts := strings.Split(at, "/"); isBeginning {
		at = strings.Join(parts[:min(len(parts), 1+strings.Count(pattern, "/"))], "/")
	}
	is, err := path.Match(pattern, at)
	if err != nil {
		panic(err)
	}
	return is
}

// leaves returns the content of each file below a folder. Of the summary and of the manifest it returns each value by
// its path.
func leaves(t testing.TB, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, content := range tree(t, folder) {
		if name != workspace.SummaryName && name != workspace.ManifestName {
			all[name] = fileLeaf + content
			continue
		}
		var value any
		decoder := json.NewDecoder(strings.NewReader(content))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("%s in %s: %v", name, folder, err)
		}
		addLeaves(all, name, value)
	}
	return all
}

// addLeaves adds what is in a value of JSON. Elements of a list are called by their numbers, or by the kinds or names
// that they have, so that exceptions can name them.
func addLeaves(all map[string]string, at string, value any) {
	switch value := value.(type) {
	case map[string]any:
		all[at] = "object"
		for name, inner := range value {
			addLeaves(all, at+"/"+strings.ReplaceAll(name, "/", "|"), inner)
		}
	case []any:
		all[at] = "list"
		for i, inner := range value {
			name := fmt.Sprint(i)
			if fields, is := inner.(map[string]any); is {
				for _, field := range []string{"kind", "name"} {
					if known, is := fields[field].(string); is {
						name = known
					}
				}
			}
			for base, n := name, 2; all[at+"/"+name] != ""; n++ {
				name = fmt.Sprint(base, " ", n)
			}
			addLeaves(all, at+"/"+name, inner)
		}
	default:
		all[at] = fmt.Sprint(value)
	}
}

// describeDifference describes how two values or the contents of two files differ.
func describeDifference(got, want string) string {
	describe := func(s string, line int) string {
		lines := strings.SplitAfter(s, "\n")
		switch {
		case s == "":
			return "none"
		case len(lines) == 1:
			return fmt.Sprintf("%.300q", s)
		case line >= len(lines):
			return fmt.Sprintf("%d lines", len(lines)-1)
		}
		return fmt.Sprintf("%d lines, line %d is %.300q", len(lines)-1, line, lines[line])
	}
	gots, wants, line := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n"), 0
	for line < len(gots)-1 && line < len(wants)-1 && gots[line] == wants[line] {
		line++
	}
	return fmt.Sprintf("got %s, want %s", describe(got, line), describe(want, line))
}

// TestSameResults: each change of a file, a value or a list is a difference, unless an exception names it.
func TestSameResults(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(oddities(3), 2)...))
	runJob(t, config)
	again := config
	again.Output = filepath.Join(t.TempDir(), "out")
	runJob(t, again)
	if all := differences(t, again.Output, config.Output); len(all) > 0 {
		t.Fatalf("two runs of one job: %q", all)
	}
	for _, c := range []struct{ file, old, new, want, except string }{
		{"summary.json", `"clusters": `, `"clusters": 9`, "summary.json/counts/clusters", "summary.json/counts..."},
		{
			"summary.json", `"clusters": `, `"novel": 9, "clusters": `, "summary.json/counts/novel",
			"summary.json/*/novel",
		},
		{
			"summary.json", `"warnings": [`, `"warnings": [{"kind": "novel"},`, "summary.json/warnings/novel",
			"summary.json/warnings/novel...",
		},
		{"summary.json", `"warnings": [`, `"more": {}, "warnings": [`, "summary.json/more", "summary.json/more"},
		{
			"manifest.json", `"rows": `, `"rows": 1`, "manifest.json/files/clusters-00000-of-00001.jsonl/rows",
			"manifest.json/files...",
		},
		{"clusters-00000-of-00001.jsonl", `"id":"`, `"id":"x`, "clusters-00000-of-00001.jsonl", "clusters-*"},
		{"unique-00000-of-00002.jsonl", "", "", "unique-00000-of-00002.jsonl", "unique-*"},
	} {
		name := filepath.Join(again.Output, c.file)
		before := string(readFile(t, name))
		after := strings.Replace(before, c.old, c.new, 1)
		if c.old == "" {
			after = ""
		}
		put(t, name, []byte(after), plain)
		all := differences(t, again.Output, config.Output)
		if len(all) == 0 || !strings.HasPrefix(all[0], c.want+": ") {
			t.Errorf("%s instead of %s in %s: %q, want %s", c.new, c.old, c.file, all, c.want)
		}
		if all := differences(t, again.Output, config.Output, exception{path: c.except}); len(all) > 0 {
			t.Errorf("with the exception of %s: %q", c.except, all)
		}
		put(t, name, []byte(before), plain)
	}
	if err := os.Remove(filepath.Join(again.Output, "_SUCCESS")); err != nil {
		t.Fatal(err)
	}
	if all := differences(t, again.Output, config.Output); len(all) != 1 ||
		!strings.HasPrefix(all[0], "_SUCCESS: got none") {
		t.Errorf("without a file: %q", all)
	}
}
