package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// notListed matches the parser's fault of a value that is none of a list.
var notListed = regexp.MustCompile(`^(\S+) must be one of (\S+) but got "(.*)"$`)

// noValue matches the parser's fault of a flag without a value, at the end or before another flag.
var noValue = regexp.MustCompile(`^(--\S+): (?:missing value, expecting|expected \S+ value but got) `)

// explainUsage puts a fault that the parser has found into the words of all other faults, and adds what may have been meant.
// It returns faults that the parser has not found as they are.
func explainUsage(err error, parser *kong.Kong, args []string, beams []beamFlag) error {
	fault := err.Error()
	if name, is := strings.CutPrefix(fault, "unknown flag "); is {
		return explainFlag(name, parser, args, beams)
	}
	called, _ := calledNode(parser, args)
	if argument, is := strings.CutPrefix(fault, "unexpected argument "); is {
		return explainArgument(err, argument, called, args)
	}
	if names, is := strings.CutPrefix(fault, "expected one of "); is { // of the commands below a command
		return fmt.Errorf("give a command: %s", anyOf(names))
	}
	if names, is := strings.CutPrefix(fault, `expected "<`); is {
		names = "<" + strings.TrimSuffix(names, `"`)
		if values := choices(called, names); values != "" {
			names += ": " + values
		}
		return fmt.Errorf("give %s", names)
	}
	if names, is := strings.CutPrefix(fault, "missing flags: "); is {
		var missing []error
		for _, flag := range strings.Split(names, ", ") {
			name, value, _ := strings.Cut(flag, "=")
			missing = append(missing, missingValue(called, name, value))
		}
		return errors.Join(missing...)
	}
	if parts := noValue.FindStringSubmatch(fault); parts != nil {
		at := slices.IndexFunc(called.Flags, func(f *kong.Flag) bool { return "--"+f.Name == parts[1] })
		if at >= 0 {
			return missingValue(called, parts[1], called.Flags[at].FormatPlaceHolder())
		}
	}
	if parts := notListed.FindStringSubmatch(fault); parts != nil {
		return fmt.Errorf("%s %s: must be %s", parts[1], parts[3], anyOf(parts[2]))
	}
	return err
}

// anyOf returns a list of two or more quoted names as "a, b or c".
func anyOf(quoted string) string {
	names := strings.Split(strings.NewReplacer(`"`, "", " ", "").Replace(quoted), ",")
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func missingValue(called *kong.Node, flag, placeholder string) error {
	value := "a " + placeholder
	if strings.IndexAny(placeholder, "AEIOU") == 0 {
		value = "an " + placeholder
	}
	return fmt.Errorf("%s: give %s", flag, cmp.Or(choices(called, flag), value))
}

// choices returns all values that a flag or an argument of a command may have. It is empty if nobody can list them.
func choices(of *kong.Node, name string) string {
	values := slices.Clone(of.Positional)
	for _, f := range of.Flags {
		values = append(values, f.Value)
	}
	for _, value := range values {
		if value.ShortSummary() == name && value.Enum != "" {
			return anyOf(value.Enum)
		}
	}
	return ""
}

// explainArgument says where an argument belongs for which the called command has no place. Fault is what the parser says.
func explainArgument(fault error, argument string, called *kong.Node, args []string) error {
	at := max(slices.Index(args, argument), 0)
	if list := listBefore(called, args[:at]); list != "" {
		return fmt.Errorf("unexpected argument %s: write a list with commas and without spaces, as in %s,%s", argument, list, argument)
	}
	var places []string
	for _, f := range called.Flags {
		if !f.Hidden && slices.Contains([]string{"FILE", "DIR", "PATH"}, f.PlaceHolder) {
			places = append(places, f.String())
		}
	}
	switch {
	case len(places) > mostPlaces: // of a command that runs a job, or plans one
		return fmt.Errorf("unexpected argument %s: give each file after an --input of its own, or all of them as a quoted pattern: --input 'DIR/*.jsonl'", argument)
	case len(places) > 0:
		return fmt.Errorf("unexpected argument %s: give it by the flag that it belongs to: %s", argument, strings.Join(places, ", "))
	}
	return fault
}

// mostPlaces is the largest number of flags that a message names for a file or a folder.
const mostPlaces = 4

// listBefore returns the flag with its value that arguments end in, such as "--emit clusters", if the flag takes a list.
func listBefore(called *kong.Node, args []string) string {
	end := len(args)
	for _, f := range called.Flags {
		if !f.IsSlice() || f.Tag.Sep != ',' {
			continue
		}
		name := "--" + f.Name
		if end > 0 && strings.HasPrefix(args[end-1], name+"=") {
			return strings.TrimSuffix(args[end-1], ",")
		}
		if end > 1 && args[end-2] == name {
			return name + " " + strings.TrimSuffix(args[end-1], ",")
		}
	}
	return ""
}

// calledCommand returns the program and the command that the arguments begin with, such as "runjob state show".
func calledCommand(args []string) string {
	parser, err := kong.New(&commands{})
	if err != nil {
		return "runjob"
	}
	_, called := calledNode(parser, args)
	return called
}

// calledNode returns the command that the arguments begin with, and its name, such as "runjob state show".
func calledNode(parser *kong.Kong, args []string) (node *kong.Node, called string) {
	node, called = parser.Model.Node, "runjob"
	for _, argument := range args {
		at := slices.IndexFunc(node.Children, func(command *kong.Node) bool { return command.Name == argument })
		if at < 0 {
			break
		}
		node = node.Children[at]
		called += " " + argument
	}
	return node, called
}
