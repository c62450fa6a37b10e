package lookalike

import (
	"strings"
	"unicode/utf8"
)

// A short name is at most leastName letters long. Any two of these are a slip or two apart, so a slip counts only if it is one
// that people and machines make, and under the same public suffix. It does not count if the name has less than three letters.
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

// isOld reports whether a name is of those that were all taken long ago and cost a fortune: three letters under com, net or
// org. So its neighbours by a flipped bit are most likely honest.
func (p parts) isOld() bool {
	return len(p.name) == 3 && strings.Trim(p.name, "abcdefghijklmnopqrstuvwxyz") == "" && strings.Contains(" com net org ", " "+p.suffix+" ")
}

// isSlip reports whether a name is another one with one slip: two letters exchanged, one left out, one doubled, one put in
// at the end or beside a key that touches its own, or one replaced by such a key, by another vowel, or by a flipped bit.
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

// isReplaced reports whether a character may stand for another by a slip.
func isReplaced(c, of byte, bits bool) bool {
	const vowels = "aeiou"
	flipped := c ^ of
	return neighbours[[2]byte{c, of}] || strings.IndexByte(vowels, c) >= 0 && strings.IndexByte(vowels, of) >= 0 || bits && flipped&(flipped-1) == 0
}

// baits are words that phishers put beside a name.
var baits = strings.Fields(`access account accounts alert app auth bank banking billing card center client clients confirm customer delivery express
	help helpdesk home id info invoice link login logon mail mobile my net official online order package parcel pay payment portal post
	recover refund register reset secure security service services shipping shop signin signon site store support team track tracking
	transfer unlock update user verification verify wallet web`)

// isBaited reports whether a name without hyphens is a short one and a word that phishers put beside it.
func isBaited(name, short string) bool {
	for _, bait := range baits {
		if bait = Skeleton(bait); name == short+bait || name == bait+short {
			return true
		}
	}
	return false
}
