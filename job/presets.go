package job

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/sketch"
)

// Preset is a named bundle of settings for one kind of corpus. A setting that the user chooses comes before it.
type Preset struct {
	// Name is what [Measure.Preset] holds.
	Name string
	// For says what kind of corpus it is for, as in "program code".
	For string

	set func(*Config)
}

// Presets returns all presets.
func Presets() []Preset {
	return []Preset{
		{"corpus", "texts to train on, of which few good ones are to be lost", func(c *Config) {
			c.Common, c.MinShingles, c.Split = common.Auto, 40, keep.Star
		}},
		{"web", "pages of the web", func(c *Config) {
			c.Common, c.Split = common.Auto, keep.Star
		}},
		{"code", "program code", func(c *Config) {
			c.Code, c.Split = sketch.Code{Language: sketch.AutoLanguage}, keep.Star
		}},
		{"plagiarism", "copied and rewritten passages", func(c *Config) {
			c.Similarity, c.Threshold, c.Excerpt, c.Passage, c.Rarity, c.Shingle = methods.Containment, 1, 8, 4, 0.25, 2
		}},
		{"titles", "titles, headlines and other short texts", func(c *Config) {
			c.MinShingles, c.Split = 40, keep.Star
		}},
		{"mirrors", "mirror sites, as 'runjob mirrors' looks for them", func(c *Config) {
			c.HTMLText, c.Normalize, c.Threshold = webtext.Main, sketch.Normalization{Skeleton: true}, 0.5
			c.Emit = []string{output.Mirrors, output.Sites, output.Suspects}
		}},
	}
}

// Config returns [Default] with the settings of the preset.
func (p Preset) Config() Config {
	config := Default()
	config.Preset = p.Name
	p.set(&config)
	return config
}

// HasClusters reports whether jobs of the preset put documents into clusters.
func (p Preset) HasClusters() bool {
	config := p.Config()
	return config.Scorer().HasClusters
}

// Settings returns the settings in which the preset differs from [Default], by their names, as JSON.
func (p Preset) Settings() map[string]json.RawMessage {
	config, usual := p.Config(), Default()
	plain := usual.Settings()
	settings := config.Settings()
	maps.DeleteFunc(settings, func(name string, value json.RawMessage) bool {
		return name == "preset" || bytes.Equal(value, plain[name])
	})
	return settings
}

// PresetNamed returns the preset of that name. It fails if there is none.
func PresetNamed(name string) (Preset, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, setting.Errorf("{preset} %s: must be one of %s", name, strings.Join(names, ", "))
}
