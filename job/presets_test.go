package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestPresets: each preset is valid as it is, changes something, and is what its settings say, read as JSON.
func TestPresets(t *testing.T) {
	for _, preset := range Presets() {
		config := preset.Config()
		config.Input, config.Output = []string{"in"}, "out"
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
		!strings.Contains(err.Error(), "preset codes: must be one of corpus, web, code") {
		t.Errorf("an unknown preset: %v", err)
	}
}
