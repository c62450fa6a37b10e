package webtext

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

const (
	// metaBytes is how far into a page its own label is looked for. Standards ask for it in the first 1,024 bytes; many
	// pages have scripts before it.
	metaBytes = 8 << 10
	// sampleBytes is how much of a page a charset is guessed from. The detector takes some 60 ms for 1 MB.
	sampleBytes = 16 << 10
)

const utf8Name = "utf-8"

// byteOrderMarks begin a page and name its encoding for sure.
var byteOrderMarks = []struct{ mark, name string }{
	{"\xef\xbb\xbf", utf8Name}, {"\xfe\xff", "utf-16be"}, {"\xff\xfe", "utf-16le"},
}

// Charset returns the encoding that a label names, and its name in HTML. Of UTF-8 the encoding is nil. Labels that HTML
// replaces by an empty page for safety, such as ISO-2022-KR, are not known here.
func Charset(label string) (e encoding.Encoding, name string, known bool) {
	switch e, name = charset.Lookup(label); name {
	case "", "replacement", "x-user-defined":
		return nil, "", false
	case utf8Name:
		return nil, name, true
	}
	return e, name, true
}

// Marked returns the name of the charset that a byte order mark at the beginning of a text tells, or "".
func Marked(text []byte) string {
	for _, b := range byteOrderMarks {
		if bytes.HasPrefix(text, []byte(b.mark)) {
			return b.name
		}
	}
	return ""
}

// fewBad is how many characters of UTF-8 must stand next to one bad byte in a text of UTF-8.
const fewBad = 4

// Guess returns the name of the charset of a text without a byte order mark, by its beginning. A text is UTF-8 as well
// if few of its characters beyond ASCII are bad.
func Guess(text []byte) string {
	if isValid(text) {
		return utf8Name
	}
	good, bad := 0, 0
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case r >= utf8.RuneSelf:
			good++
		}
		rest = rest[n:]
	}
	if good >= fewBad*bad {
		return utf8Name
	}
	name, _ := new(Extractor).guess(text)
	return name
}

// encodingOf returns the encoding of a page, nil for UTF-8, and its content after a byte order mark.
func (e *Extractor) encodingOf(page Page) (encoding.Encoding, []byte) {
	content := page.Content
	for _, b := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(content, []byte(b.mark)); ok {
			found, _, _ := Charset(b.name)
			return found, rest
		}
	}
	isUTF8 := isValid(content)
	if isUTF8 && !shifts(content) {
		return nil, content
	}
	for _, label := range []string{string(page.Charset), metaLabel(page)} {
		if found, _, known := Charset(label); known && found != nil {
			return found, content
		}
	}
	if isUTF8 {
		return nil, content
	}
	_, found := e.guess(content)
	return found, content
}

// shifts reports whether a text has bytes that occur in other encodings and not in text of UTF-8: escape in
// ISO-2022-JP, zero in UTF-16.
func shifts(content []byte) bool {
	return bytes.IndexByte(content, 0x1b) >= 0 || bytes.IndexByte(content, 0) >= 0
}

// isValid reports whether a text is UTF-8. Its last character may be cut.
func isValid(text []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		last := text[len(text)-n:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				text = text[:len(text)-n]
			}
			break
		}
	}
	return utf8.Valid(text)
}

func metaLabel(page Page) string {
	head := page.Content[:min(len(page.Content), metaBytes)]
	switch formatOf(page) {
	case markup:
		return xmlLabel(head)
	case hypertext:
		return cmp.Or(xmlLabel(head), htmlLabel(head))
	}
	return ""
}

func xmlLabel(head []byte) string {
	declaration, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml"))
	if !ok {
		return ""
	}
	declaration, _, _ = bytes.Cut(declaration, []byte("?>"))
	_, value, _ := bytes.Cut(declaration, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if len(value) == 0 {
		return ""
	}
	value, _, _ = bytes.Cut(value[1:], value[:1])
	return string(value)
}

func htmlLabel(head []byte) string {
	for tokens, name := range headTags(head) {
		for more := name == "meta"; more; {
			var key, value []byte
			key, value, more = tokens.TagAttr()
			if label := labelIn(string(key), value); label != "" {
				return label
			}
		}
	}
	return ""
}

func labelIn(key string, value []byte) string {
	switch key {
	case "charset":
	case "content": // text/html; charset=utf-8
		var ok bool
		if _, value, ok = bytes.Cut(bytes.ToLower(value), []byte("charset")); !ok {
			return ""
		}
		value = bytes.Trim(value, "= \t\"'")
		value, _, _ = bytes.Cut(value, []byte(";"))
	default:
		return ""
	}
	// What can be read as a label of ASCII is no UTF-16.
	if value = bytes.TrimSpace(value); len(value) >= len("utf-16") &&
		bytes.EqualFold(value[:len("utf-16")], []byte("utf-16")) {
		return utf8Name
	}
	return string(value)
}

// likely are the guesses to prefer where several are as good, best first.
var likely = []string{"UTF-8", "GB18030", "Shift_JIS", "EUC-JP", "EUC-KR", "Big5", "windows-1251", "ISO-8859-1"}

// guess returns the encoding that a text without a label most looks like, and its name.
func (e *Extractor) guess(content []byte) (string, encoding.Encoding) {
	first := slices.IndexFunc(content, func(c byte) bool { return c >= utf8.RuneSelf })
	sample := content[max(first, 0):]
	sample = sample[:min(len(sample), sampleBytes)]
	if e.detector == nil {
		e.detector = chardet.NewHtmlDetector()
	}
	guesses, err := e.detector.DetectAll(sample)
	if err != nil {
		guesses = nil
	}
	// The detector gives guesses of equal confidence in the order in which its goroutines end.
	slices.SortFunc(guesses, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(rank(a.Charset), rank(b.Charset)),
			cmp.Compare(a.Charset, b.Charset))
	})
	for _, g := range guesses {
		if found, name, known := Charset(g.Charset); known {
			return name, found
		}
	}
	found, name, _ := Charset("windows-1252")
	return name, found
}

func rank(name string) int {
	if i := slices.Index(likely, name); i >= 0 {
		return i
	}
	return len(likely)
}

func (e *Extractor) decode(page Page) []byte {
	encoding, content := e.encodingOf(page)
	if encoding == nil {
		return content
	}
	decoded, _, err := transform.Append(encoding.NewDecoder(), e.decoded[:0], content)
	if e.decoded = decoded; err != nil {
		return content // decoders replace what is bad, and do not fail
	}
	return decoded
}
