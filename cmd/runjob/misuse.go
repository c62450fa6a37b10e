package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/job"
)

// notListed matches the parser's fault of a value that is none of a list.
var notListed = regexp.MustCompile(`^(\S+) must be one of (\S+) but got "(.*)"$`)

// noValue matches the parser's fault of a flag without a value, at the end or before another flag.
var noValue = regexp.MustCompile(`^(--\S+): (?:missing value, expecting|expected \S+ value but got) `)

// explainUsage puts a fault that the parser has found into the words of all other faults, and adds what may have been
// meant. It returns faults that the parser has not found as they are.
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
	return fmt.Errorf("%s: give %s", flag, cmp.Or(choices(called, flag), "a value, as in "+flag+"="+placeholder))
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

// explainArgument says where an argument belongs that the called command does not take. Fault is the parser's error.
func explainArgument(fault error, argument string, called *kong.Node, args []string) error {
	argument, like, _ := strings.Cut(argument, ", ")
	if argument == args[0] {
		return explainUnknown(argument, like)
	}
	at := max(slices.Index(args, argument), 0)
	if list := listBefore(called, args[:at]); list != "" {
		return fmt.Errorf("unexpected argument %s: write a list with commas and without spaces, as in %s,%s", argument,
			list, argument)
	}
	var places []string
	for _, f := range called.Flags {
		if !f.Hidden && slices.Contains([]string{"FILE", "DIR", "PATH"}, f.PlaceHolder) {
			places = append(places, f.String())
		}
	}
	if len(places) > 0 {
		return fmt.Errorf("unexpected argument %s: give it by the flag that it belongs to: %s", argument,
			strings.Join(places, ", "))
	}
	return fault
}

// explainUnknown says what a first argument may mean that is no command, unless the parser knows what it is like.
func explainUnknown(argument, like string) error {
	ours := foreignCommands[argument]
	switch {
	case ours != "":
	case slices.Contains(job.Values("emit"), argument):
		ours = "run --emit " + argument
	case exists(argument):
		ours = "run " + shellName(argument)
	default:
		return fmt.Errorf("unknown command %s, %s", argument, cmp.Or(like, "'runjob --help' lists all"))
	}
	return fmt.Errorf("unknown command %s, did you mean \"runjob %s\"?", argument, ours)
}

// listBefore returns the flag and value at the end of the arguments, as "--emit clusters", if the flag takes a list.
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

func explainFlag(name string, parser *kong.Kong, args []string, beams []beamFlag) error {
	name, _, _ = strings.Cut(name, ", did you mean")
	if !strings.HasPrefix(name, "--") {
		name = singleDash(args, name)
	}
	if args[0] == "plan" && name == "--similarity" {
		return fmt.Errorf("unknown flag %s: a plan is for near-duplicates, not for containment", name)
	}
	if args[0] == "plan" && (name == "--within" || name == "--across") {
		return fmt.Errorf(
			"unknown flag %s: a plan always covers the whole corpus; drop the flag", name)
	}
	if ours := foreignFlags[strings.ReplaceAll(name, "_", "-")]; ours != "" {
		flag, _, _ := strings.Cut(ours, " ")
		if slices.Contains(flagsOf(parser, args[0], beams), flag) {
			return fmt.Errorf("unknown flag %s: here it is %s", name, ours)
		}
		if others := commandsWith(parser, flag); len(others) > 0 {
			return fmt.Errorf("unknown flag %s: it is %s, a flag of %s", name, flag, strings.Join(others, ", "))
		}
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

// foreignFlags are flags of other programs that find near-duplicates, and what takes their place.
var foreignFlags = byWord(map[string]string{
	"--bands with --rows, whose product it is, or --recall": "--num-perm --num-hashes",
	"--rows":                        "--hashes-per-bucket --r",
	"--bands":                       "--n-buckets --num-buckets --num-bands --b",
	"--shingle":                     "--ngram --ngrams --n-grams --ngram-size --shingle-size",
	"--shingle with --tokens chars": "--char-ngrams",
	"--threshold":                   "--jaccard --jaccard-threshold --similarity-threshold --sim-threshold",
	"--text-field":                  "--column --text-key --text-column",
	"--id-field":                    "--id-column --id-key",
	"--min-shingles":                "--min-length --min-ngram-size",
	"--hamming":                     "--bit-diff",
	"--bits":                        "--hash-bits",
	"--lanes":                       "--num-workers --num-proc --workers --threads --num-threads --n-jobs --jobs -j",
	"--temp":                        "--cache-dir --tmp --tmpdir --work-dir --scratch",
	"--input":                       "--path --paths --files",
	"--output":                      "--out --output-dir --out-dir",
	"--check":                       "--dry-run -n",
	"--overwrite":                   "--force -f --yes -y",
	"--log-every 1s":                "--verbose -v --debug --progress",
	"--quiet":                       "--silent",
	"--memory":                      "--max-memory --memory-limit --mem",
	"--keys minhash":                "--minhash",
	"--keys simhash":                "--simhash",
	"--keys exact":                  "--exact",
})

// foreignCommands are commands of other programs, and what takes their place.
var foreignCommands = byWord(map[string]string{
	"--help":            "help",
	"run":               "dedup dedupe deduplicate cluster find scan similarity minhash near-duplicates",
	"run --emit unique": "uniq filter clean remove",
	"query":             "search lookup",
	"explain":           "compare diff",
	"report":            "stats html",
	"explore":           "serve browse view ui",
	"recut":             "threshold rethreshold",
	"mirrors":           "sites",
})

func byWord(texts map[string]string) map[string]string {
	keys := map[string]string{}
	for key, text := range texts {
		for word := range strings.FieldsSeq(text) {
			keys[word] = key
		}
	}
	return keys
}

// asArgument returns how the called command takes as an argument what a flag is to give it. It is empty if it does not.
// The folder of results is the --output of other commands, and the folder of a state is their --state.
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
