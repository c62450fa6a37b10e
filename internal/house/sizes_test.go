package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sizes bounds the lines of each room: lines of Go that are not blank, without tests and what only helps them, scripts, examples and
// generated files. A change that needs more raises its row in the same commit, and says why.
var sizes = map[string]int{
	"asmkernels":  1980,
	"audit":       1390,
	"buckets":     20,
	"clusters":    2339,
	"cmd":         6928,
	"failure":     120,
	"fingerprint": 4185,
	"graphs":      915,
	"incremental": 3417,
	"input":       20_265,
	"inspect":     9323,
	"job":         2231,
	"keep":        1041,
	"lshbands":    1870,
	"mirrors":     4998,
	"pairs":       5634,
	"passages":    1300,
	"pipeline":    3749,
	"records":     5150,
	"result":      5307,
	"schema":      2040,
	"sketch":      5462,
	"storage":     4141,
	"transforms":  2320,
	"util":        430,
	"work":        1395,
}

const (
	// mostComments bounds the lines of all rooms that only are comments.
	mostComments = 11_000
	// mostDocs bounds the bytes of all pages in docs.
	mostDocs = 380_000
)

// TestSizes holds the program to its size.
func TestSizes(t *testing.T) {
	lines, comments := map[string]int{}, 0
	eachFile(t, ".go", 100, func(t *testing.T, name string) error {
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(relative))
		room := roomOf(pkg)
		content, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, "_test.go") || isForTests(pkg) || isApartFromProduct(room) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for line := range bytes.Lines(content) {
			line = bytes.TrimSpace(line)
			if len(line) > 0 {
				lines[room]++
			}
			if bytes.HasPrefix(line, []byte("//")) {
				comments++
			}
		}
		return nil
	})
	for room, n := range lines {
		if most, is := sizes[room]; !is || n > most {
			t.Errorf("%s has %d lines, more than %d", room, n, most)
		}
	}
	for room := range sizes {
		if lines[room] == 0 {
			t.Errorf("%s has a size and no lines", room)
		}
	}
	if comments > mostComments {
		t.Errorf("%d lines are comments, more than %d", comments, mostComments)
	}
	pages := 0
	eachFile(t, ".md", 10, func(_ *testing.T, name string) error {
		info, err := os.Stat(name)
		if err == nil && strings.HasPrefix(name, filepath.Join(root, "docs")) {
			pages += int(info.Size())
		}
		return err
	})
	if pages > mostDocs {
		t.Errorf("docs have %d bytes, more than %d", pages, mostDocs)
	}
}
