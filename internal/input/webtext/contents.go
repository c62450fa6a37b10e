package webtext

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Contents is all that a page contains, whether a reader sees it or not. A page may hide words from readers, and words
// from programs, in too many ways to list.
type Contents struct {
	// Text has the text of all elements, and of the pages that the page embeds: frames, templates and the like.
	Text []byte
	// Values has what attributes, style sheets and scripts may show: values, placeholders, and literals with spaces.
	Values []byte
	// Asks says that the page may ask for a password: it has such a field, or two fields of text.
	Asks bool
	// IsCut says that many words are cut by tags, so there may be letters within them that no reader sees.
	IsCut bool
	// Marks tell the page from others whatever it says.
	Marks Marks

	marking  marking
	fields   int  // of text
	cuts     int  // tags between two letters
	inLetter bool // the last text ends with a letter
}

// bytesOfCut is the length of the text for each cut, some three words, below which many words are cut.
const bytesOfCut = 18

// Append appends the contents as one value, nothing for none, and [ContentsOf] reads them again.
func (c *Contents) Append(dst []byte) []byte {
	if len(c.Text)+len(c.Values) == 0 {
		return dst
	}
	flags := byte(0)
	if c.Asks {
		flags |= asks
	}
	if c.IsCut {
		flags |= isCut
	}
	if len(c.Marks) == 0 {
		dst = append(dst, flags)
	} else {
		dst = binary.AppendUvarint(append(dst, flags|hasMarks), uint64(len(c.Marks)))
		for _, mark := range c.Marks {
			dst = binary.LittleEndian.AppendUint32(dst, mark)
		}
	}
	return append(append(append(dst, c.Text...), 0), c.Values...)
}

// The flags of a value.
const (
	asks = 1 << iota
	isCut
	hasMarks
)

// ContentsOf returns the contents of a value, whose memory they share.
func ContentsOf(value []byte) (c Contents) {
	if len(value) == 0 {
		return c
	}
	flags, value := value[0], value[1:]
	c.Asks, c.IsCut = flags&asks != 0, flags&isCut != 0
	if flags&hasMarks != 0 {
		n, size := binary.Uvarint(value)
		value = value[size:]
		c.Marks = make(Marks, n)
		for i := range c.Marks {
			c.Marks[i], value = binary.LittleEndian.Uint32(value), value[4:]
		}
	}
	c.Text, c.Values, _ = bytes.Cut(value, []byte{0})
	return c
}

// Contents reads all that a page contains into c, whose buffers it uses. Nothing is read of a page that is text alone.
func (e *Extractor) Contents(c *Contents, page Page) {
	c.Text, c.Values, c.Asks = c.Text[:0], c.Values[:0], false
	c.fields, c.cuts, c.inLetter = 0, 0, false
	c.marking.reset()
	if e.formatOf(page) != plain {
		c.read(e.decode(page), 0)
	}
	c.Asks, c.IsCut = c.Asks || c.fields >= 2, c.cuts*bytesOfCut > len(c.Text)
	c.Marks = c.marking.finish(c.Asks)
}

func (c *Contents) read(page []byte, depth int) {
	if depth > mostNested {
		return
	}
	for len(page) > 0 {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			at = len(page)
		}
		c.addText(page[:at])
		if page = page[at:]; len(page) == 0 {
			break
		}
		switch page = page[1:]; {
		case bytes.HasPrefix(page, []byte("!--")):
			page = after(page[len("!"):], "-->")
		case bytes.HasPrefix(page, []byte("![CDATA[")):
			page = page[len("![CDATA["):]
		case len(page) > 0 && (page[0] == '!' || page[0] == '?'):
			page = after(page, ">")
		case len(page) > 0 && page[0] == '/':
			c.separate(tagOf(page[1:]))
			page = after(page, ">")
		case len(page) > 0 && (page[0]|' ') >= 'a' && (page[0]|' ') <= 'z':
			page = c.element(page, depth)
		default:
			c.Text = append(c.Text, '<')
		}
	}
	c.Text = append(c.Text, '\n')
}

func (c *Contents) addText(text []byte) {
	if len(text) == 0 {
		return
	}
	isLetter := func(b byte) bool { return b >= utf8.RuneSelf || isLetterOrDigit(b) }
	if c.inLetter && isLetter(text[0]) {
		c.cuts++
	}
	c.inLetter = isLetter(text[len(text)-1])
	c.Text = appendText(c.Text, text)
}

