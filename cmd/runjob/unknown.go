package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// explainFlag says what may have been meant by a flag that the command does not have.
func explainFlag(name string, parser *kong.Kong, args []string, beams []beamFlag) error {
	name, _, _ = strings.Cut(name, ", did you mean")
	if !strings.HasPrefix(name, "--") {
		name = singleDash(args, name)
	}
	if args[0] == "plan" && name == "--similarity" {
		return fmt.Errorf("unknown flag %s: a plan is for near-duplicates, not for containment", name)
	}
	if args[0] == "plan" && (name == "--within" || name == "--across") {
		return fmt.Errorf("unknown flag %s: a plan compares all documents, which takes no less than a job that compares some", name)
	}
	if usage := asArgument(parser, args, name); usage != "" {
		return fmt.Errorf("unknown flag %s: leave the flag out, as in %s", name, usage)
	}
	if others := commandsWith(parser, name); len(others) > 0 {
		return fmt.Errorf("unknown flag %s: it is a flag of %s", name, strings.Join(others, ", "))
	}
	if like := nearest(name, flagsOf(parser, args[0], beams)); like != "" {
		return fmt.Errorf("unknown flag %s, did you mean %q?", name, like)
	}
	return fmt.Errorf("unknown flag %s", name)
}

// asArgument returns how the called command takes as an argument what a flag is to give it. It is empty if it does not. The
// folder of results is the --output of other commands, and the folder of a state is their --state.
func asArgument(parser *kong.Kong, args []string, flag string) string {
	node, usage := calledNode(parser, args)
	folder := "--output"
	if node.Parent != nil && node.Parent.Name == "state" {
		folder = "--state"
	}
	isArgument := false
	for _, argument := range node.Positional {
		usage += " " + argument.Summary()
		isArgument = isArgument || flag == "--"+argument.Name || argument.Name == "dir" && flag == folder
	}
	if !isArgument {
		return ""
	}
	return usage
}

func commandsWith(parser *kong.Kong, flag string) []string {
	var commands []string
	for _, command := range parser.Model.Children {
		has := slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return "--"+f.Name == flag && !f.Hidden })
		if has && !command.Hidden {
			commands = append(commands, fmt.Sprintf("'runjob %s'", command.Name))
		}
	}
	return commands
}

// singleDash returns the argument that begins with a single-letter flag, without its value. The parser takes
// the -t of -threshold for a flag.
func singleDash(args []string, letter string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, letter) {
			name, _, _ := strings.Cut(arg, "=")
			return name
		}
	}
	return letter
}

// flagsOf lists the flags that a command accepts, including Beam's flags for the chosen runner.
func flagsOf(parser *kong.Kong, command string, beams []beamFlag) []string {
	var flags []string
	for _, node := range append(slices.Clone(parser.Model.Children), parser.Model.Node) {
		if node.Name != command && node != parser.Model.Node {
			continue
		}
		for _, f := range node.Flags {
			if !f.Hidden {
				flags = append(flags, "--"+f.Name)
			}
		}
	}
	if !runsJob(command) {
		return flags
	}
	flags = append(flags, "--"+runnerFlag)
	if chosen, err := chosenRunner(beams); err == nil {
		for _, name := range chosen.flags {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

// nearest returns the flag that a name was probably meant to be: a flag that begins with the name, or else
// the one with the fewest letters to change. It is empty if no flag is similar.
func nearest(name string, flags []string) string {
	name = "--" + strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
	best, fewest := "", max(2, (len(name)-2)/3)+1
	for _, candidate := range flags {
		distance := edits(name, strings.ReplaceAll(candidate, "_", "-"))
		if strings.HasPrefix(candidate, name) && len(name) > len("--") {
			distance = 0
		}
		if distance < fewest {
			best, fewest = candidate, distance
		}
	}
	return best
}

// edits returns how many letters must be added, removed or replaced to turn a into b (Levenshtein).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
