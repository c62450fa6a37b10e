package corpus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLineEnd: a carriage return ends lines where no newline follows it, and in JSON only between objects.
func TestLineEnd(t *testing.T) {
	for text, want := range map[string]bool{
		"a\rb\rc":               true,
		"a\rb\nc":               true,
		"a\nb\rc":               false,
		"a\r\nb\rc":             false,
		"a\r\r\nb":              false,
		"a":                     false,
		"a\r":                   true,
		"\r\r\na":               false,
		`{"a":1}` + "\r" + `{}`: true,
		ByteOrderMark + `{"a":1} ` + "\r\r " + `{}`:    true,
		`{"a":1,` + "\r" + `"b":2}` + "\n{}":           false,
		`{"a":1,` + "\r" + `"b":2}` + "\r{}":           true,
		`{"a":1}` + "\n{}\r{}":                         false,
		`{"a":1}` + "\r\n{}":                           false,
		`{"a":1}` + "\r":                               false,
		`{"a":` + strings.Repeat("\r", 1<<20) + "1}\n": false, // in no time
	} {
		if got, known := endsWithCR([]byte(text), true); got != want || !known {
			t.Errorf("%.30q: %v, %v", text, got, known)
		}
	}
	if _, known := endsWithCR([]byte("{}\r"), false); known {
		t.Error("what follows a carriage return at the end is known")
	}
}

// TestCarriageReturns: lines that end with a carriage return alone are the same documents as others, wherever the file
// is cut and however it is stored.
func TestCarriageReturns(t *testing.T) {
	for _, first := range []int{10, 5000, 200_000} {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, `{"id":%d,"text":"%s"}`+"\n", i, strings.Repeat("x", first))
			first = 10 + i%50
		}
		feeds := []byte(b.String())
		returns := []byte(strings.ReplaceAll(b.String(), "\n", "\r"))
		plain := store(t, returns)
		want := readAll(t, store(t, feeds), 1<<20)
		for name, got := range map[string]found{
			"plain": readAll(t, plain, 1<<20),
			"cut":   readAll(t, plain, 1<<20, plain.Size/3, plain.Size/2, plain.Size-5),
			"gzip":  readAll(t, store(t, gzipped(t, returns)), 1<<20),
			"zstd":  readAll(t, store(t, zstded(t, returns)), 1<<20),
		} {
			if !slices.Equal(got.Lines, want.Lines) || len(got.Rejects) > 0 {
				t.Errorf("%s: %d lines of %d, %d rejects", name, len(got.Lines), len(want.Lines), len(got.Rejects))
			}
		}
		if !plain.CR {
			t.Error("not noticed when listed")
		}
	}
}
