package mediatype

import (
	"bytes"
	"compress/flate"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestOfNonText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<12)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var deflated bytes.Buffer
	w, _ := flate.NewWriter(&deflated, 6)
	for range 200 {
		w.Write([]byte(strings.Repeat("words ", random.IntN(9)) + string(rune('a'+random.IntN(26)))))
	}
	w.Close()
	after := string(noise)
	for content, want := range map[string]string{
		"":                    "",
		"<html>a page</html>": "",
		"BMW, OTTO and ID3 begin a text of letters": "",
		"%PDF-1.4\nall letters":                     "application/pdf",
		"%PDF-1.7\n%\xe2\xe3\xcf\xd3" + after:       "application/pdf",
		"\xff\xd8\xff\xe0\x00\x10JFIF" + after:      "image/jpeg",
		"\x89PNG\r\n\x1a\n\x00\x00" + after:         "image/png",
		"GIF89a\x01\x00" + after:                    "image/gif",
		"PK\x03\x04\x14\x00" + after:                "application/zip",
		"\x1f\x8b\x08\x00" + after:                  "application/x-gzip",
		"\x28\xb5\x2f\xfd\x04\x00" + after:          "application/zstd",
		"\xfd7zXZ\x00\x00" + after:                  "application/x-xz",
		"wOF2\x00\x01\x00\x00" + after:              "font/woff2",
		"\x00\x01\x00\x00\x00\x0f" + after:          "font/ttf",
		after:                                       Unknown,
		deflated.String():                           Unknown,
		strings.Repeat("\x00", 100):                 Unknown,
		"<html>" + strings.Repeat("some words with \x01 one control in many ", 40): "",
		"caf\xe9 au lait \x93quoted\x94":                                           "",
		"\x1b$B%F%9%H\x1b(B":                                                       "",
		"\x93\xfa\x96\x7b\x8c\xea\x83\x65\x83\x58\x83\x67":                         "",
		inUTF16("a page of UTF-16, with \u00e9 and \u4e2d\u6587", "\xff\xfe"):      "",
		inUTF16("a page of UTF-16 that has no mark of its order at all", ""):       "",
		inUTF32("a page of UTF-32"):                                                "",
	} {
		if got := OfNonText([]byte(content)); got != want {
			t.Errorf("%.30q: %q, want %q", content, got, want)
		}
	}
}

func inUTF16(text, mark string) string {
	b := []byte(mark)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func inUTF32(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r), byte(r>>8), byte(r>>16), 0)
	}
	return string(b)
}
