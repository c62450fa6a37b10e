package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam/pipeline"
)

// commands are the sub-commands. Their flags derive from their fields.
type commands struct {
	Run   runCommand   `cmd:"" help:"Find the near-duplicates of a corpus: the main job."`
	Demo  demoCommand  `cmd:"" help:"Run the main job on documents that come with Go, to see what it does."`
	Plan  planCommand  `cmd:"" help:"Say which ways to find near-duplicates there are for a corpus, what each promises and what it costs."`
	Eval  evalCommand  `cmd:"" help:"Measure the results of an earlier run against near-duplicates that you know."`
	Query queryCommand `cmd:"" help:"Find the near-duplicates of new documents in the index of an earlier run."`

	BeamHelp beamHelp `name:"help-beam" help:"Show the flags of Apache Beam (--runner, --endpoint, --project and so on), which may be given with any command."`
}

// command is a sub-command with its flags set.
type command interface {
	Run(ctx context.Context) error
}

// usageError is a fault of the command line.
type usageError struct{ error }

// parse returns the sub-command that the arguments ask for, or nil if they asked
// for help, which it has printed then.
func parse(args []string) (command, error) {
	var c commands
	helped := false
	parser, err := kong.New(&c,
		kong.Name("runjob"),
		kong.Description("Finds the near-duplicate documents of a corpus, verifies every pair, and writes the clusters they form."),
		kong.Exit(func(int) { helped = true }),
		kong.Writers(os.Stdout, os.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(helpWithDefault),
		kong.KindMapper(reflect.String, kong.MapperFunc(parseText)),
		kong.KindMapper(reflect.Float64, kong.MapperFunc(parseNumber)),
		kong.KindMapper(reflect.Int, kong.MapperFunc(parseWholeNumber)),
		kong.KindMapper(reflect.Int64, kong.MapperFunc(parseWholeNumber)),
		kong.KindMapper(reflect.Uint64, kong.MapperFunc(parseWholeNumber)),
	)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	selected, err := parser.Parse(joinNegative(args))
	if helped {
		return nil, nil
	}
	if err != nil {
		// The parser names the command in front of what Validate says.
		text := strings.TrimPrefix(err.Error(), args[0]+": ")
		if args[0] == "plan" && strings.HasPrefix(text, "unknown flag --similarity") {
			text += ": a plan is for near-duplicates, and there is none for containment"
		}
		return nil, usageError{errors.New(text)}
	}
	return selected.Selected().Target.Addr().Interface().(command), nil
}

// joinNegative joins values such as -1 to their flags, as in --hamming=-1: by
// themselves the parser takes them for flags.
func joinNegative(args []string) []string {
	var joined []string
	for i, arg := range args {
		isNegative := len(arg) > 1 && arg[0] == '-' && (arg[1] == '.' || arg[1] >= '0' && arg[1] <= '9')
		if i > 0 && isNegative && strings.HasPrefix(args[i-1], "--") && len(args[i-1]) > 2 && !strings.Contains(args[i-1], "=") {
			joined[len(joined)-1] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

// parseText reads the value of a flag that takes any bytes, such as a path. The
// parser's own way is through JSON, which has no bytes that are not UTF-8.
func parseText(from *kong.DecodeContext, to reflect.Value) error {
	token, err := from.Scan.PopValue("string")
	if err != nil {
		return err
	}
	to.SetString(token.String())
	return nil
}

// parseNumber reads the value of a flag that takes any number.
func parseNumber(from *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := from.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number such as 0.8", text)
	}
	to.SetFloat(number)
	return nil
}

// parseWholeNumber reads the value of a flag that takes a whole number.
func parseWholeNumber(from *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := from.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
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

// helpWithDefault adds the default of a flag to its help.
func helpWithDefault(value *kong.Value) string {
	if !value.HasDefault || value.Default == "" {
		return value.Help
	}
	return strings.TrimSuffix(value.Help, ".") + " (default " + value.Default + ")."
}

// parseBeamFlags hands the arguments that are flags of Beam to its parser and
// returns the others. Flags of Beam have underscores where ours have hyphens, so
// none has two meanings.
func parseBeamFlags(args []string) ([]string, error) {
	// Beam's errors come back to be reported like ours.
	flag.CommandLine.Init("runjob", flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	var ours, beams []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			ours = append(ours, args[i:]...)
			break
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		known := flag.Lookup(name)
		if !strings.HasPrefix(args[i], "-") || known == nil {
			ours = append(ours, args[i])
			continue
		}
		beams = append(beams, args[i])
		boolean, ok := known.Value.(interface{ IsBoolFlag() bool })
		if !hasValue && !(ok && boolean.IsBoolFlag()) && i+1 < len(args) {
			i++
			beams = append(beams, args[i])
		}
	}
	if err := flag.CommandLine.Parse(beams); err != nil {
		return nil, usageError{err}
	}
	return ours, nil
}

// beamHelp prints the flags of Beam and ends the program.
type beamHelp bool

// BeforeReset is called by the parser when the flag is met.
func (beamHelp) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, "Flags of Apache Beam:")
	flag.CommandLine.SetOutput(app.Stdout)
	flag.PrintDefaults()
	app.Exit(0)
	return nil
}

// defaultConfig returns the configuration of a job without any flag.
func defaultConfig() (pipeline.Config, error) {
	selected, err := parse([]string{"run", "--input", "-", "--output", "-"})
	if err != nil {
		return pipeline.Config{}, err
	}
	config := selected.(*runCommand).Config
	config.Input, config.Output = nil, ""
	return config, nil
}
