package transforms

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// TestParametersTravel: every parameter of every DoFn comes through the encoding of Beam, and
// so do paths that are not UTF-8. Of two fields of one name JSON would drop both.
func TestParametersTravel(t *testing.T) {
	declared := declaredFns(t)
	for _, registered := range doFns {
		fn := reflect.New(reflect.TypeOf(registered).Elem()).Interface()
		number := 0
		fill(reflect.ValueOf(fn).Elem(), &number)
		if number == 0 {
			t.Errorf("%T has no parameter", fn)
		}
		checkTravels(t, fn, reflect.New(reflect.TypeOf(fn).Elem()).Interface())
		delete(declared, reflect.TypeOf(fn).Elem().Name())
	}
	for name := range declared {
		t.Errorf("%s is not registered", name)
	}
	checkTravels(t, &work.Outcome{
		Stage:    "key",
		Run:      path,
		Findings: worktest.Counted(findings.Counts{Documents: 7}),
		Files:    []output.File{{Name: "n", Temporary: "t"}},
	}, &work.Outcome{})
}

// declaredFns returns the names of all DoFns that the sources of this package declare.
func declaredFns(t *testing.T) map[string]bool {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^(?:type |\t)(\w+Fn) +struct\b`).FindAllSubmatch(text, -1) {
			names[string(match[1])] = true
		}
	}
	if len(names) < 50 {
		t.Fatalf("only %d DoFns are declared", len(names))
	}
	return names
}

const path = "/tmp/caf\xe9/\xff"

// fill gives every exported field that travels a value of its own. Pointers are made again by
// each worker.
func fill(v reflect.Value, number *int) {
	if v.Type() == reflect.TypeFor[sketch.Normalization]() { // travels as names
		v.Set(reflect.ValueOf(sketch.Normalization{NFKC: true}))
		return
	}
	if v.Type() == reflect.TypeFor[sketch.Code]() { // travels as words
		v.Set(reflect.ValueOf(sketch.Code{Language: sketch.AutoLanguage, Names: true}))
		return
	}
	switch *number++; v.Kind() {
	case reflect.Struct:
		*number--
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || field.Anonymous {
				fill(v.Field(i), number)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), number)
		fill(v.Index(1), number)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *number))
		if v.Type() == reflect.TypeFor[work.Path]() {
			v.SetString(fmt.Sprint(path, *number))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*number) / 4)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*number))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*number))
	case reflect.Pointer:
	default:
		panic(fmt.Sprint("a parameter of kind ", v.Kind()))
	}
}

// checkTravels encodes a value into another one.
func checkTravels(t *testing.T, from, to any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil || !reflect.DeepEqual(from, to) {
		t.Errorf("%s made %+v, want %+v (%v)", b, to, from, err)
	}
}
