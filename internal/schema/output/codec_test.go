package output

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/quoting"
)

// FuzzRows: the generated codecs write each row as its tags say, and read a line as encoding/json does. Bit i of empty
// leaves field i of a row empty.
func FuzzRows(f *testing.F) {
	f.Add("a", "b", 0.5, int64(3), uint64(0))
	f.Add("\u009b\xff \u2028\ufffdab", "\\\"", 1e-7, int64(-1), uint64(0x5555))
	f.Add("é", "\x00", 2./3, int64(1)<<53+1, ^uint64(0))
	f.Add("0", "-7", -0.25, int64(math.MinInt64), uint64(1)<<14)
	f.Fuzz(func(t *testing.T, a, b string, x float64, n int64, empty uint64) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		fill := filler{texts: [2]string{quoting.Text(a), quoting.Text(b)}, x: x, n: n}
		for _, kind := range []string{SetPair, PartialPair, RarePair, HammingPair} {
			checkCodec[Pair](t, fill, empty, func(p *Pair) { p.Kind = kind })
		}
		checkCodec[Member](t, fill, empty, nil)
		checkCodec[Removal](t, fill, empty, nil)
		checkCodec[Sketch](t, fill, empty, nil)
		checkCodec[Reject](t, fill, empty, nil)
		checkCodec[Cut](t, fill, empty, nil)
		checkCodec[Change](t, fill, empty, nil)
		checkCodec[Mirror](t, fill, empty, nil)
		checkCodec[Site](t, fill, empty, nil)
		checkCodec[Suspect](t, fill, empty, nil)
		checkCodec[Match](t, fill, empty&^15, nil) // its names are JSON, which is never empty
	})
}

// filler makes the values of fields, no two alike that are next to each other.
type filler struct {
	texts [2]string
	x     float64
	n     int64
	made  int
}

func (f *filler) set(v reflect.Value) {
	f.made++
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.texts[f.made%2])
	case reflect.Int64:
		v.SetInt(f.n + int64(f.made))
	case reflect.Float64:
		v.SetFloat(f.x / float64(f.made))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.set(field)
		}
	case reflect.Slice:
		if raw, is := v.Addr().Interface().(*json.RawMessage); is {
			*raw = quoting.AppendQuoted(nil, f.texts[f.made%2])
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.set(v.Index(0))
		f.set(v.Index(1))
	}
}

func checkCodec[T Row](t *testing.T, fill filler, empty uint64, change func(*T)) {
	t.Helper()
	var row, want, got T
	of := reflect.ValueOf(&row).Elem()
	hasList := false
	for i := range of.NumField() {
		if empty>>i&1 == 0 {
			fill.set(of.Field(i))
			hasList = hasList || of.Field(i).Kind() == reflect.Slice
		}
	}
	if change != nil {
		change(&row)
	}
	line := row.AppendJSON(nil, Names{})
	if declared := append(appendDeclared(nil, of), '\n'); !bytes.Equal(line, declared) {
		t.Errorf("%T is written as %s, want %s", row, line, declared)
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	fill.set(reflect.ValueOf(&got).Elem().Field(0)) // what the row was before
	if plain, is := any(&got).(plainRow); is {
		if is := plain.parsePlain(line); is != !(hasList || bytes.Contains(line, []byte{'\\'})) {
			t.Errorf("%s: read by itself: %v", line, is)
		}
	}
	if err := parseRow(line, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v (%v)", line, got, want, err)
	}
}

// appendDeclared appends a value as the tags of its type say, by reflection.
func appendDeclared(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return quoting.AppendQuoted(b, v.String())
	case reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Float64:
		return AppendFloat(b, v.Float())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return append(b, v.Bytes()...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendDeclared(b, v.Index(i))
		}
		return append(b, ']')
	}
	if span, is := v.Interface().(Span); is {
		text, _ := json.Marshal(SpanJSON{
			[2]int64{span.ABegin, span.AEnd},
			[2]int64{span.BBegin, span.BEnd},
			span.Words,
		})
		return append(b, text...)
	}
	separator := byte('{')
	for field, value := range v.Fields() {
		name, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !isWritten(v, value, omit != "", field.Tag.Get("with")) {
			continue
		}
		b = append(b, separator, '"')
		b = append(b, name...)
		separator = ','
		b = appendDeclared(append(b, `":`...), value)
	}
	return append(b, '}')
}

func isWritten(row, value reflect.Value, omits bool, with string) bool {
	kind, isKind := strings.CutPrefix(with, "Kind")
	other, isWithout := strings.CutPrefix(with, "!")
	switch {
	case isKind:
		kinds := map[string]string{"PartialPair": PartialPair, "HammingPair": HammingPair}
		name, isNot := strings.CutPrefix(kind, "!")
		return (row.FieldByName("Kind").String() == kinds[strings.TrimPrefix(name, "=")]) != isNot
	case with != "":
		return row.FieldByName(other).IsZero() == isWithout
	}
	return !omits || !value.IsZero()
}
