package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/util/build"
)

type versionCommand struct{}

func (c *versionCommand) Run(_ context.Context, out io.Writer) error {
	_, err := io.WriteString(out, thisVersion())
	return err
}

// versionFlag does what the command does, and ends the program.
type versionFlag bool

// BeforeReset prints the version. The parser calls it when it meets the flag.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	app.Exit(0)
	_, err := io.WriteString(app.Stdout, thisVersion())
	return err
}

func thisVersion() string {
	content, err := build.Content()
	if err != nil {
		content = "unknown: " + err.Error() // such as a program that may be run and not read
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "runjob, of an unknown version\nbuild " + content + "\n"
	}
	return versionText(info, content)
}

// versionText says what a build knows of itself, the digest of its file, and the tier of its kernels on this machine. A
// build outside of a clone knows no commit.
func versionText(info *debug.BuildInfo, content string) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	text := "runjob " + info.Main.Version + "\n"
	if commit := settings["vcs.revision"]; commit != "" {
		text += "commit " + commit + " of " + settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += "\n"
	}
	text += "build " + content + "\n"
	text += info.GoVersion + " " + settings["GOOS"] + "/" + settings["GOARCH"] + "\n"
	for _, module := range info.Deps {
		if module.Path == "github.com/apache/beam/sdks/v2" {
			text += "Apache Beam " + module.Version + "\n"
		}
	}
	return text + "kernels for " + asmkernels.SelectedTier().String() + "\n"
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish"`

	model *kong.Node
}

func (c *completionCommand) BeforeApply(app *kong.Kong) error {
	c.model = app.Model.Node
	return nil
}

func (c *completionCommand) Run(_ context.Context, out io.Writer) error {
	script := map[string]func(*kong.Node) string{
		"bash": bashCompletion,
		"zsh":  zshCompletion,
		"fish": fishCompletion,
	}[c.Shell]
	_, err := io.WriteString(out, script(c.model))
	return err
}

func shownCommands(node *kong.Node) (nodes []*kong.Node) {
	for _, child := range node.Children {
		if !child.Hidden {
			nodes = append(append(nodes, child), shownCommands(child)...)
		}
	}
	return nodes
}

func wordsAfter(node *kong.Node) []string {
	var words []string
	for _, child := range node.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			words = append(words, "--"+f.Name)
			if f.Tag.Negatable != "" {
				words = append(words, "--no-"+f.Name)
			}
		}
	}
	return words
}

func bashCompletion(root *kong.Node) string {
	var cases strings.Builder
	for _, node := range shownCommands(root) {
		cases.WriteString(fmt.Sprintf("    %q) words=%q ;;\n", node.Path(), strings.Join(wordsAfter(node), " ")))
	}
	return `# Completion of runjob for bash.
_runjob() {
  local word path= words= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    [[ $word == -* ]] && break
    path="${path:+$path }$word"
  done
  case $path in
    "") words=` + fmt.Sprintf("%q", strings.Join(wordsAfter(root), " ")) + ` ;;
` + cases.String() + `  esac
  word=${COMP_WORDS[COMP_CWORD]}
  if [[ $word != -* && ${COMP_WORDS[COMP_CWORD - 1]} == --* ]]; then
    words=$(runjob values "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "${word##*,}"))
  [[ $word == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/${word%,*},}")
}
complete -o default -o bashdefault -F _runjob runjob
`
}

// zshCompletion returns a script for zsh, which can use the script for bash.
func zshCompletion(root *kong.Node) string {
	return "#compdef runjob\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(root)
}

