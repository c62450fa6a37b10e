package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// notListed matches the parser's fault of a value that is none of a list.
var notListed = regexp.MustCompile(`^(\S+) must be one of (\S+) but got "(.*)"$`)

// explainUsage puts a fault that the parser has found into the words of all other faults, and adds what may have been meant.
// It returns faults that the parser has not found as they are.
func explainUsage(err error, parser *kong.Kong, args []string, beams []beamFlag) error {
	fault := err.Error()
	if name, is := strings.CutPrefix(fault, "unknown flag "); is {
		return explainFlag(name, parser, args, beams)
	}
	if argument, is := strings.CutPrefix(fault, "unexpected argument "); is && takesInput(parser, args[0]) {
		return fmt.Errorf("unexpected argument %s: give each file after an --input of its own, or all of them as a quoted pattern: --input 'DIR/*.jsonl'", argument)
	}
	if names, is := strings.CutPrefix(fault, "expected one of "); is { // of the commands below a command
		return fmt.Errorf("give a command: %s", anyOf(names))
	}
	if names, is := strings.CutPrefix(fault, `expected "<`); is {
		return fmt.Errorf("give <%s", strings.TrimSuffix(names, `"`))
	}
	if names, is := strings.CutPrefix(fault, "missing flags: "); is {
		var missing []error
		for _, flag := range strings.Split(names, ", ") {
			name, value, _ := strings.Cut(flag, "=")
			missing = append(missing, fmt.Errorf("%s: give a %s", name, value))
		}
		return errors.Join(missing...)
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

// takesInput reports whether a command has input and takes it from a flag only.
func takesInput(parser *kong.Kong, name string) bool {
	for _, command := range parser.Model.Children {
		if command.Name == name {
			return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "input" })
		}
	}
	return false
}

// calledCommand returns the program and the command that the arguments begin with, such as "runjob state show".
func calledCommand(args []string) string {
	called := "runjob"
	parser, err := kong.New(&commands{})
	if err != nil {
		return called
	}
	node := parser.Model.Node
	for _, argument := range args {
		at := slices.IndexFunc(node.Children, func(command *kong.Node) bool { return command.Name == argument })
		if at < 0 {
			break
		}
		node = node.Children[at]
		called += " " + argument
	}
	return called
}
