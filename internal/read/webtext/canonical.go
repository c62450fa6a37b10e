package webtext

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// mostHeadBytes is how much of a page is searched for the address of its original.
const mostHeadBytes = 1 << 16

// Canonical returns the address that a web page names as its original, in <link rel="canonical">. It is empty if the page names
// none, or none with a host.
func Canonical(page []byte) []byte {
	head := page[:min(len(page), mostHeadBytes)]
	if !bytes.Contains(bytes.ToLower(head), []byte("canonical")) {
		return nil
	}
	tokens := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			if string(name) == "body" {
				return nil // links behind it do not count
			}
			isLink, isCanonical, address := string(name) == "link", false, []byte(nil)
			for isLink && more {
				var key, value []byte
				key, value, more = tokens.TagAttr()
				switch string(key) {
				case "rel":
					isCanonical = slices.Contains(strings.Fields(strings.ToLower(string(value))), "canonical")
				case "href":
					address = bytes.TrimSpace(value)
				}
			}
			if isCanonical && (bytes.Contains(address, []byte("://")) || bytes.HasPrefix(address, []byte("//"))) {
				return bytes.Clone(address)
			}
		}
	}
}
