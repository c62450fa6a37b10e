package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script that completes commands and flags.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`

	model *kong.Node
}

// Help says how the script is used.
func (c *completionCommand) Help() string {
	return "For this shell: source <(runjob completion bash). For all: write it to the folder of completions of the shell, " +
		"as in runjob completion fish > ~/.config/fish/completions/runjob.fish, or for zsh to a file _runjob in a folder of $fpath."
}

// BeforeApply notes the commands and flags.
func (c *completionCommand) BeforeApply(app *kong.Kong) error {
	c.model = app.Model.Node
	return nil
}

// Run prints the script.
func (c *completionCommand) Run(_ context.Context, out io.Writer) error {
	script := map[string]func(*kong.Node) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := io.WriteString(out, script(c.model))
	return err
}

// shownCommands returns the commands that the help shows, each with its path as in "state check".
func shownCommands(node *kong.Node, before string) (paths []string, nodes []*kong.Node) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		path := strings.TrimSpace(before + " " + child.Name)
		paths, nodes = append(paths, path), append(nodes, child)
		p, n := shownCommands(child, path)
		paths, nodes = append(paths, p...), append(nodes, n...)
	}
	return paths, nodes
}

// wordsAfter returns what may follow a command: its commands and its flags.
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

// bashCompletion returns a script for bash.
func bashCompletion(root *kong.Node) string {
	var cases strings.Builder
	paths, nodes := shownCommands(root, "")
	for i, node := range nodes {
		cases.WriteString(fmt.Sprintf("    %q) words=%q ;;\n", paths[i], strings.Join(wordsAfter(node), " ")))
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
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -o bashdefault -F _runjob runjob
`
}

// zshCompletion returns a script for zsh, which can use the script for bash.
func zshCompletion(root *kong.Node) string {
	return "#compdef runjob\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(root)
}

// fishCompletion returns a script for fish, with the first sentence of each help.
func fishCompletion(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# Completion of runjob for fish.\n")
	paths, nodes := shownCommands(root, "")
	for i, node := range nodes {
		parents := strings.Fields(paths[i])
		condition := "__fish_use_subcommand"
		if len(parents) > 1 {
			condition = "__fish_seen_subcommand_from " + parents[0]
		}
		b.WriteString(fmt.Sprintf("complete -c runjob -f -n %s -a %s -d %s\n", fishQuoted(condition), node.Name, fishQuoted(firstSentence(node.Help))))
		for _, f := range node.Flags {
			needs := " -r"
			if f.IsBool() {
				needs = ""
			}
			b.WriteString(fmt.Sprintf("complete -c runjob -n %s -l %s%s -d %s\n", fishQuoted("__fish_seen_subcommand_from "+node.Name), f.Name, needs, fishQuoted(firstSentence(f.Help))))
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
