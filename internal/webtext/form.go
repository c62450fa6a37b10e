package webtext

import "bytes"

// HasPasswordInput reports whether the source of a web page has a field for a password.
func HasPasswordInput(page []byte) bool {
	for {
		_, rest, found := bytes.Cut(page, []byte("<"))
		if !found {
			return false
		}
		if page = rest; len(rest) < len("input") || !bytes.EqualFold(rest[:len("input")], []byte("input")) {
			continue
		}
		tag, _, _ := bytes.Cut(rest, []byte(">"))
		if bytes.EqualFold(attributeOf(tag, "type"), []byte("password")) {
			return true
		}
	}
}
