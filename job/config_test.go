package job

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
)

// validConfig returns a configuration with the required settings only.
func validConfig() Config {
	config := Default()
	config.Input, config.Output = []string{"x.jsonl"}, "out"
	return config
}

// containmentConfig returns the configuration of a job that looks for passages.
func containmentConfig() Config {
	config := validConfig()
	config.Similarity = methods.Containment
	return config
}

// TestDefault: the default configuration lacks only the required settings.
func TestDefault(t *testing.T) {
	config := Default()
	if err := config.Validate(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("without input and output: %v", err)
	}
	config = validConfig()
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	one, other := Default(), Default()
	one.Emit[0] = "pairs"
	if other.Emit[0] != autoEmit || Default().Emit[0] != autoEmit {
		t.Error("two configurations share their outputs")
	}
}

// TestSettings: each field with a name in JSON says what it affects, and the others are known to be no settings.
func TestSettings(t *testing.T) {
	var config Config
	names := map[string]bool{}
	for _, s := range SettingsOf(&config) {
		if !slices.Contains([]Affects{Sketches, Results, Outputs, Nothing}, s.Affects) {
			t.Errorf("%s affects %q: can it change sketches, results or other outputs?", s.Name, s.Affects)
		}
		if names[s.Name] {
			t.Errorf("two fields are the setting %s", s.Name)
		}
		names[s.Name] = true
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		isSetting := !field.Anonymous &&
			!slices.Contains([]string{"Given", "Runner", "DryRun", "Progress", "Monitor", "Stdin"}, field.Name)
		if _, hasTag := field.Tag.Lookup("affects"); isSetting != hasTag {
			t.Errorf("%s is a setting: %v, and says what it affects: %v", field.Name, isSetting, hasTag)
		}
	}
}

// TestGiven: a setting that was set to its default on purpose is told from one that was not set.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		given  string
		change func(*Config)
		fault  string // empty for none
	}{
		{"hamming", nil, "hamming 3: is for keys simhash"},
		{"hamming", func(c *Config) { c.Keys = methods.SimHash }, ""},
		{"bits", nil, "bits 64: is for keys simhash and emit sketches"},
		{"bits", func(c *Config) { c.Emit = []string{"sketches"} }, ""},
		{"threshold", nil, ""},
		{"threshold", func(c *Config) { c.Score = methods.Hamming }, "threshold 0.8: is a Jaccard similarity"},
		{"text_field", func(c *Config) { c.Weight = map[string]float64{"title": 1} }, "weight names the text fields"},
		{"excerpt", nil, "excerpt 50: is for similarity containment"},
		{"excerpt", func(c *Config) { c.Similarity = methods.Containment }, ""},
		{"keep", nil, ""},
		{"keep", func(c *Config) { c.Similarity = methods.Containment }, "keep first: is about clusters"},
		{"split", func(c *Config) { c.Similarity = methods.Containment }, "split component: is about clusters"},
		{"recall", nil, "recall 0: must be above 0"},
		{"recall", func(c *Config) { c.Recall = 0.9 }, ""},
		{"max-document", nil, `there is no setting "max-document"`},
		{"max_document", nil, ""},
	} {
		plain := validConfig()
		if c.change != nil {
			c.change(&plain)
		}
		given := plain
		given.Give("id_field")
		other := given
		given.Give(c.given)
		other.Give("output")
		for _, config := range []Config{plain, other} {
			if err := config.Validate(); err != nil {
				t.Errorf("%s, not given: %v", c.given, err)
			}
		}
		err := given.Validate()
		if (err == nil) != (c.fault == "") || err != nil && !strings.HasPrefix(err.Error(), c.fault) {
			t.Errorf("%s, given: %v, want %q", c.given, err, c.fault)
		}
		if given.ResultHash(Lists{}) != plain.ResultHash(Lists{}) {
			t.Errorf("%s: to give it changes a hash", c.given)
		}
	}
}

// TestMethod: keys that are left open follow from the other settings.
func TestMethod(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   methods.Name
	}{
		{func(*Config) {}, methods.Exact},
		{func(c *Config) { c.Recall = 1 }, methods.Exact},
		{func(c *Config) { c.Recall = 0.9 }, methods.MinHash},
		{func(c *Config) { c.Bands = 9 }, methods.MinHash},
		{func(c *Config) { c.Verify = methods.VerifySketch }, methods.MinHash},
		{func(c *Config) { c.Score = methods.Hamming }, methods.SimHash},
		{func(c *Config) { c.Similarity = methods.Containment }, methods.Passages},
	} {
		config := Default()
		c.change(&config)
		if got := config.Method(); got != c.want {
			t.Errorf("%+v: keys %s, want %s", config.Measure, got, c.want)
		}
	}
}
