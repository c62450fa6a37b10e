package formats

import (
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/webtext"
)

// pageText takes the text of a page for the first text field of a record.
type pageText struct {
	extractor webtext.Extractor
	text      []byte
	texts     [][]byte // further text fields stay empty
}

func newPageText(w corpus.Wanted, mode webtext.Mode) pageText {
	return pageText{extractor: webtext.Extractor{Mode: mode}, texts: make([][]byte, max(len(w.Fields.Texts), 1))}
}

// of returns the text fields for a page, which are valid until the next call.
func (p *pageText) of(page webtext.Page) [][]byte {
	if cap(p.text) > corpus.LongLine {
		p.text = nil // a huge page shall not weigh on the rest of a job
	}
	text, isText := p.extractor.Text(page)
	if !isText {
		p.text = p.extractor.Append(p.text[:0], page)
		text = p.text
	}
	p.texts[0] = text
	return p.texts
}

// The fields that web pages have besides the fields of their records.
const (
	// PasswordInput is true if the page asks for a password.
	PasswordInput = "password_input"
	// Language is the code of the language of the page in ISO 639, such as "en", if the page or its archive says so.
	Language = "language"
	// Canonical is the address that the page names as its original, if it has a host. For a redirect it is where the redirect leads.
	Canonical = "canonical"
	// Markup is a sketch of the markup of the page, see [webtext.AppendMarkup].
	Markup = "markup_sketch"
)

// markupValue returns the value of [Markup], nil if the page has hardly any.
func markupValue(page []byte) []byte { return webtext.AppendMarkup(nil, page) }

// languageValue returns the value of [Language], nil if it is not known. What a page says of itself counts more than what an
// archive has found.
func languageValue(page, found []byte) []byte {
	code := webtext.Language(page)
	if code == "" {
		code = webtext.BaseLanguage(found)
	}
	if code == "" {
		return nil
	}
	return []byte(code)
}

// canonicalValue returns the value of [Canonical], nil if the page names none.
func canonicalValue(page []byte) []byte { return webtext.Canonical(page) }

// passwordValue returns the value of [PasswordInput], nil if the page does not ask for a password.
func passwordValue(page []byte) []byte {
	if webtext.HasPasswordInput(page) {
		return []byte("true")
	}
	return nil
}
