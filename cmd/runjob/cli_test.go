package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/util/goldentest"
)

const cliPage = "../../docs/reference/cli.md"

//go:generate env UPDATE=1 go test -run ^TestGenerated .
//go:generate env UPDATE=1 go test -run ^TestScripts/^help$ .

// TestGeneratedCommands: the page of commands and flags is made from their declarations, between its marks.
func TestGeneratedCommands(t *testing.T) {
	content, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- commands -->\n", "<!-- end of commands -->\n"
	before, rest, _ := strings.Cut(string(content), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no marks %q and %q", cliPage, begin, end)
	}
	goldentest.File(t, cliPage, before+begin+commandTables(t)+end+after)
}

// commandNodes returns the commands and their flags.
func commandNodes(t *testing.T) []*kong.Node {
	mappers := kong.NewRegistry().RegisterDefaults()
	for kind, mapper := range kindMappers() {
		mappers.RegisterKind(kind, mapper)
	}
	c := newCommands()
	parser, err := kong.New(c, kong.Name("runjob"), kong.PostBuild(func(k *kong.Kong) error {
		giveHelp(k.Model.Node, "runjob")
		return c.addFlags(k.Model.Node, mappers)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return shownCommands(parser.Model.Node)
}

// commandTables returns a table of the commands, and one of the flags of each. A flag that an earlier command has with
// the same help is left out.
func commandTables(t *testing.T) string {
	nodes := commandNodes(t)
	isMirrors := func(node *kong.Node) bool { return node.Path() == "mirrors" }
	mirrors := nodes[slices.IndexFunc(nodes, isMirrors)].Flags
	commands, flags, known := "", "", map[string]bool{}
	for _, node := range nodes {
		if len(node.Children) > 0 {
			continue
		}
		usage := node.Path()
		for _, argument := range node.Positional {
			usage += " " + argument.Summary()
		}
		commands += fmt.Sprintf("| `%s` | %s |\n", usage, shortHelp(node.Help))
		if rows := flagRows(node, known, mirrors); rows != "" {
			flags += fmt.Sprintf("\n## %s\n\n| flag | default | what it does |\n|---|---|---|\n%s", node.Path(), rows)
		}
	}
	return "| command | what it does |\n|---|---|\n" + commands + flags
}

// flagRows returns a row for each flag of a command that is not known, with its group in front of each group.
func flagRows(node *kong.Node, known map[string]bool, mirrors []*kong.Flag) (rows string) {
	var groups []*kong.Group
	for _, f := range node.Flags {
		if !slices.Contains(groups, f.Group) && !slices.ContainsFunc(groups, func(g *kong.Group) bool {
			return g != nil && f.Group != nil && g.Key == f.Group.Key
		}) {
			groups = append(groups, f.Group)
		}
	}
	for _, group := range groups {
		of := ""
		for _, f := range node.Flags {
			isOther := (f.Group == nil) != (group == nil) || group != nil && f.Group.Key != group.Key
			if key := f.Name + ": " + f.Help; !isOther && !f.Hidden && !known[key] {
				known[key] = true
				of += fmt.Sprintf("| `%s` |%s | %s |\n", flagUsage(f), usualValue(node, f, mirrors), shortHelp(f.Help))
			}
		}
		if of != "" && group != nil {
			rows += "| **" + group.Title + "** | | |\n"
		}
		rows += of
	}
	return rows
}

// flagUsage returns a flag with a word for its value.
func flagUsage(f *kong.Flag) string {
	switch {
	case f.IsBool():
		return "--" + f.Name
	case f.PlaceHolder != "":
		return "--" + f.Name + " " + f.PlaceHolder
	}
	return "--" + f.Name + " " + strings.ToUpper(f.Name)
}

// usualValue returns the default of a flag and, for run, the one that mirrors has instead.
func usualValue(node *kong.Node, f *kong.Flag, mirrors []*kong.Flag) string {
	if f.Required {
		return " required"
	}
	text := quotedDefault(f)
	if i := slices.IndexFunc(mirrors, func(m *kong.Flag) bool { return m.Name == f.Name }); node.Name == "run" &&
		i >= 0 {
		if other := quotedDefault(mirrors[i]); other != text {
			text += ", mirrors" + other
		}
	}
	return text
}

func quotedDefault(f *kong.Flag) string {
	if f.Default == "" || f.IsBool() {
		return ""
	}
	return " `" + f.Default + "`"
}

var (
	inBrackets = regexp.MustCompile(` \([^()]*\)`)
	anExample  = regexp.MustCompile(`, (?:as (?:in|with|\S+ \S+) .*|such as [^,:]*)$`)
	sentence   = regexp.MustCompile(`^(.*?)(?:[.?] |; |\.?$)`)
	// remark is what follows a colon, unless it is a list of values.
	remark = regexp.MustCompile(`^([^:]{20,}): .*$`)
	values = regexp.MustCompile(`: [A-Za-z0-9:*-]+( \(|,| or |$)`)
)

// shortHelp returns the first sentence of a help, up to a semicolon, without examples, remarks and what is in brackets.
func shortHelp(help string) string {
	first := help
	for inBrackets.MatchString(first) {
		first = inBrackets.ReplaceAllString(first, "")
	}
	first = anExample.ReplaceAllString(sentence.FindStringSubmatch(first)[1], "")
	if !values.MatchString(first) {
		first = remark.ReplaceAllString(first, "$1")
	}
	return strings.ReplaceAll(first, "|", `\|`)
}
