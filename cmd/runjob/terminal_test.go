package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/pipeline"
)

// hostile is a name that would set colours, clear the screen, reverse the text and add a line.
const hostile = "a\x1b[31m\u009b2J\u202eb\nrunjob: results deleted\x7f\xff\t"

// harmless is the form in which it is shown.
const harmless = `a\x1b[31m\u009b2J\u202eb\nrunjob: results deleted\x7f\xff\t`

func TestSay(t *testing.T) {
	for _, arg := range []any{hostile, []byte(hostile), errors.New(hostile)} {
		var b strings.Builder
		say(&b, "file %s\n", arg)
		if want := "file " + harmless + "\n"; b.String() != want {
			t.Errorf("%T: %q, want %q", arg, b.String(), want)
		}
	}
	var b strings.Builder
	say(&b, "%s, %d of %.1f %%\n", "größe 漢 👩‍💻", 1, 2.0)
	if want := "größe 漢 👩‍💻, 1 of 2.0 %\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestAllIsSaid: only say writes to people. So no output can forget to escape names.
func TestAllIsSaid(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "terminal.go" {
			continue
		}
		fileSet := token.NewFileSet()
		file, err := parser.ParseFile(fileSet, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok && from.Name == "fmt" &&
				(strings.HasPrefix(selector.Sel.Name, "Fprint") || strings.HasPrefix(selector.Sel.Name, "Print")) {
				t.Errorf("%v: fmt.%s writes names as they are; use say", fileSet.Position(node.Pos()),
					selector.Sel.Name)
			}
			return true
		})
	}
}

func TestPrintJSON(t *testing.T) {
	value := map[string]string{"name": strings.ToValidUTF8(hostile, "")}
	var b bytes.Buffer
	if err := printJSON(&b, value); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), quoting.IsControl) >= 0 {
		t.Errorf("%q", text)
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["name"] != value["name"] {
		t.Errorf("read back %q, %v", back, err)
	}
}

// kind is an error around another that adds no text.
type kind struct{ error }

func (k kind) Unwrap() []error { return []error{pipeline.ErrInput, k.error} }

func TestFaultLines(t *testing.T) {
	one, two := errors.New("one"), errors.New("two\nof a name")
	for _, c := range []struct {
		err  error
		want []string
	}{
		{one, []string{"one"}},
		{two, []string{"two\nof a name"}},
		{errors.Join(one, two), []string{"one", "two\nof a name"}},
		{errors.Join(errors.Join(one, one), two), []string{"one", "one", "two\nof a name"}},
		{failure.New(failure.Usage, kind{errors.Join(two, one)}), []string{"two\nof a name", "one"}},
		{fmt.Errorf("read: %w", errors.Join(one, two)), []string{"read: one\ntwo\nof a name"}},
	} {
		if got := faultLines(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%q is told in the lines %q, want %q", c.err, got, c.want)
		}
	}
}
