// Package lookalike measures how much one host name looks like another to a reader in a hurry.
package lookalike

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"mirrorbeam.dev/internal/input/confusables"
)

// Reason says in which way a host looks like another.
type Reason string

// The reasons, the most telling first.
const (
	// Homoglyph: other characters look the same, as in paypa1.com, or are left out or put in as dots and hyphens.
	Homoglyph Reason = "homoglyph"
	// OtherDomain: the same name under another public suffix, as in paypal.co.
	OtherDomain Reason = "other_domain"
	// Subdomain: the whole name of the other host is before another domain, as in paypal.com.example.net.
	Subdomain Reason = "subdomain"
	// AddedWords: the name of the other host, and further words, as in paypal-login.com.
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

// leastName is the length of the shortest name that is looked for within other names. A name of at most that length is
// short: one slip leads from it to many honest names.
const leastName = 4

const leastAlike = 0.6

// Of says how much a host looks like an original one. Both are names in lower case without a port. Hosts of one
// registered domain have one owner, so they do not look alike; nor do addresses of the internet protocol.
func Of(host, original string) Likeness {
	a, b := split(host), split(original)
	if a.domain == b.domain || a.name == "" || b.name == "" {
		return Likeness{}
	}
	return likeness(a, b)
}

func likeness(a, b parts) Likeness {
	if a.name == b.name {
		return Likeness{0.9, OtherDomain}
	}
	best := Likeness{}
	for _, by := range []func(a, b parts) Likeness{bySkeleton, byParts, byLabels, byShortName, byDistance} {
		if best.Score >= 0.8 && max(a.length-b.length, b.length-a.length) > aSlip {
			break // more than a slip is no better
		}
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
	key      string // the same without hyphens
	length   int    // of the key, in characters
	above    string // what comes before the registered domain, without the last dot
	over     string // what that looks like
}

// split splits a host. A host without a registered domain is its name, and an IP address has none.
func split(host string) (p parts) {
	if strings.Trim(host, "0123456789.") == "" || strings.HasPrefix(host, "[") {
		return parts{domain: host}
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		p = parts{domain: host, name: shown(host)}
	} else {
		name, suffix, _ := strings.Cut(domain, ".")
		p = parts{
			domain: domain,
			suffix: suffix,
			name:   shown(name),
			above:  shown(strings.TrimSuffix(strings.TrimSuffix(host, domain), ".")),
		}
	}
	p.skeleton, p.over = Skeleton(p.name), Skeleton(p.above)
	p.key = unjoined(p.skeleton)
	p.length = utf8.RuneCountInString(p.key)
	return p
}

// shown returns a name as browsers may show it, with the letters that its ASCII form stands for.
func shown(name string) string {
	if !strings.Contains(name, "xn--") {
		return name
	}
	if unicode, err := idna.ToUnicode(name); err == nil {
		return unicode
	}
	return name
}

// bySkeleton compares what the names look like. Dots may divide the host's: its last parts count then.
func bySkeleton(a, b parts) Likeness {
	switch {
	case utf8.RuneCountInString(b.skeleton) <= leastName && a.suffix != b.suffix &&
		len(a.name) == utf8.RuneCountInString(a.name):
		// such as vis4.net next to visa.com: a short name in ASCII under another suffix is most likely somebody's own
		return Likeness{}
	case a.skeleton == b.skeleton:
		return Likeness{1, Homoglyph}
	case a.key == b.key, isDivided(a, b.key):
		return Likeness{0.95, Homoglyph}
	}
	return Likeness{}
}

// isDivided reports whether a name is in a host with dots within it, up to the end of its registered domain.
func isDivided(host parts, name string) bool {
	joined, above := host.key, host.over
	for above != "" && len(joined) < len(name) {
		dot := strings.LastIndexByte(above, '.')
		joined = unjoined(above[dot+1:]) + joined
		above = above[:max(dot, 0)]
	}
	return joined == name
}

func unjoined(name string) string { return strings.ReplaceAll(name, "-", "") }

// byParts looks for the name of the original, or its whole domain, among the parts of a host.
func byParts(a, b parts) Likeness {
	name, length := b.skeleton, b.length
	above, domain := a.over, Skeleton(b.domain)
	switch {
	case above != "" && strings.Contains("."+above+".", "."+domain+"."):
		return Likeness{0.95, Subdomain}
	case undotted(Skeleton(a.domain)) == undotted(domain), undotted(a.skeleton) == undotted(domain):
		return Likeness{0.9, AddedWords} // such as example-com.net
	case length < leastShort:
		return Likeness{}
	case length == leastShort && isWord(a.skeleton, name), length <= leastName && labelOf(a.name).isBaited(b.key):
		return Likeness{0.85, AddedWords}
	case length < leastName:
		return Likeness{}
	case isWord(above, name):
		return Likeness{0.85, Subdomain}
	case isWord(a.skeleton, name) && a.skeleton != name:
		return Likeness{0.9, AddedWords}
	case labelOf(a.name).has(b.key):
		return Likeness{0.8, AddedWords}
	}
	return Likeness{}
}

// byLabels compares the name of the original with the labels before the registered domain of a host, and with the words
// between the hyphens of its name. Hyphens do not count, and a slip counts only in long names.
func byLabels(a, b parts) Likeness {
	name, length := b.key, b.length
	isClose := func(label string) bool {
		return max(len(label)-len(name), len(name)-len(label)) <= 1 && distance(label, name, aSlip) <= aSlip
	}
	for part := range strings.SplitSeq(a.above, ".") {
		if len(part) < leastShort {
			continue
		}
		switch l := labelOf(part); {
		case length == leastName && l.key == name, length <= leastName && length >= leastShort && l.isBaited(name),
			l.has(name), length >= leastLong && isClose(l.key):
			return Likeness{0.8, Subdomain}
		}
	}
	if length > leastWithin && strings.Contains(a.skeleton, "-") {
		for word := range strings.SplitSeq(a.skeleton, "-") {
			if isClose(word) {
				return Likeness{0.8, AddedWords}
			}
		}
	}
	return Likeness{}
}

// A name of at most leastWithin letters is part of many honest words, as apple is of pineapple. Hardly any honest label
// is a slip away from one of leastLong letters.
const leastWithin, leastLong = 5, 7

func undotted(name string) string { return unjoined(strings.ReplaceAll(name, ".", "")) }

// isWord reports whether a word is in a name between dots, hyphens or the ends.
func isWord(name, word string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		if part == word {
			return true
		}
	}
	// A word may have hyphens itself.
	return strings.Contains(word, "-") && strings.Contains("-"+strings.ReplaceAll(name, ".", "-")+"-", "-"+word+"-")
}

// spelled replaces digits and signs that are read as letters, and pairs of letters that look like one.
var spelled = strings.NewReplacer("2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "9", "g", "@", "a", "$", "s", "!",
	"l", "|", "l", "vv", "w", "cl", "d")

// Skeleton returns what a name looks like: names with one skeleton look much the same. The letters i and l are one.
func Skeleton(name string) string {
	var text [64]byte
	skeleton := text[:0]
	for i := range len(name) {
		c := byte(0)
		if name[i] < utf8.RuneSelf {
			c = plainly[name[i]]
		}
		last := byte(0)
		if len(skeleton) > 0 {
			last = skeleton[len(skeleton)-1]
		}
		switch {
		case c == 0:
			return spelled.Replace(string(confusables.Append(nil, []byte(name))))
		case last == 'r' && c == 'n':
			skeleton[len(skeleton)-1] = 'm'
		case last == 'v' && c == 'v':
			skeleton[len(skeleton)-1] = 'w'
		case last == 'c' && c == 'l':
			skeleton[len(skeleton)-1] = 'd'
		default:
			skeleton = append(skeleton, c)
		}
	}
	return string(skeleton)
}

// plainly holds what the characters of names in ASCII look like, for the most of names that need no more.
var plainly = func() (all [utf8.RuneSelf]byte) {
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789-._" {
		all[c] = spelled.Replace(string(confusables.Append(nil, []byte(string(c)))))[0]
	}
	return all
}()

