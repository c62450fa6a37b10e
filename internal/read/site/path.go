package site

import (
	"fmt"
	"slices"
	"strings"
)

// indexes are the names of files that stand for their folders.
var indexes = []string{
	"index.html", "index.htm", "index.xhtml", "index.shtml", "index.php", "index.asp", "index.aspx", "index.jsp", "index.cgi",
	"default.html", "default.htm", "default.asp", "default.aspx",
}

// sessions are the names of parameters that tell visits apart, or ways to the page, and not pages.
var sessions = []string{
	"jsessionid", "phpsessid", "aspsessionid", "sessionid", "session_id", "sid", "cfid", "cftoken", "gclid", "fbclid", "msclkid",
}

// isOfSession reports whether a parameter is about the visit and not the page.
func isOfSession(parameter string) bool {
	name, _, _ := strings.Cut(strings.ToLower(parameter), "=")
	return slices.Contains(sessions, name) || strings.HasPrefix(name, "utm_")
}

// pathOf returns the canonical form of what stands behind a host. It drops the fragment, what belongs to a session, and
// the name of a file that stands for its folder.
func pathOf(text string) string {
	text, _, _ = strings.Cut(text, "#")
	path, query, _ := strings.Cut(text, "?")
	var elements []string
	isFolder := true
	for element := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		element = withoutSession(escaped(element))
		switch element {
		case "", ".":
			isFolder = true
		case "..":
			elements, isFolder = elements[:max(len(elements)-1, 0)], true
		default:
			elements, isFolder = append(elements, element), false
		}
	}
	if n := len(elements); n > 0 && !isFolder && slices.Contains(indexes, strings.ToLower(elements[n-1])) {
		elements, isFolder = elements[:n-1], true
	}
	var b strings.Builder
	for _, element := range elements {
		b.WriteString("/" + element)
	}
	if isFolder && len(elements) > 0 {
		b.WriteString("/")
	}
	if parameters := parametersOf(query); parameters != "" {
		if len(elements) == 0 {
			b.WriteString("/")
		}
		b.WriteString("?" + parameters)
	}
	return b.String()
}

// withoutSession drops the parameters of a session from an element of a path.
func withoutSession(element string) string {
	if !strings.Contains(element, ";") {
		return element
	}
	parts := strings.Split(element, ";")
	return strings.Join(append(parts[:1], slices.DeleteFunc(parts[1:], isOfSession)...), ";")
}

// parametersOf returns the parameters of a query in their alphabetic order, without parameters of a session.
func parametersOf(query string) string {
	var all []string
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter = escaped(parameter); parameter != "" && !isOfSession(parameter) {
			all = append(all, parameter)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "&")
}

// escaped returns a text with only those characters in percent form that have to be: letters, digits and -._~ stand for
// themselves, and other bytes that were in percent form stay so, in capitals. White space and controls get that form.
func escaped(text string) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			byteOf := unhex(text[i+1])<<4 | unhex(text[i+2])
			if i += 2; isUnreserved(byteOf) {
				b = append(b, byteOf)
			} else {
				b = fmt.Appendf(b, "%%%02X", byteOf)
			}
		case c <= ' ' || c == 0x7f || c == '%':
			b = fmt.Appendf(b, "%%%02X", c)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
