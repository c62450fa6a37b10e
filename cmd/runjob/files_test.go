package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrderOfInputs: the documents of the first input come first, so they stay and unique begins with them. With a
// state, another order is refused.
func TestOrderOfInputs(t *testing.T) {
	s := newScene(t)
	s.write("train.jsonl", []byte(document("train", "one of two good records")))
	s.write("test.jsonl",
		[]byte(document("test", "one of two good records")+document("other", "it is unlike the others")))
	inOrder := []string{
		"--input", "train.jsonl", "--input", "test.jsonl", "--emit", "unique,removed", "--state",
		"state",
	}
	results := s.results(inOrder...)
	if first := results["unique-00000-of-00002.jsonl"]; !strings.Contains(first, `"train"`) {
		t.Errorf("unique begins with %s", first)
	}
	if removed := results["removed-00000-of-00001.jsonl"]; !strings.Contains(removed, `"test"`) ||
		strings.Contains(removed, `"id":"train"`) {
		t.Errorf("removed: %s", removed)
	}
	reversed := []string{
		"--input", "test.jsonl", "--input", "train.jsonl", "--emit", "unique,removed", "--state",
		"state", "--overwrite",
	}
	code, message := s.runjob(reversed...).ends()
	if code != exitUsage || !strings.Contains(message, "in the order of the last run") {
		t.Errorf("exit code %d, %s", code, message)
	}
	if removed := s.results(append(reversed,
		"--rebuild")...)["removed-00000-of-00001.jsonl"]; !strings.Contains(removed, `"train"`) {
		t.Errorf("removed: %s", removed)
	}
}

// TestSideFiles: a tree has the files that describe its data, as they are, and the summary counts the files.
func TestSideFiles(t *testing.T) {
	s := newScene(t)
	s.write("hub/data/train.jsonl",
		[]byte(document("a", "one of two good records")+document("b", "one of two good records")))
	for _, name := range []string{"dataset_infos.json", "README.md", ".gitattributes"} {
		s.write("hub/"+name, []byte("about "+name))
	}
	s.write("hub/data/_SUCCESS", nil)
	results := s.results("--input", "hub", "--layout", "tree", "--emit", "unique")
	for _, name := range []string{"dataset_infos.json", "README.md", ".gitattributes"} {
		if got, err := os.ReadFile(filepath.Join(s.dir, "out/unique", name)); err != nil ||
			string(got) != "about "+name {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	for _, want := range []string{`"read": 1,`, `"(side file)": 3`, `"(marker)": 1`, `"(marker)": "data/_SUCCESS"`} {
		if !strings.Contains(results["summary.json"], want) {
			t.Errorf("summary without %s: %s", want, results["summary.json"])
		}
	}
}

// results returns the results of a job that succeeds, whatever it says.
func (s *scene) results(args ...string) map[string]string {
	s.t.Helper()
	j := s.runjob(args...)
	if err := j.Run(); err != nil {
		s.t.Fatalf("%v: %s", err, j.stderr.String())
	}
	return s.outputs()
}
