package main

import (
	_ "embed"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// settingFlag is a flag that sets a field of a configuration. Its default is what the field holds.
type settingFlag struct {
	group string
	name  string
	field any
	// value stands for the flag's value in the help. If it is empty, the help shows the default or the name.
	value  string
	traits traits
	help   string
}

type traits uint8

const (
	// required: the command does not work without the flag.
	required traits = 1 << iota
	// whole: the value is one item of a list, even if it has commas.
	whole
	// quiet: the help text names the default itself.
	quiet
)

var traitNames = map[string]traits{"required": required, "whole": whole, "quiet": quiet}

//go:embed settings.txt
var settingsText string

// settingTexts are the flags of settings without their fields, as settings.txt has them: a group in brackets, then for
// each flag a line with its name, the value in capitals and the traits, and its help below. A flag of 'runjob plan'
// that differs from the flag of 'runjob run' has plan: in front.
var settingTexts = sync.OnceValue(func() []settingFlag {
	fill := strings.NewReplacer("{presets}", presetHelp(), "{formats}", corpus.FormatHelp(), "{keep}",
		preference.Help())
	var flags []settingFlag
	group := ""
	for _, one := range readHelp(settingsText) {
		if one.line[0] == '[' {
			group = strings.Trim(one.line, "[]")
			continue
		}
		words := strings.Fields(one.line)
		f := settingFlag{group: group, name: words[0], help: fill.Replace(one.text)}
		for _, word := range words[1:] {
			if trait := traitNames[word]; trait != 0 {
				f.traits |= trait
			} else {
				f.value = word
			}
		}
		flags = append(flags, f)
	}
	return flags
})

func flagsFor(command string, config any) []settingFlag {
	fields := map[string]any{}
	for _, s := range job.SettingsOf(config) {
		fields[s.Name] = s.Value.Addr().Interface()
	}
	var flags []settingFlag
	for _, f := range settingTexts() {
		if of, name, isOwn := strings.Cut(f.name, ":"); isOwn {
			if of != command {
				continue
			}
			f.name = name
			flags = slices.DeleteFunc(flags, func(other settingFlag) bool { return other.name == name })
		}
		if field, has := fields[settingName(f.name)]; has {
			f.field = field
			flags = append(flags, f)
		}
	}
	return flags
}

func jobFlags(c *job.Config) []settingFlag { return flagsFor("run", c) }

func planFlags(c *plan.Config) []settingFlag { return flagsFor("plan", c) }

func presetHelp() string {
	var kinds, recipes []string
	for _, r := range job.Recipes() {
		recipes = append(recipes, r.Name)
	}
	for _, p := range job.Presets() {
		if !slices.Contains(recipes, p.Name) {
			kinds = append(kinds, fmt.Sprintf("%s (%s)", p.Name, p.For))
		}
	}
	return strings.Join(kinds, ", ") + "; or the published settings of a corpus: " + strings.Join(recipes, ", ")
}

func addFlags(command *kong.Node, flags []settingFlag, mappers *kong.Registry) error {
	var added []*kong.Flag
	for _, f := range flags {
		text, err := f.usual()
		if err != nil {
			return fmt.Errorf("default of --%s: %w", f.name, err)
		}
		field := reflect.ValueOf(f.field).Elem()
		tag := &kong.Tag{Sep: ',', MapSep: ','}
		if f.traits&whole != 0 {
			tag.Sep = -1
		}
		value := &kong.Value{
			Name:         f.name,
			Help:         f.help,
			OrigHelp:     f.help,
			Default:      text,
			HasDefault:   text != "",
			Target:       field,
			DefaultValue: reflect.New(field.Type()).Elem(),
			Mapper:       mappers.ForValue(field),
			Tag:          tag,
			Required:     f.traits&required != 0,
		}
		value.Flag = &kong.Flag{
			Value:       value,
			PlaceHolder: f.value,
			Group:       &kong.Group{Key: f.group, Title: f.group},
			Short:       shortFlags[f.name],
		}
		added = append(added, value.Flag)
	}
	command.Flags = append(added, command.Flags...)
	return nil
}

var shortFlags = map[string]rune{"input": 'i', "output": 'o'}

func optional(flags []settingFlag) []settingFlag {
	for i := range flags {
		flags[i].traits &^= required
	}
	return flags
}

// usual returns the default of a flag in the form in which it is given. It is empty if the help should not show it.
func (f *settingFlag) usual() (string, error) {
	if f.traits&quiet != 0 {
		return "", nil
	}
	switch value := reflect.ValueOf(f.field).Elem().Interface().(type) {
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	case []string:
		return strings.Join(value, ","), nil
	case bool:
		return map[bool]string{true: "true"}[value], nil
	case map[string]float64, []int:
		if reflect.ValueOf(value).Len() > 0 {
			return "", fmt.Errorf("%v cannot be shown", value)
		}
		return "", nil
	default:
		return fmt.Sprint(value), nil
	}
}

// given returns the settings of those flags that are chosen, even if their value is the default. A preset chooses none.
func (c *chooser) given(parsed *kong.Context, flags []settingFlag) []string {
	var settings []string
	for _, step := range parsed.Path {
		if step.Flag == nil {
			continue
		}
		name := settingName(step.Flag.Name)
		if hasSetting(flags, name) && !c.origins[name].isPreset() {
			settings = append(settings, name)
		}
	}
	return settings
}

func settingName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// checkArgument refuses an address that no storage knows, as an argument that the help calls <name>.
func checkArgument(name, path string) error {
	if err := job.CheckPlace("argument", path); err != nil {
		return errors.New(setting.Text(err, func(string) string { return "<" + name + ">" }))
	}
	return nil
}
