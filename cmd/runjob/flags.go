package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/job"
)

// commands are the sub-commands. Their flags come from their fields; settings.go lists the flags of configurations.
type commands struct {
	Run     runCommand     `cmd:""`
	Mirrors mirrorsCommand `cmd:""`
	Plan    planCommand    `cmd:""`
	Demo    demoCommand    `cmd:""`

	Decontaminate decontaminateCommand `cmd:""`

	Show    showCommand    `cmd:""`
	Explain explainCommand `cmd:""`
	Report  reportCommand  `cmd:""`
	Explore exploreCommand `cmd:""`
	Recut   recutCommand   `cmd:""`
	Eval    evalCommand    `cmd:""`
	Query   queryCommand   `cmd:""`
	Names   namesCommand   `cmd:""`

	State      stateCommand      `cmd:""`
	Finish     finishCommand     `cmd:""`
	WorkerPool workerPoolCommand `cmd:""`
	Worker     workerCommand     `cmd:"" hidden:""`

	Settings configCommand `cmd:"" name:"config"`
	Schema   schemaCommand `cmd:""`
	Sketch   sketchCommand `cmd:""`

	Bench benchCommand `cmd:""`

	Version    versionCommand    `cmd:""`
	Completion completionCommand `cmd:""`
	Values     valuesCommand     `cmd:"" hidden:"" passthrough:""`
	Manual     manualCommand     `cmd:"" name:"man"`

	ShowVersion versionFlag `name:"version"`
	BeamHelp    beamHelp    `name:"help-beam"`
}

func newCommands() *commands {
	return &commands{
		Run:           runCommand{Config: job.Default()},
		Mirrors:       newMirrorsCommand(),
		Decontaminate: newDecontaminateCommand(),
		Plan:          planCommand{Config: plan.Default()},
		Settings:      configCommand{Settings: job.Default()},
	}
}

type command interface {
	// Run does the work of the command. It writes the results to out, the standard output. If there is a method
	// Validate, it checks the flags before; BeforeApply takes what it needs of the parser.
	Run(ctx context.Context, out io.Writer) error
}

// parse hands Beam its flags, and returns the sub-command that the arguments ask for. If they ask for help,
// it prints that to out and returns nil.
func parse(args []string, out io.Writer) (command, error) {
	args, beams, err := cutBeamFlags(args)
	if err != nil {
		return nil, err
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help": // as other programs have it
		args = append(args[1:], "--help")
	}
	if err := setBeamFlags(args[0], beams); err != nil {
		return nil, err
	}
	c := newCommands()
	chosen := &chooser{environ: os.Environ(), origins: map[string]origin{}}
	helped := false
	mappers := kong.NewRegistry().RegisterDefaults()
	options := []kong.Option{
		kong.Name("runjob"),
		kong.Description(
			"Finds the near-duplicate documents of a corpus, verifies every pair, and writes the clusters they form."),
		kong.Exit(func(int) { helped = true }),
		kong.Writers(out, os.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.ValueFormatter(helpWithDefault),
		kong.Resolvers(chosen),
		kong.Bind(chosen),
		kong.PostBuild(func(k *kong.Kong) error {
			giveHelp(k.Model.Node, "runjob")
			return c.addFlags(k.Model.Node, mappers)
		}),
	}
	for kind, mapper := range kindMappers() {
		mappers.RegisterKind(kind, mapper)
		options = append(options, kong.KindMapper(kind, mapper))
	}
	mappers.RegisterKind(reflect.Map, oncePerKey(mappers.ForType(reflect.TypeFor[map[string]float64]())))
	parser, err := kong.New(c, options...)
	if err != nil {
		return nil, err
	}
	var selected *kong.Context
	placed, err := placeInputs(parser, joinNegative(args))
	if err == nil {
		selected, err = parser.Parse(placed)
	}
	if helped {
		return nil, nil
	}
	if err == nil {
		err = checkRepeats(selected)
	}
	if err != nil {
		return nil, failure.New(failure.Usage,
			chosen.placed(withoutCommand(explainUsage(err, parser, args, beams), calledCommand(args))))
	}
	return selected.Selected().Target.Addr().Interface().(command), nil
}

// joining are the flags that take several of what another flag takes one of.
var joining = map[string]string{"text-field": "--weight A=1,B=1 compares several fields"}

// checkRepeats refuses a flag of one value that is given twice: only the last would count.
func checkRepeats(parsed *kong.Context) error {
	values := map[string]int{}
	for _, step := range parsed.Path {
		if step.Flag == nil || step.Resolved || step.Flag.IsSlice() || step.Flag.IsMap() || step.Flag.IsBool() {
			continue
		}
		name := step.Flag.Name
		if values[name]++; values[name] > 1 {
			advice := ""
			if other := joining[name]; other != "" {
				advice = "; " + other
			}
			return fmt.Errorf("--%s is given twice, and takes one value: leave one out%s", name, advice)
		}
	}
	return nil
}

func (c *commands) addFlags(parser *kong.Node, mappers *kong.Registry) error {
	for _, command := range parser.Children {
		var flags []settingFlag
		switch command.Name {
		case "run":
			flags = jobFlags(&c.Run.Config)
		case "mirrors":
			flags = jobFlags(&c.Mirrors.Config)
		case "decontaminate":
			flags = jobFlags(&c.Decontaminate.Config)
		case "config":
			flags = optional(jobFlags(&c.Settings.Settings))
		case "plan":
			flags = planFlags(&c.Plan.Config)
		}
		if err := addFlags(command, flags, mappers); err != nil {
			return err
		}
	}
	return nil
}

func kindMappers() map[reflect.Kind]kong.Mapper {
	return map[reflect.Kind]kong.Mapper{
		reflect.String:  kong.MapperFunc(parseText),
		reflect.Float64: kong.MapperFunc(parseNumber),
		reflect.Int:     kong.MapperFunc(parseWholeNumber),
		reflect.Int64:   kong.MapperFunc(parseWholeNumber),
		reflect.Uint64:  kong.MapperFunc(parseWholeNumber),
	}
}

// oncePerKey refuses a key that is given twice: only the last value would count.
func oncePerKey(of kong.Mapper) kong.MapperFunc {
	return func(from *kong.DecodeContext, to reflect.Value) error {
		given, isText := from.Scan.Peek().Value.(string)
		before := to.Len()
		err := of.Decode(from, to)
		if err == nil && isText && to.Len() < before+len(kong.SplitEscaped(given, from.Value.Tag.MapSep)) {
			err = fmt.Errorf("%s names a field twice: leave one out", given)
		}
		return err
	}
}

// withoutCommand removes the name of the command, which the parser puts in front of an error of Validate.
func withoutCommand(err error, called string) error {
	text := strings.TrimPrefix(err.Error(), strings.TrimPrefix(called, "runjob ")+": ")
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if inner.Error() == text {
			return inner
		}
	}
	return errors.New(text)
}

