package sourcecode

import (
	"bytes"
	"math/bits"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	detectedBytes = 16 << 10
	fewestSigns   = 2
)

type sign struct {
	text     string
	language int
	number   int // among the signs of the language
}

// signs returns the signs of all languages by their first two bytes.
var signs = sync.OnceValue(func() *[utf8.RuneSelf * utf8.RuneSelf][]sign {
	var all [utf8.RuneSelf * utf8.RuneSelf][]sign
	for i, l := range languages() {
		for n, text := range l.signs {
			pair := pairOf(text[0], text[1])
			all[pair] = append(all[pair], sign{text, i, n})
		}
	}
	return &all
})

func pairOf(first, second byte) int { return int(first)*utf8.RuneSelf + int(second) }

// Detect returns the language of a text, or nil if it seems to be no code. It goes by the first statement behind the
// comments that the text begins with, where that is one of an opening. Else it goes by words that one language has and
// few others: the language most of whose signs stand in the text.
func Detect(text []byte) *Language {
	text = text[:min(len(text), detectedBytes)]
	if l := opened(text); l != nil {
		return l
	}
	found := make([]uint32, len(languages())) // a bit for each sign
	look := func(pair, at int) {
		for _, s := range signs()[pair] {
			if hasPrefix(text[at:], s.text[1:]) {
				found[s.language] |= 1 << s.number
			}
		}
	}
	before := byte('\n') // a text begins with a line
	for at, b := range text {
		if before < utf8.RuneSelf && b < utf8.RuneSelf {
			look(pairOf(before, b), at)
		}
		before = b
	}
	return mostSigns(found)
}

// mostSigns returns the language with the largest share of its signs among those that were found, or nil.
func mostSigns(found []uint32) *Language {
	var best *Language
	most := 0.
	for i, l := range languages() {
		n := bits.OnesCount32(found[i])
		if share := float64(n) / float64(len(l.signs)); n >= fewestSigns && share > most {
			best, most = l, share
		}
	}
	return best
}

// openings are the statements that code of a language, and hardly any other text, begins with. Where a line may be of
// several languages, the first counts. The last of Python also begins files of settings, whose comments are Python's.
var openings = sync.OnceValue(func() []opening {
	return []opening{
		begins("shell", `#!.*\b(?:ba|da|k|z)?sh\b`),
		begins("python", `#!.*\bpython`),
		begins("javascript", `#!.*\bnode\b`),
		begins("ruby", `#!.*\bruby\b`),
		begins("php", `#!.*\bphp\b|<\?(?:php\b|=)`),
		begins("rust", `#!?\[|(?:pub )?(?:use|mod|extern crate) [\w:{}, *]+;`),
		begins("c",
			`#\s*(?:include\s*[<"]|(?:ifndef|ifdef|define|undef)\s+\w|if\s+(?:!|\(|\w+$|defined)|pragma\s)|using namespace |extern "C"|typedef |template ?<`),
		begins("csharp", `using [A-Z][\w.]*;|namespace [A-Z]\w*\.`),
		begins("go", `package \w+\s*(?://.*|/\*.*)?$`),
		begins("java",
			`package [\w.]+\s*;|import (?:static )?[\w.]+(?:\.\*)?\s*;|(?:public |abstract |final )+(?:class|@?interface|enum|record) `),
		begins("swift", `import (?:Foundation|UIKit|SwiftUI|XCTest|AppKit|Combine)\s*$|@testable import `),
		begins("javascript",
			`['"]use strict['"]|import\b.* from ['"]|import ['"]|(?:module\.)?exports\b|export (?:\*|\{|default|const|function|class|type|interface|async|declare)|(?:const|var|let) .*\brequire\(`),
		begins("ruby", `require(?:_relative)? ['"]|class [A-Z]\w* < `),
		begins("python",
			`[rRuU]?(?:"""|\'\'\')|from [\w.]+ import\b|import [\w.]+(?: as \w+)?(?:, ?[\w.]+(?: as \w+)?)*\s*(?:#.*)?$|(?:async )?def \w+\(|class \w+(?:\(.*\))?:|if __name__|try:\s*$|print\(`),
		begins("python", `[A-Za-z_][\w.]*(?:: [\w\[\], .|"]+)? = [^;]*$`),
	}
})

type opening struct {
	language *Language
	line     *regexp.Regexp
}

func begins(language, line string) opening {
	return opening{Named(language), regexp.MustCompile(`^(?:` + line + `)`)}
}

// opened returns the language of the first statement of a text, or nil if that is no opening.
func opened(text []byte) *Language {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		for _, o := range openings() {
			if o.line.Match(line) {
				return o.language
			}
		}
		switch {
		case bytes.HasPrefix(line, []byte("/*")):
			_, after, found := bytes.Cut(text, []byte("*/"))
			if !found {
				return nil
			}
			rest = after
		case len(line) > 0 && line[0] != '#' && line[0] != '@' && !bytes.HasPrefix(line, []byte("//")):
			return nil
		}
		text = rest
	}
	return nil
}

const endings = " .c .h .cc .cpp .cxx .hh .hpp .cs .go .java .js .jsx .mjs .ts .tsx .kt .kts .php .py .rb .rs .scala " +
	".sh .bash .sql .swift "

// IsNameOfCode reports whether a name ends as the names of files of code do.
func IsNameOfCode(name []byte) bool {
	at := bytes.LastIndexByte(name, '.')
	return at > 0 && at < len(name)-1 && len(name)-at < 8 && strings.Contains(endings, " "+string(name[at:])+" ")
}
