package corpus

import (
	"strings"
	"testing"
)

// TestJSONLists: strings of a list, and fields of the objects of a list, are one text with line ends between them, as
// in columns.
func TestJSONLists(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"text":["one","two"]}`, "one\ntwo"},
		{`{"text":[["o\"ne"],null,["two",""]]}`, "o\"ne\ntwo\n"},
		{`{"text":["","b"]}`, "\nb"},
		{`{"text":[]}`, `!field "text" is null`},
		{`{"text":[null]}`, `!field "text" is null`},
		{`{"text":["a",1]}`, `!field "text" is an array`},
		{`{"text":["a",{"b":"c"}]}`, `!field "text" is an array`},
		{`{"messages":[{"role":"user","content":"a"},{"content":"b\u0041"},{"content":null},{}]}`, "a\nbA"},
		{`{"messages":[[{"content":"a"}],[{"content":["b","c"]}]]}`, "a\nb\nc"},
		{
			`{"messages":[{"content":[{"text":"a"},{"text":"b"}]},{"content":[{"text":"c"}]}]}`,
			"!field \"messages.content\" is an array",
		},
		{`{"messages":[{"content":"a"},{"content":7}]}`, `!field "messages.content" is a number`},
		{`{"messages":[{"content":null}]}`, `!field "messages.content" is null`},
		{`{"messages":[{"role":"user"}]}`, `!field "messages.content" is missing`},
		{`{"messages":[{"content":"a"}`, `!malformed JSON`},
		{
			`{"messages":[{"content":"a"},{"content":"b"}],"messages":[{"content":"c"}]}`,
			`!field "messages.content" occurs twice`,
		},
	} {
		name := "text"
		if strings.Contains(c.line, "messages") {
			name = "messages.content"
		}
		r, err := NewJSONDecoder(Fields{Texts: []string{name}, ID: "messages.role"}).Decode([]byte(c.line))
		want, isError := strings.CutPrefix(c.want, "!")
		switch {
		case isError && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %s", c.line, err, want)
		case !isError && (err != nil || string(r.Texts[0]) != want || r.HasID):
			t.Errorf("%s: %q, id %q, %v", c.line, r.Texts, r.ID, err)
		}
	}
	deep := `{"messages":[{"content":[{"text":"a"},{"text":"b"}]},{"content":[{"text":"c"}]}]}`
	r, err := NewJSONDecoder(Fields{Texts: []string{"messages.content.text"}}).Decode([]byte(deep))
	if err != nil || string(r.Texts[0]) != "a\nb\nc" {
		t.Errorf("%q, %v", r.Texts, err)
	}
}

// TestJSONListsAreNotCut: where texts are cut out of lists would not be known.
func TestJSONListsAreNotCut(t *testing.T) {
	cutter := NewJSONCutter(Fields{Texts: []string{"text"}})
	if _, err := cutter.Cut(nil, nil, []byte(`{"text":["one two","three"]}`), []Cut{{Begin: 0, End: 3}}); err == nil ||
		!strings.Contains(err.Error(), "list of strings") {
		t.Errorf("error %v", err)
	}
}
