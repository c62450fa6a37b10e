package findings

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestToy: a new count is a field. It merges, is in the summary, and is among the figures that the pages and the
// metrics go through.
func TestToy(t *testing.T) {
	type withToy struct {
		Counts
		Toys int64 `json:"toys,omitempty" metric:"toy_count" label:"playthings" unit:"bytes"`
	}
	type totals struct {
		Counts withToy `json:"counts"`
	}
	var sum totals
	for range 3 {
		Merge(&sum, totals{withToy{Counts: Counts{Pairs: 5}, Toys: 2}})
	}
	all := Figures(sum)
	want := Figure{
		Path:    []string{"counts", "toys"},
		Metric:  "toy_count",
		Label:   "playthings",
		IsBytes: true,
		IsRare:  true,
		Value:   6,
	}
	if toy := all[len(all)-1]; !reflect.DeepEqual(toy, want) {
		t.Errorf("%+v, want %+v", toy, want)
	}
	if text, err := json.Marshal(sum); err != nil || !strings.HasSuffix(string(text), `"pairs":15,"toys":6}}`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestFigures: each number of a summary is a metric of its own. Files are summed up.
func TestFigures(t *testing.T) {
	known := map[string]int64{}
	for _, of := range []any{
		Totals{
			Counts:  Counts{PassedOver: map[string]int64{".exe": 3, ".so": 4}},
			Skipped: Skipped{Example: &SkippedGroup{Documents: 9}},
		},
		&Extras{Common: &Common{Above: 5}, Mirrors: &Mirrors{Pairs: 6}},
	} {
		for _, figure := range Figures(of) {
			if _, is := known[figure.Metric]; is {
				t.Errorf("a second %+v", figure)
			}
			known[figure.Metric] = figure.Value
		}
	}
	if known["files_passed_over"] != 7 || known["common_above"] != 5 || known["mirrors"] != 6 || len(known) < 40 {
		t.Errorf("%d metrics: %v", len(known), known)
	}
}
