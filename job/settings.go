package job

import (
	"reflect"
	"slices"
	"strings"
	"sync"
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
