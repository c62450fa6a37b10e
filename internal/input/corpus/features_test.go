package corpus

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func decodeFeatures(line string) (Record, error) {
	return NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}, Features: "features"}).Decode([]byte(line))
}

func TestDecodeFeatures(t *testing.T) {
	name, number := func(name string) [16]byte { return ofString([]byte(name)) }, ofNumber
	for _, test := range []struct {
		line string
		want []Feature
	}{
		{`{"features":[]}`, nil},
		{`{"features":{ }}`, nil},
		{`{"features":[1,18446744073709551615]}`, []Feature{{number(1), 1}, {number(math.MaxUint64), 1}}},
		{
			`{"features" : [ [ 1 , 2.5 ] ,"a", ["b",1e3], ["c"] ] }`,
			[]Feature{{number(1), 2.5}, {name("a"), 1}, {name("b"), 1000}, {name("c"), 1}},
		},
		{`{"features":{"a":1,"b" : 0.25 , "":3}}`, []Feature{{name("a"), 1}, {name("b"), .25}, {name(""), 3}}},
		{`{"features":["\u0061","]"," , "]}`, []Feature{{name("a"), 1}, {name("]"), 1}, {name(" , "), 1}}},
		{`{"text":5,"features":[2]}`, []Feature{{number(2), 1}}},
		{`{"features":[7,7]}`, []Feature{{number(7), 1}, {number(7), 1}}},
	} {
		got, err := decodeFeatures(test.line)
		if err != nil || fmt.Sprint(got.Features) != fmt.Sprint(test.want) || got.Texts != nil {
			t.Errorf("%s: %+v, error %v; want %v", test.line, got, err, test.want)
		}
	}
	for _, test := range []struct{ line, want string }{
		{`{"text":"a"}`, `field "features" is missing: a document needs an array or an object of features there`},
		{`{"features":"a"}`, `field "features" is a string: a document needs an array or an object of features there`},
		{`{"features":[1,-1]}`, `feature 1 of field "features" is -1: a hash is a whole number of 64 bits`},
		{`{"features":[1.5]}`, `feature 0 of field "features" is 1.5: a hash is a whole number of 64 bits`},
		{
			`{"features":[18446744073709551616]}`,
			`feature 0 of field "features" is 18446744073709551616: a hash is a whole number of 64 bits`,
		},
		{`{"features":[null]}`, `feature 0 of field "features" is null: it must be a string or the number of its hash`},
		{
			`{"features":[[[1],2]]}`,
			`feature 0 of field "features" is an array: it must be a string or the number of its hash`,
		},
		{`{"features":[[]]}`, `feature 0 of field "features" is an empty array`},
		{`{"features":[["a",0]]}`, `feature 0 of field "features" has the weight 0: it must be a number above 0`},
		{`{"features":{"a":"b"}}`, `feature 0 of field "features" has the weight "b": it must be a number above 0`},
		{`{"features":{"a":1e999}}`, `feature 0 of field "features" has the weight 1e999: it must be a number above 0`},
		{`{"features":[["a",1,2]]}`, `feature 0 of field "features" is an array of more than a feature and its weight`},
		{`{"features":[1,]}`, `malformed JSON: no value at byte 15 of the line, before "]"`},
		{`{"features":[1],"id":[]}`, `field "id" is an array: an id is a string or a number`},
	} {
		if _, err := decodeFeatures(test.line); err == nil || err.Error() != test.want {
			t.Errorf("%s: error\n\t%v, want\n\t%v", test.line, err, test.want)
		}
	}
}

