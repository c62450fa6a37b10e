package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam/internal/look/plan"
	"mirrorbeam/job"
)

const configFlag = "config"

type configFile struct {
	File string `name:"config" placeholder:"FILE" help:"File of settings, in YAML, one a line, as in threshold: 0.9. Environment variables such as RUNJOB_THRESHOLD come before it, and flags before both. See 'runjob config --help'."`
}

const variablePrefix = "RUNJOB_"

func variableName(setting string) string { return variablePrefix + strings.ToUpper(setting) }

// origin says where the value of a setting comes from: a flag, a variable, a file with its line, or the default.
type origin string

const (
	fromFlag    origin = "flag"
	fromDefault origin = "default"
)

// chooser finds the values of settings that are not on the command line: in the environment, or else in the file that
// --config names.
type chooser struct {
	environ []string
	// origins holds where each setting was found, by its name.
	origins map[string]origin

	file map[string]settingValue // nil until it is read
}

// Validate does nothing: the file is known when the flags are.
func (c *chooser) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag, or nil.
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
	value, found := c.file[name]
	if !found {
		return nil, nil
	}
	c.origins[name] = origin(value.At)
	return value.Value, nil
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

// explain adds to the fault of a value where the value comes from, if it is not on the command line.
func (c *chooser) explain(err error) error {
	if fault, found := errors.AsType[sourceFault](err); found {
		return fault.error
	}
	for setting, from := range c.origins {
		if strings.HasPrefix(err.Error(), flagName(setting)+":") {
			return fmt.Errorf("%w (from %s)", err, from)
		}
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

func isSettingFlag(setting string) bool { return hasSetting(settingFlags(), setting) }

// unknownSetting is the error of a setting that there is not. It names the nearest one as call does.
func unknownSetting(given, setting string, call func(string) string) error {
	var flags []string
	for _, f := range settingFlags() {
		flags = append(flags, "--"+f.name)
	}
	if like := nearest(setting, flags); like != "" {
		return fmt.Errorf("unknown setting %s, did you mean %s?", given, call(settingName(strings.TrimPrefix(like, "--"))))
	}
	return errors.New("unknown setting " + given)
}
