package main

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/keep/preference"
)

// helpText is an entry of settings.txt or commands.txt: a line, and the text that is indented below it. Its paragraphs
// are separated by a line feed.
type helpText struct{ line, text string }

func readHelp(content string) (all []helpText) {
	space := " "
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
			space = "\n"
			continue
		case line[0] != ' ':
			all = append(all, helpText{line: text})
		default:
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + space + text)
		}
		space = " "
	}
	return all
}

//go:embed commands.txt
var commandsText string

// commandHelp has the help of each command, flag and argument, as in "runjob show <cluster>". What several commands
// share belongs to runjob alone, as in "runjob --quiet". The first paragraph of a command is its line in lists, the
// second one is shown with it.
var commandHelp = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	command := ""
	for _, one := range readHelp(strings.ReplaceAll(commandsText, "{keep}", preference.Forms(preference.InOrder))) {
		if strings.HasPrefix(one.line, "runjob") {
			command = one.line
			texts[command] = one.text
		} else {
			texts[command+" "+one.line] = one.text
		}
	}
	return texts
})

func giveHelp(of *kong.Node, path string) {
	texts := commandHelp()
	give := func(value *kong.Value, name string) {
		text, isOwn := texts[path+" "+name]
		if !isOwn {
			text = texts["runjob "+name]
		}
		if text != "" { // the parser itself has a text for --help
			value.Help, value.OrigHelp = text, text
		}
	}
	for _, argument := range of.Positional {
		give(argument, "<"+argument.Name+">")
	}
	for _, flag := range of.Flags {
		give(flag.Value, "--"+flag.Name)
	}
	for _, child := range of.Children {
		below := path + " " + child.Name
		child.Help, child.Detail, _ = strings.Cut(texts[below], "\n")
		giveHelp(child, below)
	}
}