// TestDecodeTexts reads several fields. Some may be missing.
func TestDecodeTexts(t *testing.T) {
	d := NewJSONDecoder(Fields{ID: "id", Texts: []string{"title", "text"}})
	for _, test := range []struct{ line, want string }{
		{`{"text":"a","title":"b","id":1}`, `["b" "a"]`},
		{`{"text":"a\n","title":"b\t"}`, `["b\t" "a\n"]`},
		{`{"text":"a"}`, `["" "a"]`},
		{`{"title":"b","text":null}`, `["b" ""]`},
		{`{"title":"","id":"x"}`, `["" ""]`},
	} {
		if got, err := d.Decode([]byte(test.line)); err != nil || fmt.Sprintf("%q", got.Texts) != test.want {
			t.Errorf("%s: %q, error %v; want %s", test.line, got.Texts, err, test.want)
		}
	}
	for _, test := range []struct{ line, want string }{
		{
			`{"id":1}`,
			`field "title" is missing, and so are the other text fields: a document needs a string in one of them`,
		},
		{`{"text":"a","title":1}`, `field "title" is a number: a document needs a string there`},
	} {
		if _, err := d.Decode([]byte(test.line)); err == nil || err.Error() != test.want {
			t.Errorf("%s: error\n\t%v, want\n\t%v", test.line, err, test.want)
		}
	}
}

// FuzzDecodeFeatures compares with encoding/json.
func FuzzDecodeFeatures(f *testing.F) {
	for _, features := range []string{
		`[1,[2,.5],"a",["b",1e3],["c"]]`, `{"a":1,"b":0.25}`, ` [ [ 1 , 2 ] ] `, `[[],{}]`, `[-1]`, `"a"`,
		`{"\u00":1}`, `[[1,2,3]]`, `[1e2]`, `[["\ud83d",1]]`,
	} {
		f.Add(features)
	}
	f.Fuzz(func(t *testing.T, features string) {
		line := `{"features":` + features + `}`
		got, err := decodeFeatures(line)
		if err == nil && isLenient([]byte(line), false) {
			return
		}
		var record struct {
			Features any `json:"features"`
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		if jsonErr := decoder.Decode(&record); jsonErr != nil {
			if err == nil && decoder.InputOffset() == int64(len(line)) {
				t.Fatalf("%s: read as %v, encoding/json says %v", line, got.Features, jsonErr)
			}
			return
		}
		switch list := record.Features.(type) {
		case []any:
			if err == nil && len(got.Features) != len(list) && !strings.Contains(features, `features`) {
				t.Fatalf("%s: %d features, want %d", line, len(got.Features), len(list))
			}
		case map[string]any:
			if err == nil && len(got.Features) < len(list) {
				t.Fatalf("%s: %d features, want at least %d", line, len(got.Features), len(list))
			}
		default:
			if err == nil {
				t.Fatalf("%s: read as %v", line, got.Features)
			}
		}
		for _, feature := range got.Features {
			if err == nil && !(feature.Weight > 0) {
				t.Fatalf("%s: weight %g", line, feature.Weight)
			}
		}
	})
}

// TestFeaturesBesideTexts: a document has its text, and features if there are any.
func TestFeaturesBesideTexts(t *testing.T) {
	d := NewJSONDecoder(Fields{Texts: []string{"text"}, Features: "features", Beside: true})
	for line, want := range map[string]string{
		`{"text":"a b","features":[7,[8,2]]}`: fmt.Sprint("a b ", []Feature{{ofNumber(7), 1}, {ofNumber(8), 2}}),
		`{"text":"a b","features":[]}`:        "a b []",
		`{"text":"a b","features":null}`:      "a b []",
		`{"text":"","features":[7]}`:          fmt.Sprint(" ", []Feature{{ofNumber(7), 1}}),
		`{"text":"a b"}`:                      "a b []",
	} {
		got, err := d.Decode([]byte(line))
		if err != nil || len(got.Texts) != 1 || fmt.Sprintf("%s %v", got.Texts[0], got.Features) != want {
			t.Errorf("%s: %q %v, %v, want %s", line, got.Texts, got.Features, err, want)
		}
	}
	for _, line := range []string{`{"features":[7]}`, `{"text":5,"features":[7]}`, `{"text":"a","features":"b"}`} {
		if _, err := d.Decode([]byte(line)); err == nil {
			t.Errorf("%s is a document", line)
		}
	}
}
