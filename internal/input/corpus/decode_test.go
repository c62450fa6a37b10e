package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// decodeAs decodes a line with the usual field names.
func decodeAs(line string) (Record, error) {
	return NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}}).Decode([]byte(line))
}

// textOf returns the text of a record that has one text.
func textOf(r Record) string {
	if len(r.Texts) == 0 {
		return ""
	}
	return string(r.Texts[0])
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		line, id, text string
	}{
		{`{"id":"a","text":"b"}`, "a", "b"},
		{" \t{ \"text\" : \"b\" , \"id\" : \"a\" } \r", "a", "b"},
		{`{"text":""}`, "", ""},
		{`{"id":null,"text":"b"}`, "", "b"},
		{`{"id":NaN,"text":"b"}`, "", "b"},
		{`{"id":"","text":"b"}`, "", "b"},
		{`{"id":123456789012345678901234567890,"text":"b"}`, "123456789012345678901234567890", "b"},
		{`{"id":-0.10e+5 ,"text":"b"}`, "-0.10e+5", "b"},
		{`{"a":1,"text":"b","a":2,"of":{"text":"c","text":"d"}}`, "", "b"},
		{`{"Text":"no","TEXT":"no","text":"yes","ID":5}`, "", "yes"},
		{`{"t\u0065xt":"b","\u0069\u0064":"a"}`, "a", "b"},
		{`{"nested":{"text":"no","id":"no","a":[{"text":"no"}]},"text":"yes"}`, "", "yes"},
		{`{"text":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00"}`, "", "\"\\/\b\f\n\r\tAé€😀"},
		{`{"text":"\\"}`, "", `\`},
		{`{"text":"\\\""}`, "", `\"`},
		{`{"text":"\"a\"\"b\"","id":"\"\""}`, `""`, `"a""b"`},
		{`{"text":"a\ud83db"}`, "", "a\ufffdb"},
		{`{"text":"\ud83d\u0041"}`, "", "\ufffdA"},
		{`{"text":"\ud83d\ud83d\ude00"}`, "", "\ufffd😀"},
		{`{"text":"\ude00\ud83d"}`, "", "\ufffd\ufffd"},
		{`{"text":"\uD83D\uDE00\uFFFD"}`, "", "😀\ufffd"},
		{"{\"text\":\"\xff\xc3\xa9\xed\xa0\x80\"}", "", "\xff\xc3\xa9\xed\xa0\x80"},
		{"{\"text\":\"raw\ttab and \x00 zero\"}", "", "raw\ttab and \x00 zero"},
		{`{"a":[],"b":{},"c":[[],[{}],{"d":[1,-2.5E-3,true,false,null,"\u0000"]}],"e":-Infinity,"f":[NaN,Infinity],"text":"b"}`, "", "b"},
		{`{"text":"b","deep":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, "", "b"},
	} {
		got, err := decodeAs(test.line)
		if err != nil || string(got.ID) != test.id || textOf(got) != test.text || got.HasID != (test.id != "") {
			t.Errorf("%.100s: id %q (%v), text %q, error %v; want %q and %q", test.line, got.ID, got.HasID,
				textOf(got), err, test.id, test.text)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{``, `malformed JSON: no value at the end of the line`},
		{`hello`, `malformed JSON: no value at byte 0 of the line, before "h"`},
		{`[{"text":"b"}]`, `the line is an array, not an object`},
		{`[1,`, `malformed JSON: no value at the end of the line`},
		{`"text"`, `the line is a string, not an object`},
		{`12 `, `the line is a number, not an object`},
		{`true`, `the line is a boolean, not an object`},
		{`null`, `the line is null, not an object`},
		{`NaN`, `the line is not a finite number, not an object`},
		{`{}`, `field "text" is missing: a document needs a string there`},
		{`{"text":null}`, `field "text" is null: a document needs a string there`},
		{`{"text":1}`, `field "text" is a number: a document needs a string there`},
		{`{"text":{"text":"b"}}`, `field "text" is an object: a document needs a string there`},
		{`{"text":["b", 1]}`, `field "text" is an array: a document needs a string there`},
		{`{"text":"b","text":false}`, `field "text" occurs twice: leave one of them`},
		{`{"id":1,"text":null,"te\u0078t":"b","id":2}`, `field "text" occurs twice: leave one of them`},
		{`{"id":1,"text":"b","id":1}`, `field "id" occurs twice: leave one of them`},
		{`{"id":{},"text":"b"}`, `field "id" is an object: an id is a string or a number`},
		{`{"id":[1],"text":"b"}`, `field "id" is an array: an id is a string or a number`},
		{`{"id":true,"text":"b"}`, `field "id" is a boolean: an id is a string or a number`},
		{`{"text":"b"`, `malformed JSON: neither a comma nor a closing bracket after a value at the end of the line`},
		{`{"text":"b"}}`, `malformed JSON: more than one value at byte 12 of the line, before "}"`},
		{
			`{"text":"b"} {"text":"c"}`,
			`malformed JSON: more than one object, which are all lost, and --format json reads them, at byte 13 of the line, before "{"`,
		},
		{`{"text":"b",}`, `malformed JSON: no field name in quotes at byte 12 of the line, before "}"`},
		{`{"text" "b"}`, `malformed JSON: no colon after a field name at byte 8 of the line, before "\""`},
		{`{"text":}`, `malformed JSON: no value at byte 8 of the line, before "}"`},
		{`{"text":"b`, `malformed JSON: no closing quote at the end of the line`},
		{`{"text":"b\"}`, `malformed JSON: no closing quote at the end of the line`},
		{`{"text":"b\`, `malformed JSON: no closing quote at the end of the line`},
		{`{'text':'b'}`, `malformed JSON: no field name in quotes at byte 1 of the line, before "'"`},
		{`{"text":"\x"}`, `malformed JSON: unknown escape sequence at byte 9 of the line, before "\\"`},
		{`{"text":"\u12g4"}`, `malformed JSON: \u without four hexadecimal digits at byte 9 of the line, before "\\"`},
		{`{"text":"\u12"}`, `malformed JSON: \u without four hexadecimal digits at byte 9 of the line, before "\\"`},
		{`{"a":01,"text":"b"}`, `malformed JSON: number with a leading zero at byte 5 of the line, before "0"`},
		{
			`{"a":1.,"text":"b"}`,
			`malformed JSON: number without digits after the point at byte 5 of the line, before "1"`,
		},
		{
			`{"a":1e,"text":"b"}`,
			`malformed JSON: number without digits in its exponent at byte 5 of the line, before "1"`,
		},
		{`{"a":-,"text":"b"}`, `malformed JSON: no value at byte 5 of the line, before "-"`},
		{
			`{"a":[1 2],"text":"b"}`,
			`malformed JSON: neither a comma nor a closing bracket after a value at byte 8 of the line, before "2"`,
		},
		{
			`{"a":[1},"text":"b"}`,
			`malformed JSON: neither a comma nor a closing bracket after a value at byte 7 of the line, before "}"`,
		},
		{`{"a":tru,"text":"b"}`, `malformed JSON: no value at byte 5 of the line, before "t"`},
		{
			`{"text":"b","a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
			`malformed JSON: nested deeper than 10000 at byte 10015 of the line, before "["`,
		},
		{
			`{"text":"b","a":` + strings.Repeat(`{"a":[`, 100_000),
			`malformed JSON: nested deeper than 10000 at byte 30015 of the line, before "["`,
		},
		{
			strings.Repeat("[", 1_000_000),
			`malformed JSON: nested deeper than 10000 at byte 9999 of the line, before "["`,
		},
		{"\xef\xbb\xbf{}", `malformed JSON: no value at byte 0 of the line, before "\xef"`},
	} {
		if _, err := decodeAs(test.line); err == nil || err.Error() != test.want {
			t.Errorf("%.60s: error\n\t%v, want\n\t%v", test.line, err, test.want)
		}
	}
}

func TestDecodeFieldNames(t *testing.T) {
	const line = `{"":"empty","a.b":"dotted","url":"u"}`
	for _, test := range []struct {
		fields   Fields
		id, text string
	}{
		{Fields{ID: "url", Texts: []string{"url"}}, "u", "u"},
		{Fields{ID: "", Texts: []string{"a.b"}}, "", "dotted"},
		{Fields{ID: "a.b", Texts: []string{""}}, "dotted", "empty"},
	} {
		got, err := NewJSONDecoder(test.fields).Decode([]byte(line))
		if err != nil || string(got.ID) != test.id || textOf(got) != test.text {
			t.Errorf("%+v: id %q, text %q, error %v", test.fields, got.ID, textOf(got), err)
		}
	}
	_, err := NewJSONDecoder(Fields{Texts: []string{strings.Repeat("x", 1000)}}).Decode([]byte(line))
	if err == nil || len(err.Error()) > 150 {
		t.Errorf("error %v, want a short one", err)
	}
}

// TestDecodeAgain uses one decoder for many lines. No line may leave a trace in the next, and none may be
// written to.
func TestDecodeAgain(t *testing.T) {
	d := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}})
	for _, line := range []string{
		`{"id":"\n1","text":"\t2"}`, `{"text":"plain"}`, `{"text":`, `{"id":5,"text":"\u0041"}`, `{"id":[[`,
		`{"text":"","x":"\\"}`,
	} {
		bytesOfLine := []byte(line)
		got, gotErr := d.Decode(bytesOfLine)
		want, wantErr := decodeAs(line)
		if fmt.Sprintf("%q %q %v %v", got.ID, textOf(got), got.HasID, gotErr) !=
			fmt.Sprintf("%q %q %v %v", want.ID, textOf(want), want.HasID, wantErr) {
			t.Errorf("%s: %+v, %v; with a new decoder %+v, %v", line, got, gotErr, want, wantErr)
		}
		if string(bytesOfLine) != line {
			t.Errorf("line %s was changed to %s", line, bytesOfLine)
		}
	}
	huge := []byte(`{"text":"\n` + strings.Repeat("x", 3*keepBytes) + `"}`)
	if _, err := d.Decode(huge); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode([]byte(`{"text":"small"}`)); err != nil {
		t.Fatal(err)
	}
	if cap(d.texts[0].buffer) > keepBytes {
		t.Errorf("%d bytes are kept after a huge line", cap(d.texts[0].buffer))
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	d := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}})
	line := []byte(`{"id":"\u0031","text":"a \"quoted\" word","more":{"a":[1,2,"\t"]}}`)
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := d.Decode(line); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations a line", allocs)
	}
}

