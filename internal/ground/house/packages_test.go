package house

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers says what the packages of a layer with several packages have in common.
var layers = map[string]string{
	"ground":   "Files, numbers and messages. It knows no text.",
	"read":     "Formats, texts and addresses.",
	"carry":    "What travels between stages.",
	"measure":  "Records to fingerprints and sketch blocks.",
	"settle":   "Clusters, choices, results and states.",
	"match":    "Keys to pairs, and pairs to edges.",
	"sites":    "What sites have in common.",
	"start":    "What a job needs before and after its stages.",
	"look":     "Finished runs, and estimates before a run.",
	"pipeline": "The driver and the engines.",
}

// TestPackages: docs/internals/packages.md lists all packages, with the first sentence of their comments. UPDATE=1 rewrites the page.
func TestPackages(t *testing.T) {
	page := "# Packages\n\nA layer is a folder of `internal` or of the top level. This list goes from the bottom up: a layer imports only earlier\n" +
		"layers of the list, and `imports_test.go` in `internal/ground/house` says which. Packages of one layer import each other.\n" +
		"`UPDATE=1 go test ./internal/ground/house -run TestPackages` writes this page from the comments of the packages.\n"
	packages := synopses(t)
	for _, row := range law {
		layer := row[0]
		if isApartFromProduct(layer) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(packages), func(p synopsis) bool { return wingOf(p.folder) != layer })
		if len(own) > 1 && layers[layer] == "" {
			t.Errorf("say in packages_test.go what the packages of layer %s have in common", layer)
		}
		page += fmt.Sprintf("\n## %s\n\n", layer) + layers[layer]
		if len(own) == 1 {
			page += fmt.Sprintf("`%s` %s", own[0].folder, own[0].sentence)
		}
		page += "\n"
		if len(own) == 1 {
			continue
		}
		page += "\n| package | |\n|---|---|\n"
		for _, p := range own {
			page += fmt.Sprintf("| `%s` | %s |\n", strings.TrimPrefix(p.folder, "internal/"), p.sentence)
		}
	}
	name := filepath.Join(root, "docs", "internals", "packages.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if content, err := os.ReadFile(name); err != nil || string(content) != page {
		t.Errorf("%s does not list the packages as they are: UPDATE=1 go test ./internal/ground/house -run TestPackages (%v)", name, err)
	}
}

// synopsis is the first sentence of the comment of a package, without the name of the package.
type synopsis struct{ folder, sentence string }

// isApartFromProduct reports whether the packages of a layer are no part of the program.
func isApartFromProduct(layer string) bool { return layer == "scripts" || layer == "examples" }

// synopses returns the packages of the tree with the first sentences of their comments, sorted by folder.
func synopses(t *testing.T) (all []synopsis) {
	comments := map[string]string{}
	eachFile(t, ".go", 20, func(t *testing.T, name string) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(relative)
		comments[folder] += file.Doc.Text()
		return nil
	})
	for folder, comment := range comments {
		if isApartFromProduct(wingOf(folder)) {
			continue
		}
		first := new(doc.Package).Synopsis(comment)
		if first == "" {
			t.Errorf("%s has no package comment", folder)
		}
		_, first, _ = strings.Cut(first, " ") // Package or Command
		_, first, _ = strings.Cut(first, " ") // its name
		all = append(all, synopsis{folder, strings.NewReplacer("[", "`", "]", "`", "|", `\|`).Replace(first)})
	}
	slices.SortFunc(all, func(a, b synopsis) int { return strings.Compare(a.folder, b.folder) })
	return all
}
