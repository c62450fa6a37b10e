package main

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpOfAll: each command, flag and argument has a help, and each entry of commands.txt belongs to one.
func TestHelpOfAll(t *testing.T) {
	parser, err := kong.New(newCommands(), kong.Name("runjob"), kong.Writers(io.Discard, io.Discard),
		kong.PostBuild(func(k *kong.Kong) error {
			giveHelp(k.Model.Node, "runjob")
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{"runjob": true}
	for key := range commandHelp() {
		unused[key] = true
	}
	use := func(path, name, help string) {
		key := strings.TrimSpace(path + " " + name)
		if help == "" {
			t.Errorf("%s has no help", key)
		}
		if !unused[key] {
			key = "runjob " + name
		}
		delete(unused, key)
	}
	var walk func(node *kong.Node, path string)
	walk = func(node *kong.Node, path string) {
		for _, argument := range node.Positional {
			use(path, "<"+argument.Name+">", argument.Help)
		}
		for _, f := range node.Flags {
			use(path, "--"+f.Name, f.Help)
		}
		for _, child := range node.Children {
			use(path+" "+child.Name, "", child.Help)
			walk(child, path+" "+child.Name)
		}
	}
	walk(parser.Model.Node, "runjob")
	delete(unused, "runjob")
	for key := range unused {
		t.Errorf("%s is in commands.txt, and is no command, flag or argument", key)
	}
}