// A short name is at most leastName letters long. Any two of these are a slip or two apart, so a slip counts only if it
// is one that people and machines make, and under the same public suffix. It does not count if the name has less than
// three letters.
const leastShort = 3

// keyboards are the rows of keys of three countries, each row half a key or so to the right of the one above.
var keyboards = []string{
	"1234567890 qwertyuiop asdfghjkl zxcvbnm",
	"1234567890 qwertzuiop asdfghjkl yxcvbnm",
	"1234567890 azertyuiop qsdfghjklm wxcvbn",
}

// neighbours holds the pairs of keys that touch.
var neighbours = func() map[[2]byte]bool {
	all := map[[2]byte]bool{}
	for _, keys := range keyboards {
		rows := strings.Fields(keys)
		for y, row := range rows {
			for x := range len(row) {
				for _, at := range [][2]int{{y, x + 1}, {y + 1, x}, {y + 1, x - 1}} {
					if at[0] < len(rows) && at[1] >= 0 && at[1] < len(rows[at[0]]) {
						one, other := row[x], rows[at[0]][at[1]]
						all[[2]byte{one, other}], all[[2]byte{other, one}] = true, true
					}
				}
			}
		}
	}
	return all
}()

// byShortName compares a name with a short one under the same public suffix.
func byShortName(a, b parts) Likeness {
	length := utf8.RuneCountInString(b.name)
	if length > leastName || length < leastShort || a.suffix != b.suffix {
		return Likeness{}
	}
	if distance(a.skeleton, b.skeleton, 2*aSlip) <= aSlip || isSlip(a.name, b.name, !b.isOld()) {
		return Likeness{0.8, Typing}
	}
	return Likeness{}
}

