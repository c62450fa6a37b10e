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
		for attribute := range bytes.FieldsFuncSeq(tag, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '/' }) {
			name, value, _ := bytes.Cut(attribute, []byte("="))
			if bytes.EqualFold(name, []byte("type")) && bytes.EqualFold(bytes.Trim(value, `"'`), []byte("password")) {
				return true
			}
		}
	}
}
