package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/goldentest"
)

// types are the declarations of [Documents].
var types = map[string]reflect.Type{
	output.Clusters: reflect.TypeFor[output.Member](),
	output.Pairs:    reflect.TypeFor[output.Pair](),
	output.Removed:  reflect.TypeFor[output.Removal](),
	output.Sketches: reflect.TypeFor[output.Sketch](),
	output.Passages: reflect.TypeFor[output.Cut](),
	output.Changes:  reflect.TypeFor[output.Change](),
	output.Mirrors:  reflect.TypeFor[output.Mirror](),
	output.Sites:    reflect.TypeFor[output.Site](),
	output.Suspects: reflect.TypeFor[output.Suspect](),
	output.Rejects:  reflect.TypeFor[output.Reject](),
	"summary":       reflect.TypeFor[finished.Summary](),
	"manifest":      reflect.TypeFor[workspace.Manifest](),
	"plan":          reflect.TypeFor[plan.Advice](),
	"query":         reflect.TypeFor[output.Match](),
}

//go:generate env UPDATE=1 go test -run ^TestGenerated .

// TestGeneratedSchema: the schemas are made from the declarations.
func TestGeneratedSchema(t *testing.T) {
	d, all := declarations{}, object{}
	for _, name := range Documents {
		one := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", name}}
		one = append(one, describing(types[name].Name(), d.of(t, types[name], ""))...)
		all = append(all, member{name, append(one, d.schemaOf(t, types[name])...)})
	}
	want, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, want, "", " "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	goldentest.File(t, "schema.json",
		short.ReplaceAllString(gap.ReplaceAllStringFunc(indented.String(), func(values string) string {
			return strings.Join(strings.Fields(values), " ")
		}), "{$1$2$3}"))
}

// gap is a list of texts, and short an object of one or two texts. They take a line each.
var (
	gap   = regexp.MustCompile(`\[\s+("\w+",?\s+)*\]`)
	short = regexp.MustCompile(`\{\s+("type": "\w+")(?:(,)\s+("description": .*))?\s+\}`)
)

// TestGeneratedTables: the tables of fields in the documentation, each between two marks, are made from the
// declarations.
func TestGeneratedTables(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	d, tables := declarations{}, map[string]int{"plan": 1} // a plan is printed for people
	for _, path := range pages {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.File(t, path, marked.ReplaceAllStringFunc(string(content), func(part string) string {
			name := marked.FindStringSubmatch(part)[1]
			tables[name]++
			var b strings.Builder
			fmt.Fprintf(&b, "<!-- fields of %s -->\n| field | type | what it is |\n|---|---|---|\n", name)
			d.addFields(t, &b, map[reflect.Type]string{}, "", types[name])
			return b.String() + "<!-- end of fields -->\n"
		}))
	}
	for _, name := range Documents {
		if tables[name] != 1 {
			t.Errorf("%d tables of %s", tables[name], name)
		}
	}
}

var marked = regexp.MustCompile(`(?s)<!-- fields of (\w+) -->\n.*?<!-- end of fields -->\n`)

// addFields adds a line for each field of a struct, and of the structs in it. told has the field that first had a type
// of struct.
func (d declarations) addFields(t *testing.T, b *strings.Builder, told map[reflect.Type]string, prefix string,
	of reflect.Type,
) {
	for _, p := range d.propertiesOf(t, of) {
		if p.comment == "" {
			t.Errorf("field %s of %v has no comment", p.name, of)
		}
		if capture.MatchString(p.name) {
			continue
		}
		kind := kindOf(p.of)
		if p.isName {
			kind += " or int64"
		}
		if p.optional {
			kind += "?"
		}
		inner := p.of
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		isObject := inner.Kind() == reflect.Struct && p.name != "config"
		what := flag.ReplaceAllString(sentence(p.name, p.comment), "`$0`")
		if kind == "int64" || kind == "int64?" {
			what = strings.TrimPrefix(what, "the number of ") // a number says that by its type
		}
		if first := told[inner]; isObject && first != "" {
			what += ". Its fields are those of `" + first + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+p.name, kind, what)
		if isObject && told[inner] == "" {
			told[inner] = prefix + p.name
			d.addFields(t, b, told, prefix+p.name+".", inner)
		}
	}
}

// capture is a field of pages of web archives. The page about rows describes them once, for all outputs.
var capture = regexp.MustCompile(`^(\w+_)?(url|date)(_[ab])?$`)

// flag is a flag of the command in a sentence.
var flag = regexp.MustCompile(`--[a-z-]+`)

// kindOf returns the type of a field in plain words, as Parquet has it.
func kindOf(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "string"
		}
		if of.Elem().Kind() == reflect.Struct {
			return "list of objects"
		}
		return "list of " + kindOf(of.Elem())
	case reflect.Array:
		return fmt.Sprintf("%d × %s", of.Len(), kindOf(of.Elem()))
	case reflect.Struct:
		return "object"
	case reflect.Map:
		return "object of " + kindOf(of.Elem())
	case reflect.Float64:
		return "double"
	case reflect.Int:
		return "int64"
	case reflect.Bool:
		return "boolean"
	}
	return of.Kind().String()
}

func TestOf(t *testing.T) {
	for _, name := range append(slices.Clone(Documents), "") {
		var of struct {
			Title string
		}
		content, err := Of(name)
		if err == nil {
			err = json.Unmarshal(content, &of)
		}
		if err != nil || of.Title != name {
			t.Errorf("%q: title %q (%v)", name, of.Title, err)
		}
	}
	if _, err := Of("unique"); err == nil || !strings.Contains(err.Error(), "name one of clusters, pairs") {
		t.Errorf("no schema: %v", err)
	}
}
