package webtext

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// mostHeadBytes is how much of a page is searched for its title and for the address of its original.
const mostHeadBytes = 1 << 16

// Canonical returns the address that a web page names as its original, in <link rel="canonical">. It is empty if the
// page names none, or none with a host.
func Canonical(page []byte) []byte {
	head := page[:min(len(page), mostHeadBytes)]
	if !bytes.Contains(bytes.ToLower(head), []byte("canonical")) {
		return nil
	}
	for tokens, name := range headTags(head) {
		isCanonical, address := false, []byte(nil)
		for more := name == "link"; more; {
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
	return nil
}

// headTags yields the start tags of a page and their names, up to its body: links and titles behind that do not count.
func headTags(page []byte) iter.Seq2[*html.Tokenizer, string] {
	return func(yield func(*html.Tokenizer, string) bool) {
		tokens := html.NewTokenizer(bytes.NewReader(page))
		for {
			switch tokens.Next() {
			case html.ErrorToken:
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				if name, _ := tokens.TagName(); string(name) == "body" || !yield(tokens, string(name)) {
					return
				}
			}
		}
	}
}

// TitleWords returns the title of a web page without its numbers, so that the titles of two versions of a page are one.
// It is empty if the page has no title, or nothing but numbers in it.
func TitleWords(page []byte) []byte {
	for tokens, name := range headTags(page[:min(len(page), mostHeadBytes)]) {
		if name != "title" || bytes.HasSuffix(tokens.Raw(), []byte("/>")) {
			continue
		}
		if tokens.Next() != html.TextToken {
			return nil
		}
		words := bytes.FieldsFunc(tokens.Text(), func(r rune) bool {
			return r == '.' || unicode.IsDigit(r) || unicode.IsSpace(r)
		})
		return bytes.Join(words, []byte(" "))
	}
	return nil
}

// TitleElements and HeadingElements contain texts that a user may weigh.
var (
	TitleElements   = []string{"title"}
	HeadingElements = []string{"h1", "h2", "h3", "h4", "h5", "h6"}
)

// endsHeading are the elements that end a heading that nothing else ends.
var endsHeading = []string{"body", "p", "div", "section", "article", "ul", "ol", "table", "form"}

// AppendInside appends the text in the elements of a web page that have one of the names, a line for each.
func AppendInside(dst, page []byte, names []string) []byte {
	tokens, isInside := html.NewTokenizer(bytes.NewReader(page)), false
	for {
		token := tokens.Next()
		switch token {
		case html.ErrorToken:
			return dst
		case html.TextToken:
			if isInside {
				dst = append(dst, tokens.Text()...)
			}
		case html.StartTagToken, html.EndTagToken:
			tag, _ := tokens.TagName()
			name := string(tag)
			isWanted := slices.Contains(names, name)
			if isInside && (isWanted || slices.Contains(endsHeading, name)) {
				dst, isInside = append(dst, '\n'), false
			}
			if isWanted {
				isInside = token == html.StartTagToken
			}
			if name == "body" && names[0] == TitleElements[0] {
				return dst // a title behind it is of a picture
			}
		}
	}
}

// HasPasswordInput reports whether the source of a web page has a field for a password.
func HasPasswordInput(page []byte) bool {
	for tag := range tagsNamed(page, "input") {
		if bytes.EqualFold(attributeOf(tag, "type"), []byte("password")) {
			return true
		}
	}
	return false
}

// Language returns the language that a web page says its text is in, as [BaseLanguage] does.
func Language(page []byte) string {
	for tag := range tagsNamed(page[:min(len(page), mostTagBytes)], "html") {
		if lang := attributeOf(tag, "lang"); len(lang) > 0 {
			return BaseLanguage(lang)
		}
		return BaseLanguage(attributeOf(tag, "xml:lang"))
	}
	return ""
}

// tagsNamed yields the tags of a page whose names begin with the given one, from their names to their ends.
func tagsNamed(page []byte, name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			_, rest, found := bytes.Cut(page, []byte("<"))
			if !found {
				return
			}
			page = rest
			if len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], []byte(name)) && !yield(upToEnd(rest)) {
				return
			}
		}
	}
}

// BaseLanguage returns the code of a language in ISO 639, of two letters if there is such a code, of three otherwise:
// "en" for "en-GB" and "eng". It is empty for what is no language. Of a list it takes the first one.
func BaseLanguage(tag []byte) string {
	if at := bytes.IndexAny(tag, "-_,; "); at >= 0 {
		tag = tag[:at]
	}
	base, err := language.ParseBase(string(tag))
	switch code := base.String(); {
	case err != nil, code == "und", code == "mul", code == "zxx":
		return ""
	default:
		return code
	}
}