func fishCompletion(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# Completion of runjob for fish.\n")
	for _, node := range shownCommands(root) {
		condition := "__fish_use_subcommand"
		if node.Parent != root {
			condition = "__fish_seen_subcommand_from " + node.Parent.Name
		}
		b.WriteString(fmt.Sprintf("complete -c runjob -f -n %s -a %s -d %s\n", fishQuoted(condition), node.Name,
			fishQuoted(firstSentence(node.Help))))
		for _, f := range node.Flags {
			needs := " -r -a '(runjob values (commandline -opc)[2..] 2> /dev/null)'"
			if f.IsBool() {
				needs = ""
			}
			b.WriteString(fmt.Sprintf("complete -c runjob -n %s -l %s%s -d %s\n",
				fishQuoted("__fish_seen_subcommand_from "+node.Name), f.Name, needs, fishQuoted(firstSentence(f.Help))))
		}
	}
	return b.String()
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// firstSentence returns the beginning of a help, up to the first colon, semicolon or full stop.
func firstSentence(help string) string {
	end := len(help)
	for _, stop := range []string{". ", ": ", "; "} {
		if i := strings.Index(help, stop); i >= 0 {
			end = min(end, i)
		}
	}
	return strings.TrimSuffix(help[:end], ".")
}

type manualCommand struct {
	app *kong.Kong
}

func (c *manualCommand) BeforeApply(app *kong.Kong) error {
	c.app = app
	return nil
}

func (c *manualCommand) Run(_ context.Context, out io.Writer) error {
	_, err := io.WriteString(out, manual(c.app))
	return err
}

var exitCodes = [...]struct {
	code    int
	meaning string
}{
	{exitDone, "all went well, with or without rejects"},
	{exitInternal, "a bug in runjob"},
	{exitUsage, "the command line is wrong"},
	{exitInput, "the input cannot be used"},
	{
		exitStorage,
		"an output, the temporary folder or the standard output cannot be written to, " +
			"or a limit of the machine is too low",
	},
	{exitCondition, "all went well, and a condition of --fail-on or --guard is met"},
	{
		exitUnavailable,
		"the same command may succeed later: another run holds the state or the output folder, a bucket, " +
			"a job server or an engine does not answer, or credentials have expired",
	},
	{exitHungUp, "the terminal was closed"},
	{exitInterrupted, "an interruption"},
	{exitUnread, "the reader of the standard output went away"},
	{exitTerminated, "the program was asked to end"},
}

func manual(app *kong.Kong) string {
	var b strings.Builder
	b.WriteString(fmt.Sprintf(".TH RUNJOB 1\n.SH NAME\nrunjob \\- %s\n",
		roff("find the near-duplicate documents of a corpus")))
	b.WriteString(".SH SYNOPSIS\n.B runjob\n.I COMMAND\n[\\fIFLAGS\\fR]\n")
	b.WriteString(fmt.Sprintf(".SH DESCRIPTION\n%s\n", roff(app.Model.Help)))
	b.WriteString(".SH OPTIONS\n")
	writeFlags(&b, app.Model.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, node := range shownCommands(app.Model.Node) {
		b.WriteString(fmt.Sprintf(".SS \"runjob %s\"\n%s\n", roff(node.Path()), roff(node.Help)))
		if node.Detail != "" {
			b.WriteString(fmt.Sprintf(".PP\n%s\n", roff(node.Detail)))
		}
		for _, argument := range node.Positional {
			b.WriteString(fmt.Sprintf(".TP\n.I %s\n%s\n", roff(argument.Name), roff(argument.Help)))
		}
		writeFlags(&b, node.Flags)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, exit := range exitCodes {
		b.WriteString(fmt.Sprintf(".TP\n.B %d\n%s\n", exit.code, roff(exit.meaning)))
	}
	b.WriteString(
		".SH ENVIRONMENT\n.TP\n.B RUNJOB_\\fISETTING\\fR\nA setting, as in RUNJOB_THRESHOLD=0.9. " +
			"Flags come before it.\n")
	b.WriteString(".TP\n.B RUNJOB_CONFIG\nThe file of settings that \\-\\-config names.\n")
	return b.String()
}

// writeFlags writes a paragraph for each flag but the one for help, which every command has.
func writeFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		name := "\\fB" + roff("--"+f.Name) + "\\fR"
		if !f.IsBool() {
			name += "=\\fI" + roff(f.FormatPlaceHolder()) + "\\fR"
		}
		b.WriteString(fmt.Sprintf(".TP\n%s\n%s\n", name, roff(helpWithDefault(f.Value))))
	}
}

// roff escapes a text: backslashes, hyphens that may be typed, and a full stop or apostrophe that begins a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
