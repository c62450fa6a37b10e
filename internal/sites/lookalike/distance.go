package lookalike

import "unicode/utf8"

// A slip is a character that is put in, left out, replaced or exchanged with its neighbour. It costs two, and characters that
// look somewhat like others cost one.
const (
	aSlip = 2
	aLook = 1
)

// looks are the characters that look somewhat like others, in skeletons: one like another, or one like two.
var looks = looksOf("b d", "c e", "g q", "m n", "n r", "u v", "6 g", "8 e", "b lb", "b ld", "b dl", "d dl", "d lb", "d ld", "h lh", "k lc", "m nn")

// table holds, by a character of ASCII, what looks somewhat like it.
type table [128][]string

// looksOf makes both directions of pairs.
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
		if len(other) == len(others) && rune(other[0]) == others[0] && (len(other) == 1 || rune(other[1]) == others[1]) {
			return true
		}
	}
	return false
}

// distance returns what it costs to turn one name into the other, where no part is changed twice. A slip costs as much as is
// given, at most once for each character.
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
		return Likeness{0.75, Typing} // such as case.edu beside chase.com
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
