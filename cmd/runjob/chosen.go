package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
)

const configFlag = "config"

type configFile struct {
	File string `name:"config" placeholder:"FILE"`
}

const variablePrefix = "RUNJOB_"

func variableName(setting string) string { return variablePrefix + strings.ToUpper(setting) }

// origin says where the value of a setting comes from: a flag, a variable, a line of a file, a preset or the default.
type origin string

const (
	fromFlag    origin = "flag"
	fromDefault origin = "default"
	// fromPreset goes before the name of a preset.
	fromPreset origin = "preset "
)

func (o origin) isPreset() bool { return strings.HasPrefix(string(o), string(fromPreset)) }

// chooser finds the values of settings that are not on the command line: in the environment, or else in the file that
// --config names, or else in a preset.
type chooser struct {
	environ []string
	origins map[string]origin

	file map[string]settingValue // nil until it is read
}

// Validate does nothing: the file is known when the flags are.
func (c *chooser) Validate(*kong.Application) error { return nil }

func (c *chooser) Resolve(parsed *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := settingName(flag.Name)
	if parsed.Selected() == nil || findFlag(parsed, configFlag) == nil || !isSettingFlag(name) && name != configFlag {
		return nil, nil
	}
	if value, found := c.variable(name); found {
		c.origins[name] = origin(variableName(name))
		return value, nil
	}
	if name == configFlag {
		return nil, c.checkVariables()
	}
	if c.file == nil {
		if err := c.read(fileOf(parsed)); err != nil {
			return nil, err
		}
	}
	if value, found := c.file[name]; found {
		c.origins[name] = origin(value.At)
		return value.Value, nil
	}
	return c.ofPreset(parsed, name)
}

const presetFlag = "preset"

// ofPreset returns the value of a setting in the preset that is chosen, in the form in which a file has it. It is nil
// without a preset, and for a setting that the preset leaves as it is.
func (c *chooser) ofPreset(parsed *kong.Context, name string) (any, error) {
	preset, err := job.PresetNamed(c.presetOf(parsed))
	if err != nil {
		return nil, nil // the check of all settings tells of a name that there is not
	}
	content, found := preset.Settings()[name]
	if !found {
		return nil, nil
	}
	var document yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("preset %s: read %s: %w", preset.Name, name, err)
	}
	c.origins[name] = fromPreset + origin(preset.Name)
	return valueOf(document.Content[0])
}

func (c *chooser) presetOf(parsed *kong.Context) string {
	if flag := findFlag(parsed, presetFlag); flag != nil {
		if name, _ := parsed.FlagValue(flag).(string); name != "" {
			return name
		}
	}
	if name, found := c.variable(presetFlag); found {
		return name
	}
	name, _ := c.file[presetFlag].Value.(string)
	return name
}

func findFlag(parsed *kong.Context, name string) *kong.Flag {
	flags := parsed.Flags()
	if at := slices.IndexFunc(flags, func(flag *kong.Flag) bool { return flag.Name == name }); at >= 0 {
		return flags[at]
	}
	return nil
}

func fileOf(parsed *kong.Context) string {
	if path, _ := parsed.FlagValue(findFlag(parsed, configFlag)).(string); path != "" {
		return path
	}
	return os.Getenv(variableName(configFlag))
}

func (c *chooser) variable(setting string) (value string, found bool) {
	for _, variable := range c.environ {
		if value, found := strings.CutPrefix(variable, variableName(setting)+"="); found && value != "" {
			return value, true
		}
	}
	return "", false
}

func (c *chooser) checkVariables() error {
	for _, variable := range c.environ {
		name, _, _ := strings.Cut(variable, "=")
		setting, isOurs := strings.CutPrefix(name, variablePrefix)
		if setting = strings.ToLower(setting); isOurs && setting != configFlag && !isSettingFlag(setting) {
			return sourceFault{unknownSetting(name, setting, variableName)}
		}
	}
	return nil
}

func (c *chooser) read(path string) (err error) {
	c.file = map[string]settingValue{}
	if path == "" {
		return nil
	}
	if c.file, err = readSettings(path, checkSettingName); err != nil {
		return sourceFault{fmt.Errorf("--config: %w", err)}
	}
	return nil
}

func checkSettingName(name string) error {
	if isSettingFlag(name) {
		return nil
	}
	return unknownSetting(name, name, func(setting string) string { return setting })
}

// sourceFault is a fault of a file of settings, or of the environment. The parser puts the name of some flag in front.
type sourceFault struct{ error }

