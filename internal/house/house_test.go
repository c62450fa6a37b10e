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
	module   = "mirrorbeam.dev"
	root     = "../.."
	maxLines = 600
	// maxFunction bounds the lines of a function. Scripts are free of it.
	maxFunction = 60
)

// leaving are the functions that end the program, by package: whatever is not a
// command returns an error.
var leaving = map[string][]string{
	"os":      {"Exit"},
	"syscall": {"Exit"},
	"log":     {"Fatal"},
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log": {"Exit", "Fatal"},
}

func TestHouse(t *testing.T) { eachFile(t, ".go", 20, checkFile) }

// eachFile checks the files of the source tree whose names end so. There are at least a number of them.
func eachFile(t *testing.T, ending string, least int, check func(t *testing.T, name string) error) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && isApart(name):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ending):
			files++
			return check(t, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < least {
		t.Errorf("only %d files with the ending %s were found: is this the source tree?", files, ending)
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

// sharedFolder is where the corpora lie, next to the tree.
const sharedFolder = ".." + "/shared/"

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
	pkg := filepath.ToSlash(filepath.Dir(relative))
	if rowOf(pkg) < 0 {
		t.Errorf("%s: say in imports_test.go what %s may import", relative, pkg)
	}
	packages := map[string]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if !imports(pkg, imported, strings.HasSuffix(name, "_test.go")) {
			t.Errorf("%s: %s must not import %s", at(spec.Pos()), pkg, imported)
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
	if !strings.HasSuffix(name, "_test.go") && roomOf(pkg) != "scripts" && !ast.IsGenerated(file) {
		for _, declared := range file.Decls {
			f, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			if lines := fileSet.Position(f.End()).Line - fileSet.Position(f.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d: it holds more than one thought", at(f.Pos()), f.Name.Name,
					lines, maxFunction)
			}
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		ast.Inspect(file, func(node ast.Node) bool {
			if text, ok := node.(*ast.BasicLit); ok && strings.Contains(text.Value, sharedFolder) {
				t.Errorf("%s: %s: internal/util/corporatest gives the corpora to tests", at(text.Pos()), text.Value)
			}
			return true
		})
	}
	if isCommand(pkg) || pkg == "internal/util/openfiles" || strings.HasSuffix(name, "_test.go") {
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
