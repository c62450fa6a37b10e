// Package mediatype recognizes bytes that are no text. It ignores what a server or the name of a file says of them.
package mediatype

import (
	"bytes"
	"net/http"
	"strings"
)

// Unknown is the type of bytes that are no text and of no known type.
const Unknown = "application/octet-stream"

const sample = 16 << 10

// mostControls is the largest share of control characters in a text: 1 in this many bytes. One byte of nine is one
// where all bytes are as frequent, as in what is compressed.
const mostControls = 32

// further are the first bytes of types that package net/http does not know.
var further = []struct{ magic, name string }{
	{"\x28\xb5\x2f\xfd", "application/zstd"},
	{"\xfd7zXZ\x00", "application/x-xz"},
	{"BZh", "application/x-bzip2"},
	{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
	{"\x1f\x9d", "application/x-compress"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"},
	{"\x7fELF", "application/x-elf"},
}

// OfNonText returns the media type of a content that is no text: by its first bytes, or by its share of control
// characters. It returns "" for text, which may be in any charset.
func OfNonText(content []byte) string {
	head := content[:min(len(content), sample)]
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return "application/pdf" // the only one that may be all letters
	}
	controls := controlsOf(head)
	if controls == 0 {
		return "" // "BM" and "OTTO" begin words, too
	}
	for _, known := range further {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.name
		}
	}
	name, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case name != Unknown && !strings.HasPrefix(name, "text/"):
		return name
	case controls*mostControls > len(head):
		return Unknown
	}
	return ""
}

// controlsOf counts the bytes that no text has: control characters but for white space, backspace and escape, which
// charsets of Japanese have. The zero bytes of UTF-16 and UTF-32 do not count.
func controlsOf(text []byte) (controls int) {
	zeros, odd := 0, 0
	for i, c := range text {
		switch {
		case c == 0:
			zeros++
			odd += i & 1
		case c < ' ' && (c < '\b' || c > '\r') && c != 0x1b, c == 0x7f:
			controls++
		}
	}
	even := zeros - odd
	if isUTF16 := 4*zeros >= len(text) && 16*min(even, odd) <= zeros; isUTF16 {
		return controls
	}
	isUTF32 := len(text) >= 8 && 2*zeros >= len(text) &&
		(bytes.Count(text[:4], []byte{0}) == 3 || bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")))
	if isUTF32 {
		return controls
	}
	return controls + zeros
}
