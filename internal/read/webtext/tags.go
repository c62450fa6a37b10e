package webtext

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// kind is what an element means for the text of a page.
type kind uint8

const (
	// The others only end a line, or not even that.
	_ kind = iota
	// skipped elements hold nothing to read.
	skipped
	// aside elements hold what is not the main text.
	aside
	// link elements lead to other pages.
	link
	// title elements hold the name of the page.
	title
)

// tag is what matters of an element.
type tag struct {
	kind   kind
	breaks bool // it begins and ends a line
	holds  bool // its role may say that it holds what is not the main text
	rules  rules
	ends   []*tag // open elements that it ends where it begins
}

// kinds are the elements that are more than that.
var kinds = map[kind]string{
	skipped: "script style noscript template svg math object canvas iframe noframes noembed audio video datalist",
	aside:   "nav header footer aside form select textarea button menu dialog figcaption",
	link:    "a",
	title:   "title",
}

// breaking are the elements that begin and end a line.
const breaking = `address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset
	figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol
	optgroup option p plaintext pre search section select summary table tbody td textarea tfoot th thead title tr ul xmp`

// holding are the elements whose role counts. All of them need an end tag, so that none hides the rest of the page.
const holding = "div section ul ol dl table"

// asideRoles are the roles (WAI-ARIA landmarks) that say of any element what the names of aside elements say. Pages of
// generators such as Sphinx have them.
var asideRoles = []string{"banner", "complementary", "contentinfo", "form", "menu", "menubar", "navigation", "search"}

// asideNames are classes and ids of such elements that say the same. There are pages without any of the elements and roles.
var asideNames = strings.Fields("footer site-footer page-footer main-footer sidebar widget-area nav navbar navigation breadcrumb breadcrumbs")

// tags are the elements that are not just passed over.
var tags = makeTags()

func makeTags() map[string]*tag {
	table := map[string]*tag{}
	at := func(name string) *tag {
		if table[name] == nil {
			table[name] = new(tag)
		}
		return table[name]
	}
	for kind, names := range kinds {
		for _, name := range strings.Fields(names) {
			at(name).kind = kind
		}
	}
	for _, name := range strings.Fields(breaking) {
		at(name).breaks = true
	}
	for _, name := range strings.Fields(holding) {
		at(name).holds = true
	}
	addRules(at)
	at("bdo") // which has no rules
	return table
}

// other stands for every element that is not in the table.
var other = new(tag)

// longestName is the length of the longest name in the table.
const longestName = len("blockquote")

// tagOf returns the element of a raw tag, after its opening bracket.
func tagOf(raw []byte) *tag {
	var name [longestName]byte
	n := 0
	for ; n < len(raw); n++ {
		c := raw[n]
		if c == '>' || c == '/' || isSpace(c) {
			break
		}
		if n == longestName {
			return other
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		name[n] = c
	}
	if t := tags[string(name[:n])]; t != nil {
		return t
	}
	return other
}

// isAside reports whether a start tag begins an element that holds what is not the main text. Of several roles the first
// one counts.
func (t *tag) isAside(raw []byte) bool {
	if t.kind == aside || !t.holds {
		return t.kind == aside
	}
	tag := upToEnd(raw)
	return slices.Contains(asideRoles, string(bytes.ToLower(attributeOf(tag, "role")))) || isNamedAside(tag, "class=") || isNamedAside(tag, "id=")
}

// isNamedAside reports whether one of the names in an attribute of a tag is of an aside element.
func isNamedAside(tag []byte, attribute string) bool {
	at := bytes.Index(tag, []byte(attribute))
	if at <= 0 || !isSpace(tag[at-1]) {
		return false
	}
	value := tag[at+len(attribute):]
	if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
		value, _, _ = bytes.Cut(value[1:], value[:1])
	} else if end := bytes.IndexFunc(value, unicode.IsSpace); end >= 0 {
		value = value[:end]
	}
	for name := range bytes.FieldsSeq(value) {
		if slices.Contains(asideNames, string(name)) {
			return true
		}
	}
	return false
}
