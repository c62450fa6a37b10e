package schemas

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// declarations are the comments of types and of their fields, by the path of the package, the type and the field.
type declarations map[string]string

// of returns a comment. The package is read when it is first asked for.
func (d declarations) of(t *testing.T, of reflect.Type, field string) string {
	t.Helper()
	path, inModule := strings.CutPrefix(of.PkgPath(), "mirrorbeam.dev/")
	if !inModule {
		return ""
	}
	if _, known := d[path]; !known {
		d[path] = ""
		d.read(t, path)
	}
	return d[path+"."+of.Name()+"."+field]
}

// read reads the comments of a package.
func (d declarations) read(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", path, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources of %s (%v)", path, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			if types, is := declared.(*ast.GenDecl); is && types.Tok == token.TYPE {
				d.add(path, types)
			}
		}
	}
}

// add adds the comments of the structs of a declaration.
func (d declarations) add(path string, types *ast.GenDecl) {
	for _, one := range types.Specs {
		spec := one.(*ast.TypeSpec)
		name := path + "." + spec.Name.Name + "."
		if d[name] = plain(types.Doc, nil); spec.Doc != nil {
			d[name] = plain(spec.Doc, nil)
		}
		of, is := spec.Type.(*ast.StructType)
		if !is {
			continue
		}
		names := map[string]string{}
		for _, field := range of.Fields.List {
			if field.Tag != nil && len(field.Names) == 1 {
				names[field.Names[0].Name], _, _ = strings.Cut(
					reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			}
		}
		for _, field := range of.Fields.List {
			if len(field.Names) == 1 {
				d[name+field.Names[0].Name] = plain(field.Doc, names)
			}
		}
	}
}

var (
	words = regexp.MustCompile(`\[?\b([a-z]+\.)?[A-Z][A-Za-z0-9.]*\b\]?`)
	// pointers lead to Go code, which who reads a file does not have.
	pointers = regexp.MustCompile(`[;,:.] [Ss]ee \[[^\]]*\]`)
)

// plain returns a comment with the names of fields as files have them.
func plain(comment *ast.CommentGroup, names map[string]string) string {
	text := strings.Join(strings.Fields(comment.Text()), " ")
	return words.ReplaceAllStringFunc(pointers.ReplaceAllString(text, ""), func(word string) string {
		if name := names[word]; name != "" && name != "-" {
			return "`" + name + "`"
		}
		return strings.Trim(word, "[]")
	})
}

// object is a JSON object whose members stand in an order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", []string{"{", ","}[min(i, 1)], m.name, value)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// property is a field as a file has it.
type property struct {
	name, comment string
	of            reflect.Type
	optional      bool
	isName        bool // of a document: a string or a whole number
}

// propertiesOf lists the fields of a struct, and of the structs in it that have no name.
func (d declarations) propertiesOf(t *testing.T, of reflect.Type) (all []property) {
	t.Helper()
	if of == reflect.TypeFor[output.Span]() {
		of = reflect.TypeFor[output.SpanJSON]()
	}
	for field := range of.Fields() {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			all = append(all, d.propertiesOf(t, elementOf(field.Type))...)
		default:
			if name == "" {
				name = field.Name
			}
			all = append(all,
				property{
					name, d.of(t, of, field.Name), elementOf(field.Type),
					option != "" || field.Tag.Get("with") != "", field.Tag.Get("names") == "document",
				})
		}
	}
	return all
}

// elementOf returns what a pointer points at.
func elementOf(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer {
		return of.Elem()
	}
	return of
}

// schemaOf returns the JSON Schema of a type.
func (d declarations) schemaOf(t *testing.T, of reflect.Type) object {
	t.Helper()
	if of == reflect.TypeFor[json.RawMessage]() {
		return object{{"type", "string"}} // of a query, which has its texts as JSON
	}
	if of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		of.Implements(reflect.TypeFor[json.Marshaler]()) && of != reflect.TypeFor[output.Span]() {
		return valueSchema(t, of)
	}
	switch of.Kind() {
	case reflect.Struct:
		properties, required := object{}, []string{}
		for _, p := range d.propertiesOf(t, of) {
			schema := d.schemaOf(t, p.of)
			if p.isName {
				schema = object{{"type", []string{"string", "integer"}}}
			}
			properties = append(properties, member{p.name, append(schema, describing(p.name, p.comment)...)})
			if !p.optional {
				required = append(required, p.name)
			}
		}
		return object{{"type", "object"}, {"properties", properties}, {"required", required}}
	case reflect.Slice:
		return object{{"type", "array"}, {"items", d.schemaOf(t, of.Elem())}}
	case reflect.Array:
		return object{
			{"type", "array"},
			{"items", d.schemaOf(t, of.Elem())},
			{"minItems", of.Len()},
			{"maxItems", of.Len()},
		}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", d.schemaOf(t, of.Elem())}}
	case reflect.Interface:
		return object{}
	}
	return valueSchema(t, of)
}

// valueSchema returns the schema of a type that JSON has as one value.
func valueSchema(t *testing.T, of reflect.Type) object {
	t.Helper()
	zero, err := json.Marshal(reflect.New(of).Interface())
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case zero[0] == '"':
		return object{{"type", "string"}}
	case zero[0] == 't' || zero[0] == 'f':
		return object{{"type", "boolean"}}
	case of.Kind() == reflect.Float64:
		return object{{"type", "number"}}
	case zero[0] == '0':
		return object{{"type", "integer"}}
	}
	t.Fatalf("%v is %s in JSON", of, zero)
	return nil
}

// describing returns the description of a value that has a comment.
func describing(name, comment string) object {
	if comment == "" {
		return nil
	}
	return object{{"description", strings.ReplaceAll(sentence(name, comment), "`", "")}}
}

// openings are what comments say of a name, and what is left of that in front of the rest.
var openings = [][2]string{
	{" is ", ""},
	{" are ", ""},
	{" has ", ""},
	{" says that ", "whether "},
	{" says ", ""},
	{" say ", ""},
	{" tells ", ""},
	{" identifies ", ""},
	{" lists ", ""},
	{" counts the ", "the number of "},
	{" counts ", "the number of "},
	{" ", ""},
}

// sentence returns what a comment says of its field or type, without its name.
func sentence(name, comment string) string {
	comment = strings.TrimSuffix(comment, ".")
	for _, opening := range openings {
		for _, start := range []string{name, "`" + name + "`"} {
			if rest, found := strings.CutPrefix(comment, start+opening[0]); found {
				return opening[1] + rest
			}
		}
	}
	return comment
}
