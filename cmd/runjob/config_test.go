package main

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// settingsIn writes a file of settings and returns its path.
func settingsIn(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// printed returns what 'runjob config' prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	return saidBy(t, append([]string{"config"}, args...)...)
}

// TestPrecedence: a flag comes before a variable, a variable before the file, and that before the default.
func TestPrecedence(t *testing.T) {
	path := settingsIn(t,
		"# a comment\ninput: [a, b]\noutput: out\nthreshold: 0.6\nshingle: 5\nkeys: minhash\nseed: 18446744073709551615\n"+
			"weight: {title: 3, text: 1}\ntokens: words\nmax_document: 1MiB\nemit: clusters,pairs\nwithin: null\n")
	t.Setenv("RUNJOB_CONFIG", path)
	t.Setenv("RUNJOB_THRESHOLD", "0.7")
	t.Setenv("RUNJOB_SHINGLE", "4")
	t.Setenv("RUNJOB_AUDIT", "") // as if it were not there
	command, err := parse([]string{"run", "--input", "x", "--threshold", "0.9"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := command.(*runCommand).Config
	want := job.Default()
	want.Input = []string{"x"}
	want.Output = "out"
	want.Threshold = 0.9
	want.Shingle = 4
	want.Keys = "minhash"
	want.Seed = job.Seed{Number: 1<<64 - 1}
	want.Weight = map[string]float64{"title": 3, "text": 1}
	want.Tokens = sketch.WordTokens
	want.MaxDocument = 1 << 20
	want.Emit = []string{"clusters", "pairs"}
	slices.Sort(got.Given)
	want.Given = []string{
		"emit", "input", "keys", "max_document", "output", "seed", "shingle", "threshold", "tokens",
		"weight",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}

	all := printed(t, "--threshold", "0.9")
	for setting, want := range map[string]string{
		"input: [a, b]":               path + ":2",
		"threshold: 0.9":              "flag",
		"shingle: 4":                  "RUNJOB_SHINGLE",
		"# bands: 0":                  "default",
		"weight: {text: 1, title: 3}": path + ":8",
	} {
		t.Run(setting, func(t *testing.T) {
			if i := strings.Index(all, "\n"+setting+" "); i < 0 ||
				!strings.HasPrefix(strings.TrimLeft(all[i+1+len(setting):], " "), "# "+want+"\n") {
				t.Errorf("%s is not said to be from %s in\n%s", setting, want, all)
			}
		})
	}
	// What is printed is a file of the same settings.
	os.Unsetenv("RUNJOB_THRESHOLD")
	os.Unsetenv("RUNJOB_SHINGLE")
	again, err := parse([]string{"run", "--config", settingsIn(t, all), "--input", "x"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	read := again.(*runCommand).Config
	slices.Sort(read.Given)
	if !reflect.DeepEqual(read, want) {
		t.Errorf("read again: %+v\nwant %+v", read, want)
	}
}

// TestSettingsFaults: each fault of a file or a variable is named with its place, and with the nearest setting.
func TestSettingsFaults(t *testing.T) {
	for content, want := range map[string]string{
		"treshold: 1":                  "job.yaml:1: unknown setting treshold, did you mean threshold?",
		"input: x\nmax-document: 1":    "job.yaml:2: unknown setting max-document, did you mean max_document?",
		"shingle: x":                   `--shingle: "x" is not a whole number (from `,
		"shingle: [3]":                 "--shingle: ",
		"shingle: 3\nshingle: 4":       "job.yaml:2: shingle is given twice",
		"- shingle":                    "must have a setting a line",
		"weight: {a: b}":               "job.yaml:1: weight must have a number for each name",
		"input: [[x]]":                 "job.yaml:1: input must be a list of plain values",
		"shingle: {a: 1":               "job.yaml: yaml: ",
		"threshold: 7":                 "--threshold 7: must be above 0",
		"zzzzzzzzzzzzz: 1\nyyyy: true": "unknown setting zzzzzzzzzzzzz",
	} {
		t.Run(content, func(t *testing.T) {
			_, err := parse([]string{"run", "--config", settingsIn(t, content), "--input", "x", "--output", "y"},
				io.Discard)
			if exitCode(err) != exitUsage || !strings.Contains(strings.Join(faultLines(err), "\n"), want) {
				t.Errorf("%q: %v, want %s", content, err, want)
			}
		})
	}
	if _, err := parse([]string{"run", "--config", "missing.yaml"}, io.Discard); exitCode(err) != exitUsage ||
		!strings.HasPrefix(err.Error(), "--config: open missing.yaml") {
		t.Errorf("no file: %v", err)
	}
	t.Setenv("RUNJOB_TRESHOLD", "1")
	if _, err := parse([]string{"run", "--input", "x"}, io.Discard); err == nil ||
		err.Error() != "unknown setting RUNJOB_TRESHOLD, did you mean RUNJOB_THRESHOLD?" {
		t.Errorf("a variable: %v", err)
	}
}

// TestConfigChecks: the settings are printed, and each one that a run would refuse is named with its place.
func TestConfigChecks(t *testing.T) {
	path := settingsIn(t, "shingle: 5\nrows: 100\nstopwords: missing.txt\nworker_memory: 1GiB\n")
	command, err := parse([]string{"config", "--config", path, "--threshold", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = command.Run(t.Context(), &out)
	if exitCode(err) != exitUsage || !strings.Contains(out.String(), "\nthreshold: 2 ") {
		t.Errorf("%v, %s", err, out.String())
	}
	lines := strings.Join(faultLines(err), "\n")
	for _, want := range []string{
		"--threshold 2: must be above 0 and at most 1\n",
		"--rows 100: must be from 0 to 64 (from " + path + ":2)\n", "missing.txt",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is not in\n%s", want, lines)
		}
	}
	if n := strings.Count(lines, "\n"); n != 2 {
		t.Errorf("%d lines, want 3:\n%s", n+1, lines)
	}
}

// TestSchema: the schema has every setting of the main job, with its default, and no other property may be there.
func TestSchema(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
		} `json:"properties"`
		Additional *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal([]byte(printed(t, "--schema")), &s); err != nil {
		t.Fatal(err)
	}
	var config job.Config
	for _, f := range jobFlags(&config) {
		if s.Properties[settingName(f.name)].Description != f.help {
			t.Errorf("%s is not in the schema: %v", f.name, slices.Sorted(maps.Keys(s.Properties)))
		}
	}
	if s.Additional == nil || *s.Additional || string(s.Properties["threshold"].Default) != "0.8" {
		t.Errorf("%+v", s)
	}
}

// TestPreset: a preset comes before the default and behind all else, wherever it is named, and chooses no setting.
func TestPreset(t *testing.T) {
	path := settingsIn(t, "preset: code\ncommon: off\ninput: x\noutput: y\n")
	for _, args := range [][]string{{"--config", path}, {"--preset", "code", "--common", "off"}} {
		t.Run(args[0], func(t *testing.T) {
			all := printed(t, args...)
			for setting, want := range map[string]string{
				"# code: auto":  "preset code",
				"# split: star": "preset code",
				"common: off":   "",
				"# shingle: 3":  "default",
			} {
				if i := strings.Index(all, "\n"+setting+" "); i < 0 ||
					!strings.HasPrefix(strings.TrimLeft(all[i+1+len(setting):], " "), "# "+want) {
					t.Errorf("%v: %s is not said to be from %s in\n%s", args, setting, want, all)
				}
			}
		})
	}
	command, err := parse([]string{"run", "--config", path, "--shingle", "4"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	code, _ := job.PresetNamed("code")
	got, want := command.(*runCommand).Config, code.Config()
	want.Input, want.Output, want.Common, want.Shingle = []string{"x"}, "y", "off", 4
	slices.Sort(got.Given)
	want.Given = []string{"common", "input", "output", "preset", "shingle"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	// The preset mirrors is the command of that name, and names no suspects where nobody asks for them.
	t.Setenv("RUNJOB_PRESET", "mirrors")
	if command, err = parse([]string{"run", "--input", "x", "--output", "y"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if emit := command.(*runCommand).Emit; !slices.Equal(emit, newMirrorsCommand().Emit) {
		t.Errorf("writes %v", emit)
	}
	for args, want := range map[string]string{
		"--preset codes": "--preset codes: must be corpus, web, code",
		"--preset plagiarism --similarity jaccard": "--excerpt 8: is for --similarity containment (from preset plagiarism)",
	} {
		t.Run(args, func(t *testing.T) {
			line := "run --input x --output y " + args
			_, err := parse(strings.Fields(line), io.Discard)
			if exitCode(err) != exitUsage || !strings.Contains(strings.Join(faultLines(err), "\n"), want) {
				t.Errorf("%s: %v, want %s", args, faultLines(err), want)
			}
		})
	}
}
