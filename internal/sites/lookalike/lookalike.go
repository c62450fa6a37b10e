// Package lookalike says how much one host name looks like another: as much as a reader in a hurry would take it for the
// other.
package lookalike

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"mirrorbeam/internal/read/confusables"
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

// leastName is the length of the shortest name that is looked for within other names. A name of at most that length is short:
// one slip leads from it to many honest names.
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
	for _, by := range []func(a, b parts) Likeness{bySkeleton, byParts, byDistance, byShortName} {
		if l := by(a, b); l.Score > best.Score {
			best = l
		}
	}
	return best
}

// parts are the parts of a host name, as a reader sees them.
type parts struct {
	domain   string // the registered domain: name and suffix
	suffix   string // the public suffix
	name     string // the label of the domain that somebody chose
	skeleton string // what that looks like
	above    string // what stands before the registered domain, without the last dot
}

// split splits a host. The name of a host without a registered domain is the whole host, and an address of the internet
// protocol has none.
func split(host string) (p parts) {
	if strings.Trim(host, "0123456789.") == "" || strings.HasPrefix(host, "[") {
		return parts{domain: host}
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		p = parts{domain: host, name: shown(host)}
	} else {
		name, suffix, _ := strings.Cut(domain, ".")
		p = parts{domain: domain, suffix: suffix, name: shown(name), above: shown(strings.TrimSuffix(strings.TrimSuffix(host, domain), "."))}
	}
	p.skeleton = Skeleton(p.name)
	return p
}

// shown returns a name as browsers may show it, with the letters that its ASCII form stands for.
func shown(name string) string {
	if unicode, err := idna.ToUnicode(name); err == nil {
		return unicode
	}
	return name
}

// bySkeleton compares what the names look like. Dots may divide the name of the host: the parts before its registered domain
// count then, from the last one on.
func bySkeleton(a, b parts) Likeness {
	switch whole := unjoined(b.skeleton); {
	case utf8.RuneCountInString(b.skeleton) <= leastName && a.suffix != b.suffix && len(a.name) == utf8.RuneCountInString(a.name):
		return Likeness{} // such as vis4.net beside visa.com: a short name in ASCII under another suffix is most likely somebody's own
	case a.skeleton == b.skeleton:
		return Likeness{1, Homoglyph}
	case unjoined(a.skeleton) == whole, isDivided(a, whole):
		return Likeness{0.95, Homoglyph}
	}
	return Likeness{}
}

// isDivided reports whether a name stands in a host with dots within it, up to the end of its registered domain.
func isDivided(host parts, name string) bool {
	joined, above := unjoined(host.skeleton), Skeleton(host.above)
	for above != "" && len(joined) < len(name) {
		dot := strings.LastIndexByte(above, '.')
		joined = unjoined(above[dot+1:]) + joined
		above = above[:max(dot, 0)]
	}
	return joined == name
}

// unjoined drops hyphens.
func unjoined(name string) string { return strings.ReplaceAll(name, "-", "") }

// byParts looks for the name of the original, or its whole domain, among the parts of a host.
func byParts(a, b parts) Likeness {
	name, length := b.skeleton, utf8.RuneCountInString(b.skeleton)
	above, domain := Skeleton(a.above), Skeleton(b.domain)
	switch {
	case strings.Contains("."+above+".", "."+domain+"."):
		return Likeness{0.95, Subdomain}
	case undotted(Skeleton(a.domain)) == undotted(domain), undotted(a.skeleton) == undotted(domain):
		return Likeness{0.9, AddedWords} // such as example-com.net
	case length < leastShort:
		return Likeness{}
	case length == leastShort && isWord(a.skeleton, name), length <= leastName && isBaited(unjoined(a.skeleton), name):
		return Likeness{0.85, AddedWords}
	case length < leastName:
		return Likeness{}
	case isWord(above, name):
		return Likeness{0.85, Subdomain}
	case isWord(a.skeleton, name) && a.skeleton != name:
		return Likeness{0.9, AddedWords}
	case length > leastName && strings.Contains(a.skeleton, name):
		return Likeness{0.8, AddedWords}
	}
	return Likeness{}
}

// undotted drops dots and hyphens.
func undotted(name string) string { return unjoined(strings.ReplaceAll(name, ".", "")) }

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

// spelled replaces digits and signs that are read as letters, and pairs of letters that look like one. Those of package
// confusables are replaced before.
var spelled = strings.NewReplacer("2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "9", "g", "@", "a", "$", "s", "!", "l", "|", "l", "vv", "w", "cl", "d")

// Skeleton returns what a name looks like: two names with one skeleton look much the same. It is no name itself. The
// letters i and l are one.
func Skeleton(name string) string {
	return spelled.Replace(string(confusables.Append(nil, []byte(name))))
}
