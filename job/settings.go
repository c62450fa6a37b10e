package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/sketch"
)

// Affects says what a setting changes, in the tag of its field.
type Affects string

const (
	// Sketches are what is stored of a document: its id, its shingles or features, its fingerprints. Clusters and pairs
	// follow from them.
	Sketches Affects = "sketches"
	// Results are clusters and pairs, and the bytes of their files.
	Results Affects = "results"
	// Outputs are what else is written or reported.
	Outputs Affects = "outputs"
	// Nothing: the setting says where files are and how the job runs.
	Nothing Affects = "nothing"
)

// Setting is a setting as the field of a configuration declares it, in its tags.
type Setting struct {
	// Name is its name in JSON.
	Name string
	// Affects is what the setting changes.
	Affects Affects
	// InPipelines says that the setting applies to documents of a pipeline, too. Other settings are about files.
	InPipelines bool
	// Value is the field.
	Value reflect.Value

	between string // the least and the largest number that it may be
}

// IsDefault reports whether the setting has its value of [Default].
func (s Setting) IsDefault() bool {
	return reflect.DeepEqual(s.Value.Interface(), defaults()[s.Name].Interface())
}

var defaults = sync.OnceValue(func() map[string]reflect.Value {
	usual, values := Default(), map[string]reflect.Value{}
	for _, s := range SettingsOf(&usual) {
		values[s.Name] = s.Value
	}
	return values
})

// SettingsOf returns the settings in a struct, given by a pointer, and in the structs that it embeds.
func SettingsOf(config any) []Setting {
	of := reflect.ValueOf(config).Elem()
	var all []Setting
	for _, field := range reflect.VisibleFields(of.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, Setting{
			Name:        name,
			Affects:     Affects(field.Tag.Get("affects")),
			InPipelines: field.Tag.Get("pipelines") != "",
			Value:       of.FieldByIndex(field.Index),
			between:     field.Tag.Get("range"),
		})
	}
	return all
}

// isGiven reports whether a setting was chosen: it is marked, or it differs from its default.
func (c *Config) isGiven(name string) bool {
	if slices.Contains(c.Given, name) {
		return true
	}
	return slices.ContainsFunc(SettingsOf(c), func(s Setting) bool { return s.Name == name && !s.IsDefault() })
}

// refuse refuses the settings in a part of the configuration, which are about outputs that the job does not write.
func (c *Config) refuse(check checker, part any, why string) {
	for _, s := range SettingsOf(part) {
		check(s.IsDefault() && !slices.Contains(c.Given, s.Name), "{"+s.Name+"}: "+why)
	}
}

// Preset is a named bundle of settings, for one kind of corpus or as published for a known one. A setting that the user
// chooses comes before it.
type Preset struct {
	// Name is what [Measure.Preset] holds.
	Name string
	// For says what kind of corpus it is for, as in "program code".
	For string

	set func(*Config)
}

// Presets returns all presets: the ones for a kind of corpus, and [Recipes].
func Presets() []Preset {
	presets := []Preset{
		{"corpus", "texts to train on, of which few good ones are to be lost", func(c *Config) {
			c.Common, c.MinShingles, c.Split, c.Keep = common.Auto, 40, keep.Star, "longest"
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
		{"decontaminate", "a corpus without benchmarks, as 'runjob decontaminate' makes it", func(c *Config) {
			c.Keys, c.PassageUnit, c.PassageWords = methods.None, trim.Items, 8
			c.Emit = []string{output.Trimmed, output.Passages}
		}},
		{"titles", "titles, headlines and other short texts", func(c *Config) {
			c.MinShingles, c.Split = 40, keep.Star
		}},
		{"mirrors", "mirror sites, as 'runjob mirrors' looks for them", func(c *Config) {
			c.HTMLText, c.Normalize, c.Threshold = webtext.Main, sketch.Normalization{Skeleton: true}, 0.5
			c.Emit = []string{output.Mirrors, output.Sites, output.Suspects}
		}},
	}
	for _, r := range Recipes() {
		presets = append(presets, Preset{r.Name, "texts, with the settings of " + r.Corpus, r.set})
	}
	return presets
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
	all := Presets()
	if at := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); at >= 0 {
		return all[at], nil
	}
	return Preset{}, CheckValue("preset", name)
}

func presetNames() (names []string) {
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

func keyNames() []string {
	return of(append([]methods.Name{methods.Auto}, methods.Resembling()...)...)()
}

func of[T ~string](all ...T) func() []string {
	var texts []string
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return func() []string { return texts }
}

var values = map[string]func() []string{
	"preset":               presetNames,
	"format":               corpus.FormatNames,
	"text_format":          of(webtext.Plain, webtext.HTML),
	"html_text":            of(webtext.All, webtext.Main),
	"stopwords_use":        of(sketch.RemoveStopWords, sketch.RequireStopWords),
	"fingerprint_encoding": of(corpus.FingerprintEncodings...),
	"keys":                 keyNames,
	"score":                of(methods.Scorings...),
	"similarity":           of(methods.Similarities...),
	"verify":               of(methods.Verifications...),
	"emit":                 OutputNames,
	"columns":              corpus.ColumnNames,
	"output_format":        of(output.Formats...),
	"layout":               of(output.Shards, output.Tree),
	"split":                of(keep.Splits...),
	"drop":                 of(keep.Drops...),
	"variants":             of(variants.Rules...),
	"passage_unit":         of(trim.Units...),
}

// Values returns the values that a setting may have, or the items of a list; nil if these cannot be listed.
func Values(name string) []string {
	if list := values[name]; list != nil {
		return list()
	}
	return nil
}

// CheckValue refuses a value that [Values] of a setting does not have.
func CheckValue(name, value string) error {
	if all := Values(name); !slices.Contains(all, value) {
		others, last := all[:len(all)-1], all[len(all)-1]
		return setting.Errorf("{"+name+"} %s: must be %s or %s", value, strings.Join(others, ", "), last)
	}
	return nil
}

// checkValues checks texts and numbers by the values that settings may have. Items of lists are checked elsewhere.
func (c *Config) checkValues(check checker) {
	for _, s := range SettingsOf(c) {
		if s.Value.Kind() == reflect.String && Values(s.Name) != nil {
			if value := s.Value.String(); value != "" || !s.IsDefault() && s.Name != "drop" {
				check.err(CheckValue(s.Name, value), "")
			}
		}
		var least, most int64
		if n, _ := fmt.Sscan(s.between, &least, &most); n == 2 {
			value := s.Value.Int()
			check(value >= least && value <= most, "{"+s.Name+"} %d: must be from %d to %d", value, least, most)
		}
	}
}
