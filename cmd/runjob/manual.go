package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manualCommand prints the manual page.
type manualCommand struct {
	app *kong.Kong
}

// Help says how the page is read.
func (c *manualCommand) Help() string {
	return "To read it: runjob man | man -l -. To install it: runjob man > /usr/local/share/man/man1/runjob.1"
}

// BeforeApply notes the commands and flags.
func (c *manualCommand) BeforeApply(app *kong.Kong) error {
	c.app = app
	return nil
}

// Run prints the page in the language of man.
func (c *manualCommand) Run(_ context.Context, out io.Writer) error {
	_, err := io.WriteString(out, manual(c.app))
	return err
}

// exitCodes says what the exit codes mean.
var exitCodes = [...]struct {
	code    int
	meaning string
}{
	{exitDone, "all went well, with or without rejects"},
	{exitInternal, "a fault of the program"},
	{exitUsage, "the command line is wrong"},
	{exitInput, "the input cannot be used"},
	{exitStorage, "an output, the temporary folder or the standard output cannot be written to, a limit of the machine is too low, or a job server does not answer"},
	{exitCondition, "all went well, and a condition of --fail-on or --guard is met"},
	{exitInterrupted, "an interruption"},
	{exitUnread, "the reader of the standard output went away"},
}

// manual returns the manual page, made from what the help is made from.
func manual(app *kong.Kong) string {
	var b strings.Builder
	b.WriteString(fmt.Sprintf(".TH RUNJOB 1\n.SH NAME\nrunjob \\- %s\n", roff("find the near-duplicate documents of a corpus")))
	b.WriteString(".SH SYNOPSIS\n.B runjob\n.I COMMAND\n[\\fIFLAGS\\fR]\n")
	b.WriteString(fmt.Sprintf(".SH DESCRIPTION\n%s\n", roff(app.Model.Help)))
	b.WriteString(".SH OPTIONS\n")
	writeFlags(&b, app.Model.Flags)
	b.WriteString(".SH COMMANDS\n")
	paths, nodes := shownCommands(app.Model.Node, "")
	for i, node := range nodes {
		b.WriteString(fmt.Sprintf(".SS \"runjob %s\"\n%s\n", roff(paths[i]), roff(node.Help)))
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
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B RUNJOB_\\fISETTING\\fR\nA setting, as in RUNJOB_THRESHOLD=0.9. Flags come before it.\n")
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

// roff escapes a text: backslashes, hyphens that may be typed, and a full stop or an apostrophe at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
