package main

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/job"
)

// addFlags gives a command of the parser flags, in front of its own.
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
			Name: f.name, Help: f.help, OrigHelp: f.help, Default: text, HasDefault: text != "",
			Target: field, DefaultValue: reflect.New(field.Type()).Elem(), Mapper: mappers.ForValue(field),
			Tag: tag, Required: f.traits&required != 0,
		}
		value.Flag = &kong.Flag{Value: value, PlaceHolder: f.value, Group: &kong.Group{Key: f.group, Title: f.group}}
		added = append(added, value.Flag)
	}
	command.Flags = append(added, command.Flags...)
	return nil
}

// optional returns the flags. It requires none.
func optional(flags []settingFlag) []settingFlag {
	for i := range flags {
		flags[i].traits &^= required
	}
	return flags
}

// usual returns the default of a flag in the form in which it is given. It is empty if the help should not
// show it.
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

// given returns the settings of those flags that are on the command line, even if their value is the default.
func given(parsed *kong.Context, flags []settingFlag) []string {
	var settings []string
	for _, step := range parsed.Path {
		if step.Flag != nil && slices.ContainsFunc(flags, func(f settingFlag) bool { return f.name == step.Flag.Name }) {
			settings = append(settings, settingName(step.Flag.Name))
		}
	}
	return settings
}

// settingName returns the setting that a flag sets, by its name in summary.json.
func settingName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// flagName returns the flag that sets a setting.
func flagName(setting string) string { return "--" + strings.ReplaceAll(setting, "_", "-") }

// checkArgument refuses an address that no storage knows, as an argument that the help calls <name>.
func checkArgument(name, path string) error {
	if err := job.CheckPlace("argument", path); err != nil {
		return errors.New(setting.Text(err, func(string) string { return "<" + name + ">" }))
	}
	return nil
}
