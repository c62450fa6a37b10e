package webtext

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// mayHide reports whether the attributes of a raw tag may hide something.
func mayHide(raw []byte) bool {
	for i := 3; i < len(raw); i++ {
		switch raw[i] | ' ' {
		case 'y': // as in style
			if raw[i-1]|' ' == 't' {
				return true
			}
		case 'd': // as in hidden
			if raw[i-1]|' ' == 'd' {
				return true
			}
		}
	}
	return false
}

// ownHiding reads the attributes of a tag. It returns what its element hides, and what it shows again. An element that
// breaks lines is a box unless its style says otherwise.
func (h *htmlText) ownHiding(tokens *html.Tokenizer, t *tag, raw []byte) (hides, shows hiding) {
	isField := h.asShown && shownAttributes[t] != nil
	if !mayHide(raw) && !h.sheet.hides && !isField {
		return 0, 0
	}
	clear(h.values)
	_, more := tokens.TagName()
	isHidden, styled := false, styleHiding{}
	hasStyle := false
	var id, classes string
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		if isField {
			h.noteValue(key, value)
		}
		switch string(key) {
		case "hidden":
			isHidden = true
		case "aria-hidden":
			if bytes.EqualFold(bytes.TrimSpace(value), []byte("true")) {
				hides |= unspoken
			}
		case "id":
			if h.sheet.hides {
				id = string(value)
			}
		case "class":
			if h.sheet.hides {
				classes = string(value)
			}
		case "style":
			if !hasStyle { // of several the first counts
				styled, hasStyle = h.hidingOf(value), true
			}
		}
	}
	if isHidden && styled.shows&gone == 0 || t.is(isBreaking) && !t.is(isPart) && styled.emptiesBox {
		hides |= gone
	}
	if h.sheet.hides {
		ofSheet, shown := h.sheet.hiding(id, classes)
		hides, styled.shows = hides|ofSheet&^styled.shows, styled.shows|shown&^styled.hides
	}
	return hides | styled.hides, styled.shows
}

// mostStyles is how many styles are remembered, and mostStyleBytes the length of the longest of them.
const mostStyles, mostStyleBytes = 256, 256

type styleHiding struct {
	hides, shows hiding
	// emptiesBox says that the style hides all boxes in an element, but no part of a line or a table.
	emptiesBox bool
}

func (h *htmlText) hidingOf(style []byte) styleHiding {
	if known, is := h.styles[string(style)]; is {
		return known
	}
	of := declarationsOf(style).hiding()
	if h.styles == nil || len(h.styles) == mostStyles {
		h.styles = map[string]styleHiding{}
	}
	if len(style) <= mostStyleBytes {
		h.styles[string(style)] = of
	}
	return of
}

type declarations map[string]string

// declarationsOf reads an attribute style. An important value of a property counts, else the last.
func declarationsOf(style []byte) declarations {
	d, important := declarations{}, map[string]bool{}
	for declaration := range strings.SplitSeq(strings.ToLower(plainStyle(style)), ";") {
		property, value, has := strings.Cut(declaration, ":")
		property = strings.TrimSpace(property)
		value, mark, _ := strings.Cut(value, "!")
		if value = strings.TrimSpace(value); !has || value == "" {
			continue
		}
		if property == "font" {
			property, value = "font-size", sizeOfFont(value)
		}
		if isImportant := strings.TrimSpace(mark) == "important"; isImportant || !important[property] {
			d[property], important[property] = value, isImportant
		}
	}
	return d
}

// sizeOfFont returns the size in a value of the property font: the last number before the family and line height.
func sizeOfFont(value string) string {
	if value == "inherit" {
		return value
	}
	size := "medium"
	for word := range strings.FieldsSeq(value) {
		if word, _, _ = strings.Cut(word, "/"); word == "" {
			break // the height of lines is separate
		}
		if _, _, is := lengthOf(word); is {
			size = word
		}
	}
	return size
}

// plainStyle returns a style without comments, and with the characters that its escapes stand for.
func plainStyle(style []byte) string {
	var b strings.Builder
	for at := 0; at < len(style); {
		switch rest := style[at:]; {
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return b.String()
			}
			at += end + len("/**/")
		case rest[0] == '\\':
			escape := rest[1:min(len(rest), 7)]
			digits := 1 + len(escape) - len(bytes.TrimLeft(escape, "0123456789abcdefABCDEF"))
			if code, err := strconv.ParseUint(string(rest[1:digits]), 16, 32); err == nil {
				b.WriteString(string(utf8.AppendRune(nil, rune(min(code, utf8.MaxRune)))))
				if digits < len(rest) && isSpace(rest[digits]) {
					digits++
				}
			}
			at += digits
		default:
			b.WriteByte(rest[0])
			at++
		}
	}
	return b.String()
}

// hiding returns what a style hides and what it shows: any display but none shows an element with attribute hidden.
func (d declarations) hiding() (of styleHiding) {
	if d["display"] == "none" || isNought(d["opacity"]) || d.isClipped() || d.isMovedAway() {
		of.hides |= gone
	} else if d["display"] != "" {
		of.shows |= gone
	}
	if d.isEmptyBox() {
		switch display := d["display"]; {
		case d.isOutOfLine(),
			display != "" && display != "inline" && display != "contents" && !strings.HasPrefix(display, "table"):
			of.hides |= gone
		case display == "":
			of.emptiesBox = true
		}
	}
	switch d["visibility"] {
	case "hidden", "collapse":
		of.hides |= invisible
	case "visible", "initial":
		of.shows |= invisible
	}
	switch _, unit, is := lengthOf(d["font-size"]); {
	case isTiny(d["font-size"]):
		of.hides |= tiny
	case is && unit != "em" && unit != "%" && unit != "ex" && unit != "ch", strings.HasSuffix(d["font-size"], "medium"),
		strings.HasSuffix(d["font-size"], "small"), strings.HasSuffix(d["font-size"], "large"),
		d["font-size"] == "initial":
		of.shows |= tiny
	}
	switch isClear, isKnown := d.isClear(); {
	case isClear:
		of.hides |= colourless
	case isKnown:
		of.shows |= colourless
	}
	return of
}

// isNought reports whether a value is a number below .1, in whatever unit.
func isNought(value string) bool {
	length, _, is := lengthOf(value)
	return is && length < .1 && length > -.1
}

// lengthOf returns the number that a value begins with, and its unit.
func lengthOf(value string) (length float64, unit string, is bool) {
	end := len(value) - len(strings.TrimLeft(value, "+-.0123456789"))
	length, err := strconv.ParseFloat(value[:end], 64)
	return length, value[end:], err == nil
}
