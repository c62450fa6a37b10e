// Package webtext turns web pages into text: it finds the charset of a page and takes the text out of its markup.
//
//	extractor := webtext.Extractor{Mode: webtext.Main}
//	text = extractor.Append(text[:0], webtext.Page{Content: body, MediaType: "text/html", Charset: label})
//
// # Charsets
//
// A byte order mark decides. A page that is valid UTF-8 is UTF-8, whatever its label says: text in another charset is
// hardly ever valid by chance, and a label often comes from a server that does not know. For the others the label of
// the server counts, then the label of the page itself, but not a label UTF-8. Without one the page is guessed: 16 KiB
// of it, from the first byte on that is not ASCII, most look like some charset, which may be UTF-8 with bad bytes. In
// UTF-8 bad bytes stay as they are. In another charset they become U+FFFD.
//
// # Text
//
// Tags that begin and end blocks are line ends, white space is one space, and entities are resolved. The title comes
// first. Scripts and the like are left out, and so is text that attributes, styles and simple rules of style sheets
// hide. Plain text passes as it is. Of XML all text between tags is taken, a line for each element.
//
// With [Main], menus, headers, footers, forms and asides go, by their names or their roles, and so do blocks that are
// mostly links, short lines next to these, and what comes behind the main text.
//
// Each of these rules has a floor: if less than half of the prose of a page is left, the rule that leaves out most does
// not hold for that page. A page that is wrapped in one form is no form, and an article that a script shows is hidden
// until then.
package webtext

import (
	"bytes"
	"strings"

	"github.com/gogs/chardet"
)

// Mode says which text of a page is wanted.
type Mode string

const (
	// All is all text that a reader could see.
	All Mode = "all"
	// Main leaves out what the pages of a site have in common.
	Main Mode = "main"
)

// MainVersion is raised when [Main] takes another text of a page: then states of such texts are refused.
const MainVersion = 2

// Form says how the text in a field of a record is written.
type Form string

const (
	Plain Form = "plain"
	// HTML is a web page, or a part of one.
	HTML Form = "html"
)

// Page is a page as a server sent it.
type Page struct {
	Content []byte
	// MediaType is its type in lower case, such as "text/html". An empty one is taken for HTML.
	MediaType string
	// Charset is the label that the server gave, in any case; empty if it gave none.
	Charset []byte
}

// Extractor takes the text out of pages. It keeps its buffers, and is not for concurrent use. The zero value is ready.
type Extractor struct {
	// Mode says which text is wanted; empty stands for [All].
	Mode Mode
	// AsShown takes all that a browser shows of a page: the pages in its frames (srcdoc and data: addresses),
	// declarative shadow roots, SVG and MathML, what fields of forms show, and the texts of style sheets.
	AsShown bool
	// Source is the last page in UTF-8, with the pages in its frames if AsShown is set, until the next call.
	Source []byte
	// Title is the title of the last page, as [TitleWords] has it, in UTF-8. It is empty for a page that is text alone.
	Title    []byte
	html     htmlText
	decoded  []byte
	detector *chardet.Detector
}

const keepBytes = 8 << 20

// Text returns the text of a page that is text alone, in UTF-8, and whether it is. The text is part of the page or of
// the Extractor, and valid until the next call.
func (e *Extractor) Text(page Page) ([]byte, bool) {
	if e.Title, e.Source = nil, page.Content; e.formatOf(page) != plain {
		return nil, false
	}
	if cap(e.decoded) > keepBytes {
		e.decoded = nil
	}
	return e.decode(page), true
}

// AppendInside appends the text in the elements of a page with one of the names, in UTF-8, a line for each.
func (e *Extractor) AppendInside(dst []byte, page Page, names []string) []byte {
	return AppendInside(dst, e.decode(page), names)
}

// Append appends the text of a page, in UTF-8.
func (e *Extractor) Append(dst []byte, page Page) []byte {
	content := e.decode(page)
	format := e.formatOf(page)
	if e.AsShown && format == hypertext {
		content = withFrames(content, 0)
	}
	e.Source, e.html.asShown = content, e.AsShown
	if e.Title = nil; format != plain {
		e.Title = TitleWords(content)
	}
	switch format {
	case plain:
		dst = append(dst, content...)
	case markup:
		dst = e.html.appendXML(dst, content)
	default:
		dst = e.html.append(dst, content, e.Mode)
	}
	if cap(e.decoded) > keepBytes {
		e.decoded = nil
	}
	return dst
}

type format uint8

const (
	plain     format = iota // text alone
	markup                  // XML
	hypertext               // HTML
)

// formatOf tells the format of a page. As browsers show them, SVG and all vocabularies of XML may hold HTML.
func (e *Extractor) formatOf(page Page) format {
	if e.AsShown && strings.HasSuffix(page.MediaType, "xml") && (page.MediaType == "image/svg+xml" ||
		bytes.Contains(page.Content[:min(len(page.Content), 1<<10)], []byte("/1999/xhtml"))) {
		return hypertext
	}
	return formatOf(page)
}

// formatOf tells the format by the media type. XHTML is often sent as XML.
func formatOf(page Page) format {
	switch name := page.MediaType; {
	case name == "", name == "text/html", strings.HasSuffix(name, "xhtml+xml"):
		return hypertext
	case strings.HasSuffix(name, "xml"), name == "text/vnd.wap.wml":
		head := page.Content[:min(len(page.Content), 1<<10)]
		if bytes.Contains(head, []byte("<html")) {
			return hypertext
		}
		return markup
	}
	return plain
}
