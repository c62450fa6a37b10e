package quoting

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

// TestAppendStringIsJSON: a row reads back as the text of the name, and no character in it controls a
// terminal.
func TestAppendStringIsJSON(t *testing.T) {
	check := func(s string) bool {
		row := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(row, &got); err != nil {
			return false
		}
		return got == string(AppendText(nil, s)) && strings.IndexFunc(string(row), IsControl) < 0
	}
	for _, s := range []string{
		"", "plain", `a "quote" \ and`, "tab\t", "<&>", "größe 漢", "bad \xff byte", "\u2028",
		"\x1b[31m", "DEL \x7f", "CSI \u009b31m", "\u202egpj", "\u2066isolated", "\r\n\b\x00",
	} {
		if !check(s) {
			t.Errorf("AppendString(%q) = %s", s, AppendString(nil, s))
		}
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

// TestIsPlain: a special byte is seen wherever it is, whatever is next to it.
func TestIsPlain(t *testing.T) {
	special := func(c byte) bool { return c < ' ' || c == '"' || c == '\\' || c >= 0x7f }
	for length := 1; length <= 17; length++ {
		for at := range length {
			for c := range 256 {
				for _, beside := range []string{" ", "!", "#", "[", "]", "~"} {
					text := []byte(strings.Repeat(beside, length))
					text[at] = byte(c)
					if got := isPlain(text); got == special(byte(c)) {
						t.Fatalf("isPlain(%q) = %v", text, got)
					}
				}
			}
		}
	}
	bytewise := func(s string) bool { return !slices.ContainsFunc([]byte(s), special) }
	if err := quick.CheckEqual(isPlain[string], bytewise, &quick.Config{MaxCount: 10_000}); err != nil {
		t.Error(err)
	}
}

func TestAppendText(t *testing.T) {
	for s, want := range map[string]string{
		"":                      "",
		"größe 漢 😀":             "größe 漢 😀",
		"\xff":                  "\ufffdff",
		"\xfe":                  "\ufffdfe",
		"caf\xe9 au lait":       "caf\ufffde9 au lait",
		"\xe6\xbc":              "\ufffde6\ufffdbc",
		"a replaced \ufffd one": "a replaced \ufffd one",
		"\ufffdFF":              "\ufffdFF",
		"\ufffdf":               "\ufffdf",
		"\ufffdff":              "\ufffdef\ufffdbf\ufffdbdff",
		"\ufffd\xff":            "\ufffd\ufffdff",
	} {
		if got := string(AppendText([]byte("before "), []byte(s))); got != "before "+want {
			t.Errorf("AppendText(%q) = %q, want %q", s, got, want)
		}
	}
}

// textOf undoes AppendText. That it exists shows that different strings stay different.
func textOf(text string) string {
	var b []byte
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && startsWithHex(text[i+size:]) {
			c, _ := strconv.ParseUint(text[i+size:i+size+2], 16, 8)
			b = append(b, byte(c))
			i += size + 2
			continue
		}
		b = append(b, text[i:i+size]...)
		i += size
	}
	return string(b)
}

// checkText checks that AppendText gives UTF-8 that textOf can undo, and that it leaves plain strings alone.
func checkText(t *testing.T, s string) {
	t.Helper()
	text := string(AppendText(nil, s))
	if !utf8.ValidString(text) || textOf(text) != s {
		t.Errorf("%q is written as %q, which is read as %q", s, text, textOf(text))
	}
	if utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError) && text != s {
		t.Errorf("%q is written as %q", s, text)
	}
}

// TestAppendTextKeepsNamesApart tries the strings that matter to the rule.
func TestAppendTextKeepsNamesApart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"\ufffd", "\xef", "\xbf", "\xbd", "\xff", "e", "f", "b", "d", "F", "0", "é", "\xf0\x9f"}
	for range 20_000 {
		var s strings.Builder
		for range random.IntN(9) {
			s.WriteString(parts[random.IntN(len(parts))])
		}
		checkText(t, s.String())
	}
}

func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"", "\xff", "\ufffd", "\ufffdff", "\ufffd\xff", "\xef\xbf"} {
		f.Add(s)
	}
	f.Fuzz(checkText)
}

// FuzzOriginal: a row's text leads back to the string that it was written for.
func FuzzOriginal(f *testing.F) {
	for _, s := range []string{
		"", "plain", "caf\xe9", "\ufffd", "\ufffdab", "\xffab", "\ufffd\ufffdab\xef\xbf",
		"\ufffda\xe9",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Original(Text(s)); got != s {
			t.Errorf("%q came back as %q, from %q", s, got, Text(s))
		}
	})
}

// BenchmarkAppendQuoted quotes an id as long as ids of documentation are.
func BenchmarkAppendQuoted(b *testing.B) {
	id := "openjdk-17-doc:api/java.base/java/io/class-use/BufferedInputStream.html"
	var row []byte
	for b.Loop() {
		row = AppendQuoted(row[:0], id)
	}
	b.SetBytes(int64(len(id)))
}