// isOld reports whether a name is of those that were all taken long ago and cost a fortune: three letters under com,
// net or org. So its neighbours by a flipped bit are most likely honest.
func (p parts) isOld() bool {
	return len(p.name) == 3 && strings.Trim(p.name, "abcdefghijklmnopqrstuvwxyz") == "" &&
		strings.Contains(" com net org ", " "+p.suffix+" ")
}

// isSlip reports whether a name is another one with one slip: two letters exchanged, one left out, doubled or added at
// the end or next to a neighbouring key, or one replaced by such a key, another vowel or a flipped bit.
func isSlip(name, of string, bits bool) bool {
	at := 0
	for at < len(name) && at < len(of) && name[at] == of[at] {
		at++
	}
	rest, ofRest := name[at:], of[at:]
	switch len(name) - len(of) {
	case -1:
		return rest == ofRest[1:]
	case 0:
		if len(rest) > 1 && rest[0] == ofRest[1] && rest[1] == ofRest[0] {
			return rest[2:] == ofRest[2:]
		}
		return len(rest) > 0 && rest[1:] == ofRest[1:] && isReplaced(rest[0], ofRest[0], bits)
	case 1:
		return rest[1:] == ofRest && isPutIn(name, at)
	}
	return false
}

// isPutIn reports whether the character at a place of a name may have been put in by a slip.
func isPutIn(name string, at int) bool {
	if at == len(name)-1 || at > 0 && name[at] == name[at-1] {
		return true
	}
	return neighbours[[2]byte{name[at], name[at+1]}] || at > 0 && neighbours[[2]byte{name[at], name[at-1]}]
}

func isReplaced(c, of byte, bits bool) bool {
	const vowels = "aeiou"
	flipped := c ^ of
	return neighbours[[2]byte{c, of}] || strings.IndexByte(vowels, c) >= 0 && strings.IndexByte(vowels, of) >= 0 ||
		bits && flipped&(flipped-1) == 0
}

// baits are the skeletons of words that phishers put next to a name.
var baits = func() map[string]bool {
	all := map[string]bool{}
	for bait := range strings.FieldsSeq(
		`access account accounts ag alert anmelden app apps auth bank banking bill billing bonus card care center
		claim client clients cloud com confirm connect contact customer customers dashboard de delivery direct
		email eu express form free gift group help helpdesk home https i id info invoice kunde kunden konto live
		link login logon mail manage meine mein mobile my net notice official online order org package parcel pay
		payment payments phone portal post promo recover refund register reset reward rewards safe secure secured
		security server service services shipping shop sicherheit signin signon site sms start status store
		support system team the track tracking transfer uk unlock update updates us user verification verified
		verify wallet web webmail www`) {
		all[Skeleton(bait)] = true
	}
	return all
}()

// label is a label of a host as a reader sees it.
type label struct {
	key           string // its skeleton, without hyphens
	before, after int    // how many digits it begins and ends with
}

func labelOf(name string) label {
	const digits = "0123456789"
	return label{
		key:    unjoined(Skeleton(name)),
		before: len(name) - len(strings.TrimLeft(name, digits)),
		after:  len(name) - len(strings.TrimRight(name, digits)),
	}
}

