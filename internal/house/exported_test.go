package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// interfaceMethods are methods whose interface says what they do.
var interfaceMethods = regexp.MustCompile(
	`^(Error|Unwrap|String|Setup|ProcessElement|Close|Len|Write|Read|Marshal\w+|Unmarshal\w+)$`)

// TestExportedNames: each exported type and function says in a comment what it is.
func TestExportedNames(t *testing.T) {
	eachFile(t, ".go", 100, func(t *testing.T, name string) error {
		relative, err := filepath.Rel(root, name)
		room := roomOf(filepath.ToSlash(filepath.Dir(relative)))
		if err != nil || strings.HasSuffix(name, "_test.go") || isApartFromProduct(room) {
			return err
		}
		fileSet := token.NewFileSet()
		file, err := parser.ParseFile(fileSet, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) || file.Name.Name == "main" {
			return err
		}
		check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
			for _, comment := range comments {
				if comment != nil {
					return
				}
			}
			if name.IsExported() && !interfaceMethods.MatchString(name.Name) {
				t.Errorf("%s:%d: say in a comment what %s is", relative, fileSet.Position(name.Pos()).Line, name.Name)
			}
		}
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || receiver(d.Recv.List[0].Type).IsExported() {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if of, is := spec.(*ast.TypeSpec); is {
						check(of.Name, of.Doc, d.Doc)
					}
				}
			}
		}
		return nil
	})
}

// receiver returns the name of the type of a method.
func receiver(of ast.Expr) *ast.Ident {
	switch t := of.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	}
	return of.(*ast.Ident)
}
