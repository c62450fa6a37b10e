package webtext

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// frames are the elements that show a page of their own, with the attributes that may hold it.
var frames = map[string][]string{
	"iframe": {"srcdoc", "src"}, "frame": {"src"}, "embed": {"src"}, "object": {"data"}, "img": {"src"},
}

// unbroken removes what browsers remove from addresses.
var unbroken = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// mayHoldFrames reports whether a page may have such an element, which few have. An address may be written in
// references to characters.
func mayHoldFrames(page []byte) bool {
	for {
		at := bytes.IndexByte(page, '<')
		if at < 0 || at+1 == len(page) {
			return false
		}
		page = page[at+1:]
		if strings.IndexByte("ifeo", page[0]|' ') < 0 {
			continue
		}
		tag := upToEnd(page)
		end := max(bytes.IndexFunc(tag, func(r rune) bool { return r == '/' || r <= ' ' }), 0)
		name := strings.ToLower(string(tag[:end]))
		if _, is := frames[name]; !is {
			continue
		}
		signs := []string{"srcdoc", "data:", "&#", "&colon"}
		if name == "img" {
			signs = []string{"data:image/svg"}
		}
		address := strings.ToLower(unbroken.Replace(string(tag)))
		if slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(address, sign) }) {
			return true
		}
	}
}

// mostNested is how many frames within each other are read.
const mostNested = 8

// withFrames returns a page with the pages in its frames put before these, if they are part of it.
func withFrames(page []byte, depth int) []byte {
	if depth == mostNested || !mayHoldFrames(page) {
		return page
	}
	tokens, whole := html.NewTokenizer(bytes.NewReader(page)), make([]byte, 0, len(page)+len(page)/4)
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return whole
		}
		start := len(whole)
		whole = append(whole, tokens.Raw()...)
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, _ := tokens.TagName()
		attributes, is := frames[string(name)]
		if !is {
			continue
		}
		if content, box := frameOf(tokens, attributes); len(content) > 0 {
			frame := bytes.Clone(whole[start:])
			whole = append(append(whole[:start], box...), withFrames(content, depth+1)...)
			whole = append(append(whole, "</div>"...), frame...)
		}
	}
}

// frameOf returns the page in a frame, nothing if it is not part of the tag, and the start tag of a box with what may
// hide the frame. The first of the attributes that is there counts.
func frameOf(tokens *html.Tokenizer, attributes []string) (content []byte, box string) {
	box, best := "<div", len(attributes)
	for more := true; more; {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch name := string(key); name {
		case "style", "class", "id", "hidden":
			box += " " + name + `="` + html.EscapeString(string(value)) + `"`
		default:
			if at := slices.Index(attributes, name); at >= 0 && at < best {
				if best = at; name == "srcdoc" {
					content = bytes.Clone(value)
				} else {
					content = ofDataAddress(string(value))
				}
			}
		}
	}
	return content, box + ">"
}

// ofDataAddress returns the page that a data: address is, in UTF-8 and as HTML; nothing if it is none.
func ofDataAddress(address string) []byte {
	head, data, is := strings.Cut(strings.TrimSpace(unbroken.Replace(address)), ",")
	if !is || len(head) < len("data:") || !strings.EqualFold(head[:len("data:")], "data:") {
		return nil
	}
	parameters := strings.Split(strings.ToLower(head[len("data:"):]), ";")
	if plain, err := url.PathUnescape(data); err == nil {
		data = plain
	}
	if strings.TrimSpace(parameters[len(parameters)-1]) == "base64" {
		data = strings.TrimRight(strings.Join(strings.Fields(data), ""), "=")
		decoded, _ := base64.RawStdEncoding.DecodeString(data) // what comes before a fault counts
		data = string(decoded)
	}
	page := Page{Content: []byte(data), MediaType: strings.TrimSpace(parameters[0])}
	for _, parameter := range parameters[1:] {
		if label, is := strings.CutPrefix(strings.TrimSpace(parameter), "charset="); is {
			page.Charset = []byte(label)
		}
	}
	switch {
	case strings.HasSuffix(page.MediaType, "html"), strings.HasSuffix(page.MediaType, "xml"):
		return new(Extractor).decode(page)
	case page.MediaType == "", page.MediaType == "text/plain":
		return []byte(html.EscapeString(string(new(Extractor).decode(page))))
	}
	return nil
}

var shownAttributes = map[*tag][]string{
	input: {"value", "placeholder"}, tags["textarea"]: {"placeholder"}, tags["option"]: {"label"},
	tags["optgroup"]: {"label"},
}

// unwritten are the types of inputs that show neither a value nor a placeholder.
var unwritten = strings.Fields("hidden checkbox radio color range file image")

// noteValue notes an attribute of a tag, unless it has been there before.
func (h *htmlText) noteValue(key, value []byte) {
	if _, has := h.values[string(key)]; has {
		return
	} else if h.values == nil {
		h.values = map[string]string{}
	}
	h.values[string(key)] = string(value)
}

// showAttributes adds the text that the attributes of a tag show, unless that is hidden. It returns what the attributes
// show although the element hides it, such as a shadow root.
func (h *htmlText) showAttributes(t *tag, raw []byte, hides hiding) (shows hiding) {
	if t == template && len(attributeOf(upToEnd(raw), "shadowrootmode")) > 0 {
		return gone
	}
	names := shownAttributes[t]
	if len(names) == 0 || hides&unseen&^h.floor.void != 0 {
		return 0
	}
	kind := strings.ToLower(h.values["type"])
	if slices.Contains(unwritten, kind) {
		return 0
	}
	for _, name := range names {
		if value := h.values[name]; value != "" && !(kind == "password" && name == "value") {
			h.space = true
			h.addText([]byte(value))
			h.space = true
			return 0
		}
	}
	return 0
}

func hasNoRoom(tag []byte) bool {
	return isNought(string(attributeOf(tag, "width"))) || isNought(string(attributeOf(tag, "height")))
}

var template = tags["template"]

var (
	contents = regexp.MustCompile(`^:(?:\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))+`)
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
)

// addTexts adds the texts that a style sheet puts before and behind elements, a line for each, if they have letters.
func (s *sheet) addTexts(content []byte) {
	if s.bytes > mostSheetBytes {
		return
	}
	const property = "content"
	for at := 0; ; at++ {
		colon := bytes.IndexByte(content[at:], ':')
		if colon < 0 {
			return
		}
		at += colon
		before := bytes.TrimRight(content[:at], " \t\n\f\r")
		name := before[max(len(before)-len(property), 0):]
		if !strings.EqualFold(string(name), property) {
			continue
		}
		if above := before[:len(before)-len(name)]; len(above) > 0 {
			if c := above[len(above)-1]; c == '_' || isLetterOrDigit(c) {
				continue // such as align_content
			}
		}
		rule := contents.Find(content[at:])
		at += max(len(rule)-1, 0)
		line := ""
		for _, text := range quoted.FindAll(rule, -1) {
			line += plainStyle(text[1 : len(text)-1])
		}
		if strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) }) >= 0 {
			s.texts = append(append(s.texts, strings.Join(strings.Fields(line), " ")...), '\n')
		}
	}
}
