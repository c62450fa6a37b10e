package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
)

// TestMetrics: each count of a run is a metric with its words, whichever are declared.
func TestMetrics(t *testing.T) {
	var s finished.Summary
	s.Mirrors = &findings.Mirrors{Pairs: 70, Suspects: 71}
	n := int64(100)
	for _, value := range reflect.ValueOf(&s.Counts).Elem().Fields() {
		if n++; value.CanInt() {
			value.SetInt(n)
		}
	}
	path := filepath.Join(t.TempDir(), "run.prom")
	if err := writeMetrics(path, ending{summary: &s}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range findings.Figures(s.Counts) {
		if want := fmt.Sprintf("\nrunjob_%s %d\n", figure.Metric, figure.Value); !strings.Contains(string(content),
			want) {
			t.Errorf("there is no %q", want)
		}
	}
	for _, want := range []string{
		"\nrunjob_mirrors 70\n", "\nrunjob_suspects 71\n",
		"# HELP runjob_empty the number of rejected records whose text is null or missing\n# TYPE runjob_empty gauge\n",
	} {
		if !strings.Contains(string(content), want) {
			t.Errorf("there is no %q in\n%s", want, content)
		}
	}
}

// TestMetricsOutliveFailures: a run that fails leaves the metrics of the last results, so that no alert ends with it.
func TestMetricsOutliveFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.prom")
	var s finished.Summary
	s.Counts.Documents = 42
	s.State = &finished.StateSummary{
		Generation:     7,
		Unacknowledged: map[string]map[string]int64{output.Suspects: {output.New: 3}},
	}
	s.Requests = []finished.Requests{{Kind: "read", Requests: 5}}
	begun := time.Unix(1000, 0)
	metrics := func(e ending) string {
		t.Helper()
		if err := writeMetrics(path, e); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first := metrics(ending{begun: begun, at: begun.Add(time.Minute), summary: &s})
	metrics(ending{begun: begun.Add(time.Hour), at: begun.Add(2 * time.Hour), code: exitUnavailable})
	second := metrics(ending{begun: begun.Add(3 * time.Hour), at: begun.Add(4 * time.Hour), code: exitInput})
	_, ofResults, _ := strings.Cut(first, "runjob_last_exit_code 0\n")
	for _, want := range []string{
		"\nrunjob_documents 42\n", "\nrunjob_state_generation 7\n", "\nrunjob_requests{kind=\"read\"} 5\n",
		"\nrunjob_unacknowledged_changes{of=\"suspects\",change=\"new\"} 3\n", successMetric + " 1060\n",
	} {
		if !strings.Contains(ofResults, want) {
			t.Errorf("there is no %q in\n%s", want, ofResults)
		}
	}
	if before, after, _ := strings.Cut(second, "runjob_last_exit_code 3\n"); after != ofResults {
		t.Errorf("after %s\nthe metrics of the results are\n%s\nwant\n%s", before, after, ofResults)
	} else if !strings.Contains(before, "\nrunjob_last_begin_time_seconds 11800\n") {
		t.Errorf("the last run began later:\n%s", before)
	}
}

// TestAlerts: the alert rules and the dashboard ask for metrics that a run writes.
func TestAlerts(t *testing.T) {
	rules := read(t, filepath.Join(schedules, "alerts.yaml")) + read(t, filepath.Join(schedules, "dashboard.json"))
	var s finished.Summary
	s.State = &finished.StateSummary{Unacknowledged: map[string]map[string]int64{output.Suspects: {output.New: 1}}}
	path := filepath.Join(t.TempDir(), "run.prom")
	if err := writeMetrics(path, ending{summary: &s}); err != nil {
		t.Fatal(err)
	}
	metrics := read(t, path)
	asked := regexp.MustCompile(`runjob_[a-z_]+({of="[a-z]+",change="[a-z]+"})?`).FindAllString(rules, -1)
	if len(asked) < 16 {
		t.Errorf("only %q are asked for", asked)
	}
	for _, series := range asked {
		if !strings.Contains(metrics, "\n"+series+" ") && !strings.Contains(metrics, "# HELP "+series+" ") {
			t.Errorf("no run writes %s", series)
		}
	}
}
