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
		if bytes.EqualFold(attributeOf(upToEnd(rest), "type"), []byte("password")) {
			return true
		}
	}
}
