package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spaces matches what may stand between the words of a command, also at the end of a line that goes on.
var spaces = regexp.MustCompile(`(\\\n|\s)+`)

// oneLine returns a text with one space between the words of a command.
func oneLine(text string) string { return spaces.ReplaceAllString(text, " ") }

// TestSchedules: the pages and all schedules that watch for copies have one and the same command.
func TestSchedules(t *testing.T) {
	s := &scene{t: t}
	command := strings.TrimPrefix(oneLine(readUnit(s, "watch.service").setting("ExecStart")), "/usr/local/bin/")
	if page := oneLine(read(t, "../../docs/how-to/phishing-watch.md")); !strings.Contains(page, command) {
		t.Errorf("the recipe lacks the command %s", command)
	}
	// In Airflow the metrics are its own.
	command, _, _ = strings.Cut(command, " --metrics-file")
	if dag := oneLine(read(t, filepath.Join(schedules, "watch_dag.py"))); !strings.Contains(dag, command) {
		t.Errorf("the DAG lacks the command %s", command)
	}
}

// TestScheduledParameters: what the schedule of Dataflow launches the template with are its parameters, and none that
// it needs is missing.
func TestScheduledParameters(t *testing.T) {
	content, err := os.ReadFile(metadataFile)
	if err != nil {
		t.Fatal(err)
	}
	var template templateMetadata
	if err := json.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(read(t, filepath.Join(schedules, "dataflow.tf")), "parameters = {")
	if !found {
		t.Fatal("the schedule gives no parameters")
	}
	text, _, _ = strings.Cut(text, "}\n")
	var given []string
	for line := range strings.Lines(text) {
		if name, _, is := strings.Cut(line, "="); is {
			given = append(given, strings.TrimSpace(name))
		}
	}
	for _, p := range template.Parameters {
		if at := slices.Index(given, p.Name); at >= 0 {
			given = slices.Delete(given, at, at+1)
		} else if !p.IsOptional {
			t.Errorf("%s is not given", p.Name)
		}
	}
	if len(given) > 0 {
		t.Errorf("%v are no parameters of the template", given)
	}
}