// placed adds to each fault of settings, which begins with the name or the flag of one, where its value comes from, if
// it is not on the command line.
func (c *chooser) placed(err error) error {
	if fault, found := errors.AsType[sourceFault](err); found {
		return fault.error
	}
	if joined, is := err.(interface{ Unwrap() []error }); is {
		var faults []error
		for _, fault := range joined.Unwrap() {
			faults = append(faults, c.placed(fault))
		}
		return errors.Join(faults...)
	}
	if err == nil {
		return nil
	}
	words := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || r == ':' })
	name := settingName(strings.TrimPrefix(strings.Join(words[:min(len(words), 1)], ""), "--"))
	if from, found := c.origins[name]; found {
		return fmt.Errorf("%w (from %s)", err, from)
	}
	return err
}

// settingFlags are the flags of all commands that set settings, each once.
func settingFlags() []settingFlag {
	var run job.Config
	var planned plan.Config
	flags := jobFlags(&run)
	for _, f := range planFlags(&planned) {
		if !hasSetting(flags, settingName(f.name)) {
			flags = append(flags, f)
		}
	}
	return flags
}

func hasSetting(flags []settingFlag, setting string) bool {
	return slices.ContainsFunc(flags, func(f settingFlag) bool { return settingName(f.name) == setting })
}

// settingNames are the names of all settings. To make all flags takes long, and each flag of a command asks.
var settingNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, f := range settingFlags() {
		names[settingName(f.name)] = true
	}
	return names
})

func isSettingFlag(setting string) bool { return settingNames()[setting] }

// unknownSetting is the error of a setting that there is not. It names the nearest one as call does.
func unknownSetting(given, setting string, call func(string) string) error {
	var flags []string
	for _, f := range settingFlags() {
		flags = append(flags, "--"+f.name)
	}
	if like := nearest(setting, flags); like != "" {
		return fmt.Errorf("unknown setting %s, did you mean %s?", given,
			call(settingName(strings.TrimPrefix(like, "--"))))
	}
	return errors.New("unknown setting " + given)
}

// maxSettingsBytes is the size of the largest file of settings. All settings together take a few thousand bytes.
const maxSettingsBytes = 1 << 20

type settingValue struct {
	// Value is a string, a list of strings, or an object of numbers, as a []any or a map[string]any.
	Value any
	// At is where it is: the path and the line.
	At string
}

// readSettings reads the settings in the file at a path, as parseSettings says. Only a file can be read, and none of
// more than maxSettingsBytes: a pipe may never end, and a device never does.
func readSettings(path string, check func(name string) error) (map[string]settingValue, error) {
	file, err := storage.OpenRegular(path)
	if _, isOther := errors.AsType[*storage.IrregularError](err); isOther {
		return nil, fmt.Errorf("%w: write the settings to a file, and name that", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: check the path", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSettingsBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxSettingsBytes {
		return nil, fmt.Errorf(
			"%s has more than %d bytes, too many for a file of settings: name another file", path,
			maxSettingsBytes)
	}
	return parseSettings(path, content, check)
}

// parseSettings reads the settings in a file of one document. Each of them occurs there once, by its name in
// summary.json. A setting without a value is as if it were not there. Check returns an error if there is no setting of
// a name. The error tells of all faults, with their lines.
func parseSettings(path string, content []byte, check func(name string) error) (map[string]settingValue, error) {
	settings := map[string]settingValue{}
	documents := yaml.NewDecoder(bytes.NewReader(content))
	var document, second yaml.Node
	switch err := documents.Decode(&document); {
	case err == io.EOF: // it is empty
		return settings, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch err := documents.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf(
			"%s:%d: a second document begins, but a file has the settings of one job: "+
				"remove the line --- and the settings that are not meant", path, second.Line)
	case err != io.EOF:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	top := document.Content[0]
	if top.Tag == "!!null" {
		return settings, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: must have a setting a line, as in threshold: 0.9", path)
	}
	seen := map[string]bool{}
	var faults []error
	for i := 0; i < len(top.Content); i += 2 {
		name, node := top.Content[i].Value, top.Content[i+1]
		at := fmt.Sprintf("%s:%d", path, top.Content[i].Line)
		if err := check(name); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", at, err))
			continue
		}
		if seen[name] {
			faults = append(faults, fmt.Errorf("%s: %s is given twice", at, name))
			continue
		}
		seen[name] = true
		value, err := valueOf(node)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %s %w", at, name, err))
		} else if value != nil {
			settings[name] = settingValue{value, at}
		}
	}
	return settings, errors.Join(faults...)
}

// valueOf returns the value of a node as flags take it: numbers in the words of the file, since they need not fit into
// a float. It is nil for no value.
func valueOf(node *yaml.Node) (any, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag == "!!null" {
			return nil, nil
		}
		return node.Value, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("must be a list of plain values")
			}
			list = append(list, item.Value)
		}
		return list, nil
	}
	weights := map[string]any{}
	for i := 0; i < len(node.Content); i += 2 {
		var number float64
		if err := node.Content[i+1].Decode(&number); err != nil {
			return nil, errors.New("must have a number for each name")
		}
		weights[node.Content[i].Value] = number
	}
	return weights, nil
}
