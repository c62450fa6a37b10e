package corpus

import (
	"encoding/json"
	"testing"
)

func TestKeyFinder(t *testing.T) {
	finder := NewKeyFinder([]string{"kept", "cluster"})
	for line, want := range map[string]string{
		`{"text":"kept","cluster":1,"kept":2}`:                "cluster",
		` {"k\u0065pt" : {} }`:                                "kept",
		`{"in":{"kept":1},"list":[{"kept":2}],"Kept":"kept"}`: "",
		`{}`: "", `[{"kept":1}]`: "", ``: "", `{"kept"`: "", `{"x":}`: "",
	} {
		if got := finder.Find([]byte(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// FuzzKeyFinder: in a line that encoding/json reads it finds a field if that library does.
func FuzzKeyFinder(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":2}],"k\u0065pt":null}`))
	f.Add([]byte(`{"kept":1,"kept":2}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		finder := NewKeyFinder([]string{"kept"})
		got := finder.Find(line)
		var fields map[string]json.RawMessage
		if json.Unmarshal(line, &fields) != nil || fields == nil {
			return
		}
		if _, has := fields["kept"]; has != (got == "kept") {
			t.Errorf("%s: %q", line, got)
		}
	})
}
