package house

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/goldentest"
)

// rooms says what the packages of a room with several packages have in common.
var rooms = map[string]string{
	"audit":       "Recall, estimated on a sample of true pairs.",
	"fingerprint": "Records to fingerprints and sketch blocks.",
	"graphs":      "Components of graphs of documents.",
	"incremental": "What a run takes from the last run with its state.",
	"input":       "Files, formats, texts and addresses.",
	"inspect":     "Finished runs, and estimates before a run.",
	"keep":        "Which documents of a cluster are kept.",
	"mirrors":     "What sites have in common.",
	"pairs":       "Keys to pairs, and pairs to edges.",
	"passages":    "Passages that occur more than once.",
	"pipeline":    "The driver and the engines.",
	"records":     "What travels between stages, and the files in which it does.",
	"result":      "Rows, and how they are written, published and read again.",
	"schema":      "Rows and statistics as they are declared.",
	"storage":     "Disks, buckets and the web.",
	"transforms":  "The stages as Beam sees them.",
	"work":        "Tasks: their context, slots, outcomes and run files.",
	"util":        "Small helpers that know nothing of documents.",
}

//go:generate env UPDATE=1 go test -run ^TestGenerated .

// TestGeneratedPackages: docs/internals/packages.md lists all packages by layer. What each is for, its comment says.
func TestGeneratedPackages(t *testing.T) {
	page := "# Packages\n\nThe layers from the bottom up, with their packages; `internal/` is left out. " +
		"What each package is for:\n\n" +
		"    go list -f '{{.ImportPath}}: {{.Doc}}' ./...\n\n" +
		"The table in `internal/house/imports_test.go` says which packages each package may import: only packages that it\n" +
		"lists earlier. `go generate ./internal/house` writes this page.\n\n" +
		"| layer | what it does or has | packages |\n|---|---|---|\n"
	packages := synopses(t)
	listed := map[string]bool{}
	for _, row := range law {
		room := roomOf(row[0])
		if isApartFromProduct(room) || listed[room] {
			continue
		}
		listed[room] = true
		own := slices.DeleteFunc(slices.Clone(packages), func(p synopsis) bool { return roomOf(p.folder) != room })
		if len(own) > 1 && rooms[room] == "" {
			t.Errorf("say in packages_test.go what the packages of room %s have in common", room)
		}
		what, names := strings.TrimSuffix(rooms[room], "."), []string{}
		for _, p := range own {
			if name := strings.TrimPrefix(p.folder, "internal/"); name != room {
				names = append(names, "`"+strings.TrimPrefix(name, room+"/")+"`")
			}
			if len(own) == 1 {
				what = p.sentence
			}
		}
		page += fmt.Sprintf("| `%s` | %s | %s |\n", room, what, strings.Join(names, ", "))
	}
	goldentest.File(t, filepath.Join(root, "docs", "internals", "packages.md"), page)
}

// synopsis is the first sentence of the comment of a package, up to a colon, without the name of the package.
type synopsis struct{ folder, sentence string }

// isApartFromProduct reports whether the packages of a room are no part of the program.
func isApartFromProduct(room string) bool {
	return room == "scripts" || room == "examples" || room == "house"
}

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
		if isApartFromProduct(roomOf(folder)) {
			continue
		}
		first := new(doc.Package).Synopsis(comment)
		if first == "" {
			t.Errorf("%s has no package comment", folder)
		}
		_, first, _ = strings.Cut(first, " ") // Package or Command
		_, first, _ = strings.Cut(first, " ") // its name
		first, _, _ = strings.Cut(strings.TrimSuffix(first, "."), ": ")
		all = append(all, synopsis{folder, strings.NewReplacer("[", "`", "]", "`", "|", `\|`).Replace(first)})
	}
	slices.SortFunc(all, func(a, b synopsis) int { return strings.Compare(a.folder, b.folder) })
	return all
}
