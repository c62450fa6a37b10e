package main

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/schema/schemas"
	"mirrorbeam.dev/job"
)

type configCommand struct {
	configFile
	Settings job.Config `kong:"-"`
	Schema   bool

	chosen *chooser
	given  []string
}

func (c *configCommand) BeforeApply(parsed *kong.Context, chosen *chooser) error {
	c.chosen, c.given = chosen, chosen.given(parsed, jobFlags(&c.Settings))
	return nil
}

func (c *configCommand) Run(_ context.Context, out io.Writer) error {
	if c.Schema {
		return printJSON(out, settingsSchema())
	}
	group := ""
	for _, f := range jobFlags(&c.Settings) {
		if f.group != group {
			say(out, "# %s\n", f.group)
			group = f.group
		}
		name := settingName(f.name)
		value, err := yamlText(f.field)
		if err != nil {
			return fmt.Errorf("print %s: %w", name, err)
		}
		comment := ""
		from := c.originOf(name)
		if from == fromDefault || from.isPreset() {
			comment = "# "
		}
		say(out, "%-44s # %s\n", comment+name+": "+value, from)
	}
	if err := c.check(); err != nil {
		return failure.New(failure.Usage, err)
	}
	return nil
}

// check returns every fault for which 'runjob run' would refuse the settings, with the place of the setting. The input
// and the output may be missing, since they are often given as flags of the run.
func (c *configCommand) check() error {
	config := c.Settings
	config.Give(c.given...)
	if len(config.Input) == 0 {
		config.Input = []string{"."}
	}
	if config.Output == "" {
		config.Output = "out"
	}
	if config.WorkerMemory > 0 {
		config.Runner = "portable" // the run names its runner, which must not be the local one
	}
	_, words := config.ReadStopWords()
	_, lists := config.ReadSiteLists()
	_, ranking := config.ReadRanking()
	return c.chosen.placed(errors.Join(config.Validate(), words, lists, ranking))
}

func (c *configCommand) originOf(setting string) origin {
	if from, found := c.chosen.origins[setting]; found {
		return from
	}
	if slices.Contains(c.given, setting) {
		return fromFlag
	}
	return fromDefault
}

func yamlText(field any) (string, error) {
	value := reflect.ValueOf(field).Elem().Interface()
	if text, ok := value.(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			return "", err
		}
		value = string(b)
	}
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return "", err
	}
	node.Style = yaml.FlowStyle
	b, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(b)), err
}

type schema struct {
	Schema      string            `json:"$schema,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Type        any               `json:"type"`
	Default     any               `json:"default,omitempty"`
	Items       *schema           `json:"items,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	// Additional is false, or the schema of all other properties.
	Additional any `json:"additionalProperties,omitempty"`
}

func settingsSchema() schema {
	config := job.Default()
	all := schema{
		Schema:     "https://json-schema.org/draft/2020-12/schema",
		Title:      "Settings of runjob",
		Type:       "object",
		Properties: map[string]schema{},
		Additional: false,
	}
	for _, f := range append(settingFlags(), jobFlags(&config)...) { // the last one has the defaults
		one := typeOf(reflect.TypeOf(f.field).Elem())
		one.Description = f.help
		if encoded, err := json.Marshal(reflect.ValueOf(f.field).Elem().Interface()); err == nil &&
			string(encoded) != "null" && string(encoded) != `""` {
			one.Default = json.RawMessage(encoded)
		}
		all.Properties[settingName(f.name)] = one
	}
	return all
}

func typeOf(t reflect.Type) schema {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return schema{Type: []string{"string", "integer"}}
	}
	switch t.Kind() {
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Float64:
		return schema{Type: "number"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return schema{Type: []string{"integer", "string"}}
	case reflect.Slice:
		item := typeOf(t.Elem())
		return schema{Type: []string{"array", "string"}, Items: &item}
	case reflect.Map:
		return schema{Type: "object", Additional: &schema{Type: "number"}}
	}
	return schema{Type: []string{"string", "number", "boolean"}}
}

type schemaCommand struct {
	Of string `arg:"" optional:"" name:"output"`
}

func (c *schemaCommand) Run(_ context.Context, out io.Writer) error {
	content, err := schemas.Of(c.Of)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	return printJSON(out, content)
}
