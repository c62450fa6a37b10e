package webtext

import (
	"bytes"

	"golang.org/x/text/language"
)

// Language returns the language that a web page says its text is in, as [BaseLanguage] does.
func Language(page []byte) string {
	head := page[:min(len(page), mostTagBytes)]
	for {
		_, rest, found := bytes.Cut(head, []byte("<"))
		if !found {
			return ""
		}
		if head = rest; len(rest) < len("html") || !bytes.EqualFold(rest[:len("html")], []byte("html")) {
			continue
		}
		tag := upToEnd(rest)
		if lang := attributeOf(tag, "lang"); len(lang) > 0 {
			return BaseLanguage(lang)
		}
		return BaseLanguage(attributeOf(tag, "xml:lang"))
	}
}

// BaseLanguage returns the code of a language in ISO 639, of two letters if there is such a code, of three otherwise: "en" for
// "en-GB" and "eng". It is empty for what is no language. Of a list it takes the first one.
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
