package documents

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestValueName: a table shows values as they are, up to a length, and always as valid UTF-8.
func TestValueName(t *testing.T) {
	long := strings.Repeat("x", mostNameBytes)
	for value, want := range map[string]string{
		"":                                    emptyValue,
		"example.org":                         "example.org",
		"17":                                  "17",
		"a\xffb":                              "a\ufffdffb",
		long:                                  long,
		long + "x":                            long + "…",
		long[1:] + "é":                        long[1:] + "…",
		long[2:] + "é":                        long[2:] + "é",
		long[3:] + "😀 and more":               long[3:] + "…",
		long[5:] + "\xff\xbf\xbf\xbf\xbf\xbf": "",
	} {
		got := string(valueName([]byte(value)))
		if want != "" && got != want || !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, want %q", value, got, want)
		}
	}
	if got := string(valueName(nil)); got != NoValue {
		t.Errorf("no value is shown as %q", got)
	}
}