// after returns what follows the next end in a text, nothing if it has none.
func after(text []byte, end string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(end))
	return rest
}

func (c *Contents) separate(t *tag) {
	if n := len(c.Text); t.is(isBreaking) && n > 0 && c.Text[n-1] != '\n' {
		c.Text = append(c.Text, '\n')
	}
}

// element reads a start tag, after its opening bracket, and the source of a script or a style. It returns what follows.
func (c *Contents) element(page []byte, depth int) (rest []byte) {
	t := tagOf(page)
	c.separate(t)
	isField := t == input || t == textarea
	element := page[:past(page, 0, spaces|slash|bracket, false)]
	var kind, name, class []byte
	for key, value := range attributes(page, &rest) {
		if len(value) == 0 {
			continue
		}
		switch string(key) {
		case "value", "placeholder", "alt", "title", "label", "aria-label", "summary":
			c.Values = append(appendText(c.Values, value), '\n')
		case "content", "src", "data", "href":
			c.frame(value, depth)
			if string(key) == "src" || string(key) == "href" && bytes.EqualFold(element, []byte("link")) {
				c.marking.asset(value)
			}
		case "class":
			class = value
		case "name":
			name = value
		case "srcdoc":
			c.read([]byte(html.UnescapeString(string(value))), depth+1)
		case "type":
			kind = value
		case "autocomplete":
			c.Asks = c.Asks || isField && bytes.HasSuffix(value, []byte("password"))
		case "style":
			c.Asks = c.Asks || isField && bytes.Contains(value, []byte("text-security"))
		default: // style sheets and scripts show what is in attributes of any name
			if bytes.HasPrefix(key, []byte("on")) {
				c.literals([]byte(html.UnescapeString(string(value))), depth)
			} else if bytes.HasPrefix(key, []byte("data-")) && bytes.IndexByte(value, ' ') >= 0 {
				c.Values = append(appendText(c.Values, value), '\n')
			}
		}
	}
	c.marking.tag(element, class)
	if isField {
		c.marking.field(name, kind)
	}
	switch kind := string(bytes.ToLower(kind)); {
	case isField && kind == "password":
		c.Asks = true
	case isField && (kind == "" || kind == "text" || kind == "tel" || kind == "number"):
		c.fields++
	case t == script:
		return c.source(rest, "script", func(source []byte) { c.literals(source, depth) })
	case t == style:
		return c.source(rest, "style", func(source []byte) { c.styled(source, depth) })
	}
	return rest
}

var script, textarea = tags["script"], tags["textarea"]

// source reads the source of an element up to its end tag, and returns what follows.
func (c *Contents) source(page []byte, name string, read func([]byte)) []byte {
	rest := behind(page, name)
	end := len(page)
	if len(rest) > 0 {
		end -= len(rest) + len("</")
	}
	read(page[:end])
	return after(rest, ">")
}

// attributes yields the attributes of a start tag, after its opening bracket: names in small letters, the beginnings of
// long ones, and values as they are written. Rest becomes what follows the tag.
func attributes(page []byte, rest *[]byte) func(yield func(key, value []byte) bool) {
	return func(yield func(key, value []byte) bool) {
		var name [16]byte
		at := past(page, 0, spaces|slash|bracket, false)
		for {
			if at = past(page, at, spaces|slash, true); at == len(page) || page[at] == '>' {
				break
			}
			start := at
			at = past(page, at+1, spaces|slash|bracket|equals, false)
			key := page[start:at]
			if at = past(page, at, spaces, true); at == len(page) || page[at] != '=' {
				continue
			}
			at = past(page, at+1, spaces, true)
			start = at
			var value []byte
			if at < len(page) && (page[at] == '"' || page[at] == '\'') {
				end := bytes.IndexByte(page[at+1:], page[at])
				if end < 0 { // the tag does not end
					*rest = nil
					return
				}
				value, at = page[at+1:at+1+end], at+end+2
			} else {
				at = past(page, at, spaces|bracket, false)
				value = page[start:at]
			}
			n := copy(name[:], key)
			for i, c := range name[:n] {
				if c >= 'A' && c <= 'Z' {
					name[i] += 'a' - 'A'
				}
			}
			if !yield(name[:n], value) {
				return
			}
		}
		*rest = page[min(at+1, len(page)):]
	}
}

