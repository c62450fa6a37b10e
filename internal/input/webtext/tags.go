package webtext

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"
)

type tag struct {
	aside hiding // it holds what is not the main text
	hides hiding // what it holds is not seen
	shows hiding // what it holds is the main text all the same
	rules rules
	ends  []*tag // open elements that it ends where it begins
}

func (t *tag) is(r rules) bool { return t.rules&r != 0 }

// asideElements are the elements that hold what is not the main text.
var asideElements = map[hiding]string{
	menus: "nav", headers: "header", footers: "footer", sidebars: "aside", forms: "form",
	others: "textarea button menu dialog figcaption", controls: "select",
}

// unshown are elements whose text is seen if a script, a plug-in or a device is missing, or a script shows it.
const unshown = "noscript template object canvas audio video"

// asideRoles are roles (WAI-ARIA landmarks) that say the same of any element, as in pages that Sphinx makes.
var asideRoles = map[string]hiding{
	"banner": headers, "complementary": sidebars, "contentinfo": footers, "form": forms, "search": forms,
	"menu": menus, "menubar": menus, "navigation": menus, "dialog": others, "alertdialog": others, "main": mainRole,
}

// asideNames are classes and ids that say the same, for pages without such elements and roles.
var asideNames = map[string]hiding{
	"footer":      footers,
	"site-footer": footers,
	"page-footer": footers,
	"main-footer": footers,
	"sidebar":     sidebars,
	"widget-area": sidebars,
	"nav":         menus,
	"navbar":      menus,
	"navigation":  menus,
	"breadcrumb":  menus,
	"breadcrumbs": menus,
}

var tags = makeTags()

func makeTags() map[string]*tag {
	table := map[string]*tag{}
	at := func(name string) *tag {
		if table[name] == nil {
			table[name] = new(tag)
		}
		return table[name]
	}
	for why, names := range asideElements {
		for name := range strings.FieldsSeq(names) {
			at(name).aside = why
		}
	}
	for name := range strings.FieldsSeq(unshown) {
		at(name).hides = gone
	}
	at("datalist").hides = gone | controls
	at("main").shows, at("article").shows = asides, forms
	at(svgText).rules = isBreaking
	addRules(at)
	for name := range strings.FieldsSeq("bdo desc metadata annotation annotation-xml") {
		at(name) // which has no rules
	}
	return table
}

// other stands for every element that is not in the table.
var other = new(tag)

const longestName = len("annotation-xml")

// svgText is the element of SVG that holds a line of text.
const svgText = "text"

// untold is what SVG and MathML say to those who do not see them.
var untold = &tag{hides: gone}

// tagOf is the element of a raw tag where it is: some names have another meaning in SVG and MathML.
func (h *htmlText) tagOf(raw []byte) *tag {
	t := tagOf(raw)
	switch isForeign := h.elements.isForeign(); {
	case t == tags[svgText] && !isForeign:
		return other
	case isForeign && (t == pageTitle || t == tags["desc"] || t == tags["metadata"] || t == tags["annotation"] ||
		t == tags["annotation-xml"]):
		return untold
	}
	return t
}

// tagOf returns the element of a raw tag, after its opening bracket.
func tagOf(raw []byte) *tag {
	name, n := nameOf(raw)
	if t := tags[string(name[:n])]; t != nil {
		return t
	}
	return other
}

// nameOf returns the name of a raw tag, after its opening bracket, in small letters, or the beginning of a long one.
func nameOf(raw []byte) (name [longestName + 2]byte, n int) {
	for ; n < min(len(raw), len(name)); n++ {
		c := raw[n]
		if c == '>' || c == '/' || isSpace(c) {
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		name[n] = c
	}
	return name, n
}

// asideOf returns why an element holds what is not the main text, by its start tag; 0 if it may hold it. Of several
// roles the first one counts.
func (t *tag) asideOf(raw []byte) hiding {
	if t.aside != 0 || !t.is(isHolding) {
		return t.aside
	}
	tag := upToEnd(raw)
	if why := asideRoles[string(bytes.ToLower(attributeOf(tag, "role")))]; why != 0 {
		return why
	}
	return cmp.Or(asideNamed(tag, "class="), asideNamed(tag, "id="))
}

// asideNamed returns what the names in an attribute of a tag say, the first one that says something.
func asideNamed(tag []byte, attribute string) hiding {
	at := bytes.Index(tag, []byte(attribute))
	if at <= 0 || !isSpace(tag[at-1]) {
		return 0
	}
	value := tag[at+len(attribute):]
	if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
		value, _, _ = bytes.Cut(value[1:], value[:1])
	} else if end := bytes.IndexFunc(value, unicode.IsSpace); end >= 0 {
		value = value[:end]
	}
	for name := range bytes.FieldsSeq(value) {
		if why := asideNames[string(name)]; why != 0 {
			return why
		}
	}
	return 0
}
