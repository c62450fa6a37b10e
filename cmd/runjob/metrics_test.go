package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
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
