package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// known knows settings of one letter, and threshold, input and weight.
func known(name string) error {
	if len(name) == 1 || strings.Contains("threshold input weight", name) {
		return nil
	}
	return errors.New("no setting " + name)
}

func TestParseSettings(t *testing.T) {
	got, err := parseSettings("job.yaml",
		[]byte("threshold: 0.80\n# a comment\ninput: [a, b]\nweight: {title: 3}\nw:\n"), known)
	want := map[string]settingValue{
		"threshold": {"0.80", "job.yaml:1"}, "input": {[]any{"a", "b"}, "job.yaml:3"},
		"weight": {map[string]any{"title": 3.0}, "job.yaml:4"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for content, want := range map[string]string{
		"a: 1\na: 2\nnothing: 3": "job.yaml:2: a is given twice\njob.yaml:3: no setting nothing",
		"- a":                    "job.yaml: must have a setting a line, as in threshold: 0.9",
		"a: [[b]]":               "job.yaml:1: a must be a list of plain values",
		"a: {b: c}":              "job.yaml:1: a must have a number for each name",
		"a: 1\n---\nb: 2\n":      "job.yaml:2: a second document begins, but a file has the settings of one job: remove the line --- and the settings that are not meant",
	} {
		t.Run(content, func(t *testing.T) {
			if _, err := parseSettings("job.yaml", []byte(content), known); err == nil || err.Error() != want {
				t.Errorf("%q: %v, want %s", content, err, want)
			}
		})
	}
}

// TestReadSettings: only a small file is read. Nothing else is waited for.
func TestReadSettings(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("job.yaml"), []byte("a: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		at("large"), append([]byte("a: 1\n#"), make([]byte, maxSettingsBytes)...), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readSettings(at("job.yaml"), known); err != nil || got["a"].Value != "1" {
		t.Errorf("%v, %v", got, err)
	}
	for path, want := range map[string]string{
		"/dev/zero":   "/dev/zero is a device and no file: write the settings to a file, and name that",
		at("pipe"):    "pipe is a pipe and no file: write the settings to a file, and name that",
		at("large"):   "large has more than 1048576 bytes",
		at("nowhere"): "nowhere: no such file or directory: check the path",
	} {
		t.Run(path, func(t *testing.T) {
			if _, err := readSettings(path, known); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		})
	}
}

// FuzzParseSettings: no file of settings makes the program panic.
func FuzzParseSettings(f *testing.F) {
	for _, content := range []string{
		"a: 1", "threshold: 0.8", "input: [a, &b b, *b]", "? [a]\n: b", "", "null",
		"weight: {a: 1}", "a: 1\n---\nb: 2", "weight: &w {a: *w}",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = parseSettings("job.yaml", content, known) })
}