// joinNegative joins values such as -1 to their flags, as in --hamming=-1: the parser would take them for flags.
func joinNegative(args []string) []string {
	var joined []string
	for i, arg := range args {
		isNegative := len(arg) > 1 && arg[0] == '-' && (arg[1] == '.' || arg[1] >= '0' && arg[1] <= '9')
		if i > 0 && isNegative && strings.HasPrefix(args[i-1], "--") && len(args[i-1]) > 2 &&
			!strings.Contains(args[i-1], "=") {
			joined[len(joined)-1] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

// placeInputs gives arguments without a flag to --input, if the called command runs a job or plans one. After a flag
// that takes a list, an argument is left alone unless it names a file: it is more likely an item of the list.
func placeInputs(parser *kong.Kong, args []string) ([]string, error) {
	called, _ := calledNode(parser, args)
	flags := map[string]*kong.Flag{}
	for _, f := range called.Flags {
		flags["--"+f.Name] = f
		if f.Short != 0 {
			flags["-"+string(f.Short)] = f
		}
	}
	if args[0] != "plan" && !runsJob(args[0]) || flags["--input"] == nil {
		return args, nil
	}
	placed := args[:1:1]
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch flag := flags[arg]; {
		case arg == "--":
			for _, input := range args[i+1:] {
				placed = append(placed, "--input="+input)
			}
			return placed, nil
		case flag != nil && !flag.IsBool() && i+1 < len(args):
			placed = append(placed, arg, args[i+1])
			i++
		case len(arg) > 2 && arg[0] == '-' && flags["-"+strings.SplitN(arg, "=", 2)[0]] != nil:
			// the parser would take the letters behind the first one for the value of a short flag
			return nil, fmt.Errorf("unknown flag %s, did you mean %q?", arg, "-"+arg)
		case arg != "-" && strings.HasPrefix(arg, "-") || listBefore(called, args[:i]) != "" && !exists(arg):
			placed = append(placed, arg)
		default:
			placed = append(placed, "--input="+arg)
		}
	}
	return placed, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// parseText reads the value of a flag that accepts any bytes, such as a path, or an item of a list. The parser would
// use JSON, which has no bytes that are not UTF-8.
func parseText(from *kong.DecodeContext, to reflect.Value) error {
	token, err := from.Scan.PopValue("string")
	if err != nil {
		return err
	}
	text := token.String()
	if value := from.Value; value != nil && (value.IsMap() || value.IsSlice() && value.Tag.Sep == ',') {
		text = strings.TrimSpace(text) // as in "a, b"
	}
	to.SetString(text)
	return nil
}

func parseNumber(from *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := from.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number such as 0.8", text)
	}
	to.SetFloat(number)
	return nil
}

func parseWholeNumber(from *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := from.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if to.CanUint() {
		number, err := strconv.ParseUint(text, 10, 64)
		if err != nil || to.OverflowUint(number) {
			return fmt.Errorf("%q is not a whole number from 0", text)
		}
		to.SetUint(number)
		return nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || to.OverflowInt(number) {
		return fmt.Errorf("%q is not a whole number", text)
	}
	to.SetInt(number)
	return nil
}

// printHelp prints help. The flags that every command has are shown with a command only where they are of use.
func printHelp(options kong.HelpOptions, parsed *kong.Context) error {
	command, _, _ := strings.Cut(parsed.Command(), " ")
	for _, f := range parsed.Model.Flags {
		f.Hidden = f.Hidden || command != "" && (f.Name == "version" || f.Name == "help-beam" && !runsJob(command))
	}
	return kong.DefaultHelpPrinter(options, parsed)
}

func helpWithDefault(value *kong.Value) string {
	if !value.HasDefault || value.Default == "" {
		return value.Help
	}
	return strings.TrimSuffix(value.Help, ".") + " (default " + value.Default + ")."
}