// FuzzDecode compares with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{
		`{"id":"a","text":"b"}`, `{"id":12.5e-7,"text":"\ud83d\u0041\n","x":[{},[],"\"",null]}`,
		`{"text":"\ud83d\ude00\udead"}`,
		`{"a":{"b":[1,-0,true,false]},"text":"\\\"","te\u0078t":""}`, `[1,{"a":"\/"}]`, `{"a":NaN,"text":"b"}`,
		"{\"text\":\"\xff\\u00e9\xc3\"} ",
		`{"text":"","a":1.0e+5,"a":-0.1E-2}`, `{"id":{},"text":"b"}`, `"\u00"`, `{"a":[[[`, `{"id":"","text":null}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kept := bytes.Clone(line)
		got, err := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}}).Decode(line)
		if !bytes.Equal(kept, line) {
			t.Fatal("the line was changed")
		}
		malformed := err != nil && strings.HasPrefix(err.Error(), "malformed JSON")
		if malformed == json.Valid(line) && !isLenient(line, malformed) {
			t.Fatalf("error %v, but json.Valid is %v", err, json.Valid(line))
		}
		var object map[string]json.RawMessage
		isRepeated := err != nil && strings.Contains(err.Error(), "occurs twice")
		if malformed || isRepeated || json.Unmarshal(line, &object) != nil {
			return
		}
		var text, id *string
		textErr := json.Unmarshal(object["text"], &text)
		if wantsText := textErr == nil && text != nil; !wantsText {
			if err == nil {
				t.Fatalf("text %q where encoding/json has none", textOf(got))
			}
			return
		}
		idRaw := string(object["id"])
		if strings.ContainsAny(idRaw[:min(1, len(idRaw))], "{[tf") != (err != nil) {
			t.Fatalf("id %s: error %v", idRaw, err)
		}
		if err != nil {
			return
		}
		if toValid(textOf(got)) != *text {
			t.Fatalf("text %q, encoding/json has %q", textOf(got), *text)
		}
		want := idRaw
		if json.Unmarshal(object["id"], &id) == nil {
			want = ""
			if id != nil {
				want = *id
			}
		}
		if toValid(got.ID) != want || got.HasID != (want != "") {
			t.Fatalf("id %q (%v), want %q", got.ID, got.HasID, want)
		}
	})
}

// isLenient reports whether a line may be read though encoding/json refuses it.
func isLenient(line []byte, malformed bool) bool {
	return !malformed && (bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' }) ||
		bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")))
}

// toValid replaces each byte that is not UTF-8 by U+FFFD, as encoding/json does.
func toValid[S ~string | ~[]byte](raw S) string { return string([]rune(string(raw))) }

func BenchmarkDecode(b *testing.B) {
	words := strings.Repeat("some words of a text that is read, ", 20)
	many := strings.Repeat(`"field":"value \"x\"","list":[1,2.5,{"text":"decoy"},null,true],`, 4)
	cyrillic := strings.Repeat(`\u0441\u043b\u043e\u0432\u043e `, 100)
	for _, bench := range []struct{ name, line string }{
		{"short", `{"id":"document-1234567","text":"` + words[:300] + `"}`},
		{"long", `{"id":"document-1234567","text":"` + strings.Repeat(words, 10) + `"}`},
		{
			"newlines",
			`{"id":"document-1234567","text":"` + strings.ReplaceAll(strings.Repeat(words, 10), ",", `\n`) + `"}`,
		},
		{
			"quotes",
			`{"id":"document-1234567","text":"` + strings.ReplaceAll(strings.Repeat(words, 10), "words", `\"words\"`) +
				`"}`,
		},
		{"many fields", `{"id":"document-1234567",` + many + `"text":"` + words[:300] + `"}`},
		{"ascii escaped", `{"id":"document-1234567","text":"` + cyrillic + `"}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}})
			line := []byte(bench.line)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, err := d.Decode(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestHugeText: a huge text is unescaped where it is, so it takes no memory in addition to its line. It is what
// encoding/json reads.
func TestHugeText(t *testing.T) {
	text := strings.Repeat("a \"quoted\" word,\n\u00e9 \U0001f600 \u2028", keepBytes/20)
	line, err := json.Marshal(map[string]string{"id": "a\nb", "text": text, "url": "c\td"})
	if err != nil {
		t.Fatal(err)
	}
	line = bytes.ReplaceAll(line, []byte("\U0001f600"), []byte(`\ud83d\ude00`))
	decoder := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}, Others: []string{"url"}})
	record, err := decoder.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if string(record.Texts[0]) != text || string(record.ID) != "a\nb" || string(record.Others[0]) != "c\td" {
		t.Errorf("text of %d bytes, want %d; id %q, url %q", len(record.Texts[0]), len(text), record.ID,
			record.Others[0])
	}
	if held := cap(decoder.texts[0].buffer); held > 0 {
		t.Errorf("the text takes %d bytes more", held)
	}
}
