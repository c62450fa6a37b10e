package webtext

import (
	"bytes"
	"strings"
)

// sheet is what the style sheets in a page say of all elements of a class or an id. A rule for the name in another
// context, such as a screen of some size or within another element, may show these again. Then nothing is known of
// them, and their text counts.
type sheet struct {
	names  map[string]nameStyle // by the name with its point or hash
	rules  int
	bytes  int
	hides  bool   // some name is hidden
	isLate bool   // a sheet came behind text, which had been read without it
	texts  []byte // lines of text that the sheets put into the page
}

// nameStyle are the declarations for a name that count most. Rank is 0 without one.
type nameStyle struct {
	display, visibility cascaded
	isUnknown           bool // it may be shown in another context
}

type cascaded struct {
	hides bool
	rank  int
}

const mostSheetBytes = 1 << 18

// ranks of rules in addition to their order: those for ids count more than those for classes, and important ones most.
const idRank, importantRank = 1 << 20, 1 << 21

func (s *sheet) add(content []byte) {
	if s.bytes += len(content); s.bytes > mostSheetBytes {
		return
	}
	rest, depth := withoutComments(content), 0
	for {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return
		}
		head, isEnd := rest[:at], rest[at] == '}'
		rest = rest[at+1:]
		if isEnd {
			depth = max(depth-1, 0)
			continue
		}
		if end := strings.LastIndexByte(head, ';'); end >= 0 {
			head = head[end+1:] // behind @charset and the like
		}
		if strings.HasPrefix(strings.TrimSpace(head), "@") {
			depth++
			continue
		}
		body, behind, _ := strings.Cut(rest, "}")
		if strings.Contains(body, "{") {
			depth++ // nested rules
			continue
		}
		rest = behind
		s.rule(head, body, depth > 0)
	}
}

func withoutComments(content []byte) string {
	var b strings.Builder
	for {
		before, behind, isComment := bytes.Cut(content, []byte("/*"))
		b.Write(before)
		if !isComment {
			return b.String()
		}
		_, content, _ = bytes.Cut(behind, []byte("*/"))
	}
}

// rule adds a rule. One that is nested applies in some context only.
func (s *sheet) rule(selectors, body string, isNested bool) {
	if !strings.Contains(body, "isplay") && !strings.Contains(body, "isibility") {
		return // as most
	}
	of := declarationsOf([]byte(body))
	display, visibility := of["display"], of["visibility"]
	if display == "" && visibility == "" {
		return
	}
	s.rules++
	for selector := range strings.SplitSeq(selectors, ",") {
		selector = strings.TrimSpace(selector)
		if !isNested && isName(selector) {
			s.set(selector, display, visibility, strings.Contains(body, "!"))
			continue
		}
		if display == "none" || display == "" && visibility != "visible" {
			continue
		}
		for name := range namesOf(selector) {
			style := s.names[name]
			style.isUnknown = true
			s.put(name, style)
		}
	}
}

func (s *sheet) set(name, display, visibility string, isImportant bool) {
	style, rank := s.names[name], s.rules
	if name[0] == '#' {
		rank += idRank
	}
	if isImportant {
		rank += importantRank
	}
	if display != "" && rank > style.display.rank {
		style.display = cascaded{display == "none", rank}
	}
	if visibility != "" && rank > style.visibility.rank {
		style.visibility = cascaded{visibility == "hidden" || visibility == "collapse", rank}
	}
	s.hides = s.hides || style.display.hides || style.visibility.hides
	s.put(name, style)
}

func (s *sheet) put(name string, style nameStyle) {
	if s.names == nil {
		s.names = map[string]nameStyle{}
	}
	s.names[name] = style
}

func isName(selector string) bool {
	return len(selector) > 1 && (selector[0] == '.' || selector[0] == '#') && nameEnd(selector) == len(selector)
}

// nameEnd returns where the name ends that a text begins with, behind its first character.
func nameEnd(text string) int {
	end := 1
	for end < len(text) && (isLetterOrDigit(text[end]) || text[end] == '-' || text[end] == '_' || text[end] >= 0x80) {
		end++
	}
	return end
}

func namesOf(selector string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			at := strings.IndexAny(selector, ".#")
			if at < 0 {
				return
			}
			selector = selector[at:]
			end := nameEnd(selector)
			if !yield(selector[:end]) {
				return
			}
			selector = selector[end:]
		}
	}
}

// hiding returns what the sheet hides of an element of an id and classes, and what it shows again.
func (s *sheet) hiding(id, classes string) (hides, shows hiding) {
	var display, visibility cascaded
	see := func(name string) bool {
		style := s.names[name]
		if style.display.rank > display.rank {
			display = style.display
		}
		if style.visibility.rank > visibility.rank {
			visibility = style.visibility
		}
		return !style.isUnknown
	}
	if id != "" && !see("#"+id) {
		return 0, 0
	}
	for class := range strings.FieldsSeq(classes) {
		if !see("." + class) {
			return 0, 0
		}
	}
	if display.hides {
		hides |= gone
	}
	if visibility.hides {
		hides |= invisible
	} else if visibility.rank > 0 {
		shows |= invisible
	}
	return hides, shows
}

// appliesAlways reports whether a style element is for all screens. Raw is its tag.
func appliesAlways(raw []byte) bool {
	media := attributeOf(upToEnd(raw), "media")
	return len(media) == 0 || bytes.EqualFold(media, []byte("all")) || bytes.EqualFold(media, []byte("screen"))
}
