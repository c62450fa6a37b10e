package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/goldentest"
)

//go:generate env UPDATE=1 go test -run ^TestGenerated .

// TestGeneratedRecipes: the page of presets has a table of the recipes, between its marks.
func TestGeneratedRecipes(t *testing.T) {
	const page, begin, end = "../docs/reference/presets.md", "<!-- recipes -->\n", "<!-- end of recipes -->\n"
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(content), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no marks %q and %q", page, begin, end)
	}
	var table strings.Builder
	table.WriteString("| preset | as for | sets | what differs |\n|---|---|---|---|\n")
	for _, r := range Recipes() {
		preset, _ := PresetNamed(r.Name)
		var sets []string
		settings := preset.Settings()
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			flag := strings.ReplaceAll(name, "_", "-")
			sets = append(sets, "--"+flag+" "+strings.Trim(string(settings[name]), `"[]`))
		}
		fmt.Fprintf(&table, "| `%s` | %s, %s | `%s` | %s |\n", r.Name, r.Corpus, r.Source, strings.Join(sets, " "),
			r.Differs)
	}
	goldentest.File(t, page, before+begin+table.String()+end+after)
}

// TestPresets: each preset is valid as it is, changes something, and is what its settings say, read as JSON.
func TestPresets(t *testing.T) {
	for _, preset := range Presets() {
		config := preset.Config()
		config.Input, config.Output = []string{"in"}, "out"
		if preset.Name == "decontaminate" {
			config.Reference = []string{"benchmarks"}
		}
		if err := config.Validate(); err != nil {
			t.Errorf("%s: %v", preset.Name, err)
		}
		if len(preset.Settings()) == 0 || preset.Settings()["preset"] != nil {
			t.Errorf("%s sets %v", preset.Name, preset.Settings())
		}
		encoded, err := json.Marshal(preset.Settings())
		if err != nil {
			t.Fatal(err)
		}
		read := Default()
		read.Preset = preset.Name
		if err := json.Unmarshal(encoded, &read); err != nil || !reflect.DeepEqual(read, preset.Config()) {
			t.Errorf("%s: %+v, %v, want %+v", preset.Name, read, err, preset.Config())
		}
	}
	config := validConfig()
	config.Preset = "codes"
	if err := config.Validate(); err == nil ||
		!strings.Contains(err.Error(), "preset codes: must be corpus, web, code") ||
		!strings.Contains(err.Error(), "titles, mirrors, fineweb, fineweb2") {
		t.Errorf("an unknown preset: %v", err)
	}
}