// isBait reports whether the part of a skeleton next to a name is a word that phishers put there, two of them, or a
// number. Digits is how many digits it may consist of, which look like letters.
func isBait(text string, digits int) bool {
	if baits[text] || len(text) <= digits {
		return text != ""
	}
	for at := 1; at < len(text); at++ {
		if baits[text[:at]] && (baits[text[at:]] || len(text)-at <= digits) {
			return true
		}
	}
	return false
}

// isBaited reports whether a label is a short name and such a part.
func (l label) isBaited(short string) bool {
	after, isBefore := strings.CutPrefix(l.key, short)
	before, isAfter := strings.CutSuffix(l.key, short)
	return !baits[l.key] && (isBefore && isBait(after, l.after) || isAfter && isBait(before, l.before))
}

// has reports whether a name without hyphens is in a label. The rest has to be bait if the name is short.
func (l label) has(name string) bool {
	length := utf8.RuneCountInString(name)
	before, after, is := strings.Cut(l.key, name)
	return is && (length > leastWithin || length > leastName && (before == "" || isBait(before, l.before)) &&
		(after == "" || isBait(after, l.after)))
}

// A slip is a character put in, left out, replaced or exchanged with its neighbour. It costs two, or one if alike.
const (
	aSlip = 2
	aLook = 1
)

// looks are the characters that look somewhat like others, in skeletons: one like another, or one like two.
var looks = looksOf("b d", "c e", "g q", "m n", "n r", "u v", "6 g", "8 e", "b lb", "b ld", "b dl", "d dl", "d lb",
	"d ld", "h lh", "k lc", "m nn")

// table holds, by a character of ASCII, what looks somewhat like it.
type table [128][]string

func looksOf(pairs ...string) *table {
	t := new(table)
	for _, pair := range pairs {
		one, other := pair[0], pair[2:]
		t[one] = append(t[one], other)
		if len(other) == 1 {
			t[other[0]] = append(t[other[0]], pair[:1])
		}
	}
	return t
}

// are reports whether a character looks like others.
func (t *table) are(one rune, others []rune) bool {
	if one >= rune(len(t)) {
		return false
	}
	for _, other := range t[one] {
		if len(other) == len(others) && rune(other[0]) == others[0] &&
			(len(other) == 1 || rune(other[1]) == others[1]) {
			return true
		}
	}
	return false
}

// distance returns what it costs to turn one name into the other, where no part is changed twice. A slip costs as much
// as is given, at most once for each character.
func distance(one, other string, slip int) int {
	a, b := []rune(one), []rune(other)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			rows[i][j] = distanceAt(rows, a[:i], b[:j], slip)
		}
	}
	return rows[len(a)][len(b)]
}

// distanceAt returns the distance of the beginnings of two names, given the distances of shorter beginnings.
func distanceAt(rows [][]int, a, b []rune, slip int) int {
	i, j := len(a), len(b)
	if i == 0 || j == 0 {
		return (i + j) * slip
	}
	least := min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1]) + slip
	if a[i-1] == b[j-1] {
		least = min(least, rows[i-1][j-1])
	}
	if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
		least = min(least, rows[i-2][j-2]+slip)
	}
	if looks.are(a[i-1], b[j-1:]) {
		least = min(least, rows[i-1][j-1]+aLook)
	}
	if j > 1 && looks.are(a[i-1], b[j-2:]) {
		least = min(least, rows[i-1][j-2]+aLook)
	}
	if i > 1 && looks.are(b[j-1], a[i-2:]) {
		least = min(least, rows[i-2][j-1]+aLook)
	}
	return least
}

// byDistance compares names by their slips. Short names count in [byShortName].
func byDistance(a, b parts) Likeness {
	one, other := a.skeleton, b.skeleton
	length := max(utf8.RuneCountInString(one), utf8.RuneCountInString(other))
	if length <= leastName || utf8.RuneCountInString(other) <= leastName {
		return Likeness{}
	}
	cost := distance(one, other, aSlip)
	switch {
	case cost <= aSlip && length == leastName+1 && a.suffix != b.suffix:
		return Likeness{0.75, Typing} // such as case.edu next to chase.com
	case cost <= aSlip:
		return Likeness{0.9, Typing}
	case cost <= 2*aSlip && length > 2*leastName:
		return Likeness{0.8, Typing}
	}
	if score := 1 - float64(cost)/float64(aSlip*length); score >= leastAlike {
		return Likeness{score * 0.8, Alike}
	}
	return Likeness{}
}
