package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestArticles: the page of the articles has all their statements, and each file, name, command and flag that it names
// is there.
func TestArticles(t *testing.T) {
	content, err := os.ReadFile("../../docs/internals/articles.md")
	if err != nil {
		t.Fatal(err)
	}
	statements := 0
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllSubmatch(content, -1) {
		if string(row[1]) != "items" {
			statements += 1 + strings.Count(string(row[1]), ";")
		}
	}
	if statements != 144 {
		t.Errorf("the page has %d statements", statements)
	}
	isDeclared := func(folder, name string) bool {
		files, _ := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		is := regexp.MustCompile(`(?m)^(func (\(.*?\) )?|type |\t)` + name + `\b`)
		return slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && is.Match(source)
		})
	}
	packages, nodes := []string{"sketch", "lshbands", "asmkernels", "cmd/runjob"}, commandNodes(t)
	for _, span := range regexp.MustCompile("`(?:runjob )?([^`]+)`").FindAllStringSubmatch(string(content), -1) {
		words := strings.Fields(span[1])
		name, _, _ := strings.Cut(words[0], "(")
		parts := strings.Split(name, ".")
		in, last := packages, parts[len(parts)-1]
		if len(parts) > 1 && slices.Contains(packages, parts[0]) {
			in = parts[:1]
		}
		is := slices.ContainsFunc(in, func(folder string) bool { return isDeclared(folder, last) })
		if command := slices.IndexFunc(nodes, func(n *kong.Node) bool { return n.Path() == name }); command >= 0 {
			is = true
			for _, word := range words[1:] {
				flag, isFlag := strings.CutPrefix(word, "--")
				is = is && (!isFlag || slices.ContainsFunc(nodes[command].Flags, func(f *kong.Flag) bool {
					return f.Name == flag
				}))
			}
		} else if strings.Contains(name, "/") || strings.HasSuffix(name, ".go") {
			_, inRoot := os.Stat(filepath.Join("../..", name))
			_, inSketch := os.Stat(filepath.Join("../../sketch", name))
			is = inRoot == nil || inSketch == nil
		} else if name == "go" {
			is = isDeclared(words[4], "Benchmark"+words[3])
		}
		if !is {
			t.Errorf("%s is not there", span[0])
		}
	}
}
