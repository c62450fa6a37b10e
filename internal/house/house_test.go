// Package house holds the rules of the source tree, as a test.
package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "mirrorbeam"
	root     = "../.."
	maxLines = 400
)

// storeys are the packages by height: imports go down only. Packages of internal
// stand beside the house: they import none of it, and only its upper storeys,
// those that know Beam, import them.
var storeys = map[string]int{
	"asmkernels": 0,
	"lshbands":   1,
	"sketch":     1,
	"transforms": 2,
	"pipeline":   3,
	"cmd":        4,
	"scripts":    4,
}

const (
	lowestWithBeam = 2
	commands       = 4
)

// leaving are the functions that end the program, by package: whatever is not a
// command returns an error.
var leaving = map[string][]string{
	"os":      {"Exit"},
	"syscall": {"Exit"},
	"log":     {"Fatal"},
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log": {"Exit", "Fatal"},
}

func TestHouse(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && isApart(name):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			files++
			return checkFile(t, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d Go files were found: is this the source tree?", files)
	}
}

// isApart reports whether the Go tool takes the folder for no part of the
// module.
func isApart(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func checkFile(t *testing.T, name string) error {
	fileSet := token.NewFileSet()
	file, err := parser.ParseFile(fileSet, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	at := func(pos token.Pos) string { return fmt.Sprintf("%s:%d", relative, fileSet.Position(pos).Line) }
	room, _, _ := strings.Cut(filepath.ToSlash(relative), "/")
	if _, known := storeys[room]; !known && room != "internal" {
		t.Errorf("%s: give %s a storey in the house", relative, room)
	}
	packages := map[string]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if !mayImport(room, imported) {
			t.Errorf("%s: packages of %s must not import %s", at(spec.Pos()), room, imported)
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		packages[local] = imported
	}
	if lines := fileSet.File(file.FileStart).LineCount(); lines > maxLines && !ast.IsGenerated(file) {
		t.Errorf("%s: %d lines are more than %d: it does more than one thing", relative, lines, maxLines)
	}
	if storeys[room] == commands || strings.HasSuffix(name, "_test.go") {
		return nil
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if call, ok := node.(*ast.SelectorExpr); ok && leaves(packages, call) {
			t.Errorf("%s: only commands end the program: return an error", at(call.Pos()))
		}
		return true
	})
	return nil
}

// mayImport reports whether a package in the room may import another package.
func mayImport(room, imported string) bool {
	storey, inHouse := storeys[room]
	withBeam := inHouse && storey >= lowestWithBeam
	if strings.HasPrefix(imported, "github.com/apache/beam/") {
		return withBeam
	}
	inner, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		return true
	}
	target, _, _ := strings.Cut(inner, "/")
	if target == "internal" {
		return withBeam || room == "internal"
	}
	return target == room || inHouse && storeys[target] < storey
}

// leaves reports whether the expression is a function that ends the program.
func leaves(packages map[string]string, call *ast.SelectorExpr) bool {
	name, ok := call.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, start := range leaving[packages[name.Name]] {
		if strings.HasPrefix(call.Sel.Name, start) {
			return true
		}
	}
	return false
}

// TestMayImport tries the rule on imports that the tree does not have.
func TestMayImport(t *testing.T) {
	const beam = "github.com/apache/beam/sdks/v2/go/pkg/beam"
	for _, test := range []struct {
		room, imported string
		want           bool
	}{
		{"cmd", module + "/pipeline", true},
		{"pipeline", module + "/sketch", true},
		{"pipeline", module + "/cmd/runjob", false},
		{"transforms", module + "/pipeline", false},
		{"transforms", module + "/internal/corpus", true},
		{"transforms", beam, true},
		{"sketch", module + "/asmkernels", true},
		{"sketch", module + "/lshbands", false},
		{"sketch", module + "/internal/corpus", false},
		{"sketch", beam, false},
		{"asmkernels", module + "/sketch", false},
		{"internal", module + "/internal/docref", true},
		{"internal", module + "/asmkernels", false},
		{"internal", beam, false},
		{"sketch", "github.com/zeebo/xxh3", true},
	} {
		if got := mayImport(test.room, test.imported); got != test.want {
			t.Errorf("mayImport(%q, %q) = %v, want %v", test.room, test.imported, got, test.want)
		}
	}
}