const (
	spaces = 1 << iota
	slash
	bracket
	equals
)

var parting = [256]byte{
	' ': spaces, '\t': spaces, '\n': spaces, '\r': spaces, '\f': spaces, '/': slash, '>': bracket, '=': equals,
}

// past returns where the next byte is that is not of a kind (or that is, unless isIn).
func past(page []byte, at int, kind byte, isIn bool) int {
	for at < len(page) && (parting[page[at]]&kind != 0) == isIn {
		at++
	}
	return at
}

func (c *Contents) frame(address []byte, depth int) bool {
	at := bytes.Index(address[:min(len(address), 40)], []byte("data:"))
	if at < 0 {
		return false
	}
	head, body, _ := strings.Cut(html.UnescapeString(string(address[at:])), ",")
	if !strings.HasPrefix(head, "data:text/") && !strings.HasPrefix(head, "data:image/svg") &&
		!strings.HasPrefix(head, "data:application/x") {
		return false
	}
	if strings.HasSuffix(head, ";base64") {
		page, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(body)) // what it has decoded up to an error
		c.read(page, depth+1)
	} else if page, err := url.PathUnescape(body); err == nil {
		c.read([]byte(page), depth+1)
	}
	return true
}

// styled reads what a style sheet may show: its literals, wherever they are, since variables pass them on.
func (c *Contents) styled(sheet []byte, depth int) {
	for at := 0; at >= 0; at = bytes.IndexAny(sheet, "\"'") {
		sheet = sheet[at:]
		c.quoted(&sheet, func(literal []byte) {
			if !c.frame(literal, depth) && !bytes.HasPrefix(literal, []byte("data:")) {
				c.Values = append(append(c.Values, literal...), '\n')
			}
		})
	}
}

// literals reads the literals of a script that may be shown: those with spaces, pages, and texts in base 64.
func (c *Contents) literals(source []byte, depth int) {
	quotes := "\"'`"
	for len(source) > 0 {
		at := bytes.IndexAny(source, quotes)
		if at < 0 {
			return
		}
		if source = source[at:]; source[0] == '`' && bytes.IndexByte(source[1:], '`') < 0 {
			source, quotes = source[1:], "\"'"
			continue
		}
		c.quoted(&source, func(literal []byte) {
			switch isSpaced := bytes.IndexByte(literal, ' ') >= 0; {
			case c.frame(literal, depth):
			case bytes.IndexByte(literal, '<') >= 0:
				c.read(literal, depth+1)
			case isSpaced:
				c.Values = append(append(c.Values, literal...), '\n')
			case len(literal) > 40:
				if text, err := base64.StdEncoding.DecodeString(string(literal)); err == nil && utf8.Valid(text) {
					c.read(text, depth+1)
				} else if text, err := url.PathUnescape(string(literal)); err == nil && len(text) < len(literal) {
					c.read([]byte(text), depth+1)
				}
			}
		})
	}
}

// quoted visits the literal that a source begins with, and moves behind it. One that does not end on its line is none.
func (c *Contents) quoted(source *[]byte, visit func(literal []byte)) {
	s := *source
	if len(s) == 0 || s[0] != '"' && s[0] != '\'' && s[0] != '`' {
		return
	}
	isEscaped := false
	for end := 1; end < len(s); end++ {
		switch {
		case s[end] == '\\':
			isEscaped = true
			end++
		case s[end] == '\n' && s[0] != '`':
			*source = s[end:]
			return
		case s[end] == s[0]:
			literal := s[1:end]
			if isEscaped {
				literal = unescaped(string(literal))
			}
			*source = s[end+1:]
			visit(literal)
			return
		}
	}
	*source = nil
}

// unescaped resolves the escapes of a literal. An unknown one is its character.
func unescaped(literal string) (text []byte) {
	for len(literal) > 0 {
		r, _, rest, err := strconv.UnquoteChar(literal, 0)
		if err != nil {
			r, rest = rune(literal[min(1, len(literal)-1)]), literal[min(2, len(literal)):]
		}
		text, literal = utf8.AppendRune(text, r), rest
	}
	return text
}

// appendText appends a text with its entities resolved, and without zero bytes.
func appendText(dst, text []byte) []byte {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	if bytes.IndexByte(text, '&') >= 0 {
		return append(dst, html.UnescapeString(string(text))...)
	}
	return append(dst, text...)
}
