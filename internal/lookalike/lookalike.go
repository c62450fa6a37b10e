// Package lookalike says how much one host name looks like another: as much as a reader in a hurry would take it for the
// other.
package lookalike

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Reason says in which way a host looks like another.
type Reason string

// The reasons, the most telling first.
const (
	// Homoglyph: other characters look the same, as in paypa1.com, or are left out or put in as dots and hyphens.
	Homoglyph Reason = "homoglyph"
	// OtherDomain: the same name under another public suffix, as in paypal.co.
	OtherDomain Reason = "other_domain"
	// Subdomain: the whole name of the other host stands before another domain, as in paypal.com.example.net.
	Subdomain Reason = "subdomain"
	// AddedWords: the name of the other host, and words besides, as in paypal-login.com.
	AddedWords Reason = "added_words"
	// Typing: a slip or two in typing, as in paypla.com.
	Typing Reason = "typing"
	// Alike: the names have most of their characters in common.
	Alike Reason = "alike"
)

// Likeness says how much a host looks like another one.
type Likeness struct {
	// Score is from 0, not at all, to 1, the same to the eye.
	Score float64
	// Reason is empty if Score is 0.
	Reason Reason
}

// leastName is the length of the shortest name that is looked for within other names, and of the shortest in which one slip
// counts. Within shorter ones everything looks like everything.
const leastName = 4

// leastAlike is the least share of characters in common that counts.
const leastAlike = 0.6

// Of says how much a host looks like an original one. Both are names in lower case without a port. Hosts of one registered
// domain have one owner, so they do not look alike; nor do addresses of the internet protocol.
func Of(host, original string) Likeness {
	a, b := split(host), split(original)
	if a.domain == b.domain || a.name == "" || b.name == "" {
		return Likeness{}
	}
	if a.name == b.name {
		return Likeness{0.9, OtherDomain}
	}
	best := Likeness{}
	for _, l := range []Likeness{bySkeleton(a, b), byParts(a, b), byDistance(a.name, b.name)} {
		if l.Score > best.Score {
			best = l
		}
	}
	return best
}

// parts are the parts of a host name, as a reader sees them.
type parts struct {
	domain string // the registered domain: name and suffix
	name   string // its label that somebody chose
	above  string // what stands before the registered domain, without the last dot
}

// split splits a host. The name of a host without a registered domain is the whole host, and an address of the internet
// protocol has none.
func split(host string) parts {
	if strings.Trim(host, "0123456789.") == "" || strings.HasPrefix(host, "[") {
		return parts{domain: host}
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return parts{domain: host, name: shown(host)}
	}
	name, _, _ := strings.Cut(domain, ".")
	return parts{domain: domain, name: shown(name), above: shown(strings.TrimSuffix(strings.TrimSuffix(host, domain), "."))}
}

// shown returns a name as browsers may show it, with the letters that its ASCII form stands for.
func shown(name string) string {
	if unicode, err := idna.ToUnicode(name); err == nil {
		return unicode
	}
	return name
}

// bySkeleton compares what the names look like.
func bySkeleton(a, b parts) Likeness {
	one, other := Skeleton(a.name), Skeleton(b.name)
	switch {
	case one == other:
		return Likeness{1, Homoglyph}
	case len(other) >= leastName && unjoined(one) == unjoined(other):
		return Likeness{0.95, Homoglyph}
	case len(other) > leastName && distance(one, other) == 1:
		return Likeness{0.85, Typing} // such as a slip besides the homoglyphs
	}
	return Likeness{}
}

// unjoined drops hyphens.
func unjoined(name string) string { return strings.ReplaceAll(name, "-", "") }

// byParts looks for the name of the original among the parts of a host.
func byParts(a, b parts) Likeness {
	name := Skeleton(b.name)
	if utf8.RuneCountInString(name) < leastName {
		return Likeness{}
	}
	above := Skeleton(a.above)
	switch {
	case strings.HasSuffix("."+above, "."+Skeleton(b.domain)) || strings.Contains("."+above+".", "."+Skeleton(b.domain)+"."):
		return Likeness{0.95, Subdomain}
	case isWord(above, name):
		return Likeness{0.85, Subdomain}
	case isWord(Skeleton(a.name), name):
		return Likeness{0.9, AddedWords}
	case len(name) > leastName && strings.Contains(Skeleton(a.name), name):
		return Likeness{0.8, AddedWords}
	}
	return Likeness{}
}

// isWord reports whether a word stands in a name between dots, hyphens or the ends.
func isWord(name, word string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		if part == word {
			return true
		}
	}
	// A word may have hyphens itself.
	return strings.Contains(word, "-") && strings.Contains("-"+strings.ReplaceAll(name, ".", "-")+"-", "-"+word+"-")
}

// byDistance counts the slips between two names.
func byDistance(one, other string) Likeness {
	slips, length := distance(one, other), max(utf8.RuneCountInString(one), utf8.RuneCountInString(other))
	switch {
	case slips == 1 && length > leastName:
		return Likeness{0.9, Typing}
	case slips == 2 && length > 2*leastName:
		return Likeness{0.8, Typing}
	}
	if score := 1 - float64(slips)/float64(length); score >= leastAlike && length > leastName {
		return Likeness{score * 0.8, Alike}
	}
	return Likeness{}
}

// distance returns the number of characters that must be put in, left out, replaced or exchanged with their neighbour to
// turn one name into the other, where no part is changed twice.
func distance(one, other string) int {
	a, b := []rune(one), []rune(other)
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := 1
			if a[i-1] == b[j-1] {
				changed = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
