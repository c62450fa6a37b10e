package corpus

import (
	"testing"
)

// TestDecodeOthers: a value is told apart from the lack of one, and an empty one from both.
func TestDecodeOthers(t *testing.T) {
	d := NewJSONDecoder(Fields{ID: "id", Texts: []string{"text"}, Others: []string{"a", "of.b", "id"}})
	for _, c := range []struct {
		line string
		want [3]any // nil where there is no value
	}{
		{`{"text":"t"}`, [3]any{nil, nil, nil}},
		{`{"text":"t","id":"i","a":"","of":{"b":"x\ty"}}`, [3]any{"", "x\ty", "i"}},
		{`{"text":"t","id":7,"a":-1.50e3,"of.b":true}`, [3]any{"-1.50e3", "true", "7"}},
		{`{"text":"t","id":null,"a":null,"of":{"b":NaN}}`, [3]any{nil, nil, nil}},
		{`{"text":"t","a":{"x": [1]},"of":{"b":[ ]}}`, [3]any{`{"x": [1]}`, `[ ]`, nil}},
		{`{"text":"t","a":false,"of":{}}`, [3]any{"false", nil, nil}},
		{`{"text":"t","a":"\u0041","of":[{"b":1}]}`, [3]any{"A", nil, nil}},
	} {
		got, err := d.Decode([]byte(c.line))
		if err != nil || len(got.Others) != len(c.want) {
			t.Errorf("%s: %d values, error %v", c.line, len(got.Others), err)
			continue
		}
		for i, value := range got.Others {
			if c.want[i] == nil && value != nil || c.want[i] != nil && (value == nil || string(value) != c.want[i]) {
				t.Errorf("%s: value %d is %q, want %q", c.line, i, value, c.want[i])
			}
		}
	}
}

// TestDecodeOthersDoesNotAllocate: further fields cost no memory for each line.
func TestDecodeOthersDoesNotAllocate(t *testing.T) {
	d := NewJSONDecoder(Fields{Texts: []string{"text"}, Others: []string{"a", "b"}})
	line := []byte(`{"a":"\u0041","b":2.5,"text":"some words"}`)
	if n := testing.AllocsPerRun(100, func() { d.Decode(line) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
