package findings

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestToy: a new count is a field. It merges, is in the summary, and is among the figures that the pages, the metrics and the
// documentation go through.
func TestToy(t *testing.T) {
	type withToy struct {
		Counts
		Toys int64 `json:"toys,omitempty" metric:"toy_count" label:"playthings" unit:"bytes" doc:"toys, with --toys"`
	}
	var sum withToy
	for range 3 {
		Merge(&sum, withToy{Counts: Counts{Pairs: 5}, Toys: 2})
	}
	all := Figures(sum)
	want := Figure{Name: "toys", Metric: "toy_count", Label: "playthings", Doc: "toys, with --toys", IsBytes: true, IsRare: true, Value: 6}
	if toy := all[len(all)-1]; toy != want || row(toy) != "| `toys` | toys, with `--toys` |\n" {
		t.Errorf("%+v, row %q, want %+v", toy, row(toy), want)
	}
	if text, err := json.Marshal(sum); err != nil || !strings.HasSuffix(string(text), `"pairs":15,"toys":6}`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestFigures: each number of a summary has words of its own, and is a metric of its own.
func TestFigures(t *testing.T) {
	known := map[string]bool{}
	for _, of := range []any{Totals{Counts: Counts{PassedOver: map[string]int64{".exe": 3, ".so": 4}}}, Mirrors{}} {
		for _, figure := range Figures(of) {
			if known[figure.Metric] || figure.Doc == "" || strings.ContainsAny(figure.Doc, "|\n") {
				t.Errorf("%+v", figure)
			}
			if known[figure.Metric] = true; figure.Name == "passed_over" && figure.Value != 7 {
				t.Errorf("%d files are passed over, want 7", figure.Value)
			}
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Counts](), reflect.TypeFor[Skipped](), reflect.TypeFor[Mirrors]()} {
		for i := range of.NumField() {
			if field := of.Field(i); field.Type.Kind() == reflect.Int64 && field.Tag.Get("doc") == "" {
				t.Errorf("%s.%s has no tag doc", of.Name(), field.Name)
			}
		}
	}
}

// documentation is where users read what is counted.
const documentation = "../../../docs/outputs.md"

const tableHead = "| count | what it is |\n|---|---|\n"

// TestDocumentation: the table of counts is the one that the fields of Counts say. UPDATE=1 rewrites it.
func TestDocumentation(t *testing.T) {
	content, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	lead, rest, found := strings.Cut(string(content), tableHead)
	table, end, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table under %q", documentation, tableHead)
	}
	var want strings.Builder
	for _, figure := range Figures(Counts{}) {
		want.WriteString(row(figure))
	}
	if table+"\n" == want.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("the table of counts in %s differs (UPDATE=1 rewrites it), want\n%s", documentation, want.String())
	} else if err := os.WriteFile(documentation, []byte(lead+tableHead+want.String()+"\n"+end), 0o666); err != nil {
		t.Fatal(err)
	}
}

var flags = regexp.MustCompile(`--[a-z-]+`)

// row is the row of a count in the documentation.
func row(f Figure) string {
	return fmt.Sprintf("| `%s` | %s |\n", f.Name, flags.ReplaceAllString(f.Doc, "`$0`"))
}
