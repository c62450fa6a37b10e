package lookalike

import (
	"slices"
	"strings"
)

// Index finds the names among many that a host looks like. It is for one goroutine.
type Index struct {
	names []parts
	hosts []string
	// edits holds the names by the hashes of their keys, and of keys with a character less, two exchanged, or one or two
	// replaced by what looks like them. Seen says that a hash is among these.
	edits map[uint64][]int32
	seen  [1 << 15]uint64
	// inner holds the names by the first characters of their skeletons, and short the short ones by their skeletons.
	inner map[[leastName + 1]byte][]int32
	short map[string][]int32

	found []int32 // by the call at hand
}

// Match is a name that a host looks like.
type Match struct {
	Likeness
	// Original is the name, as it was given.
	Original string
	// Distance is how many characters of the part that looks like the name are put in, left out, replaced or exchanged
	// with the next one; 0 if it is the name itself.
	Distance int
}

// NewIndex makes an index of names of sites, in lower case and without ports.
func NewIndex(hosts []string) *Index {
	x := &Index{
		hosts: hosts,
		edits: map[uint64][]int32{},
		inner: map[[leastName + 1]byte][]int32{},
		short: map[string][]int32{},
	}
	for i, host := range hosts {
		name, number := split(host), int32(i)
		x.names = append(x.names, name)
		key := name.key
		for variant := range variants(key, 2) {
			x.put(hashOf(Skeleton(variant)), number)
		}
		for i := 1; i < len(key); i++ { // two that are exchanged may look like another letter
			x.put(hashOf(Skeleton(key[:i-1]+key[i:i+1]+key[i-1:i]+key[i+1:])), number)
		}
		x.put(hashOf(undotted(Skeleton(name.domain))), number)
		for hash := range shorter(unjoined(name.name)) {
			x.put(hash, number)
		}
		for hash := range shorter(key) {
			x.put(hash, number)
		}
		if len(key) > leastName {
			start := [leastName + 1]byte([]byte(key))
			x.inner[start] = append(x.inner[start], number)
		} else {
			x.short[key] = append(x.short[key], number)
		}
	}
	return x
}

func (x *Index) put(hash uint64, name int32) {
	if names := x.edits[hash]; !slices.Contains(names, name) {
		x.edits[hash] = append(names, name)
		x.seen[hash>>6%uint64(len(x.seen))] |= 1 << (hash & 63)
	}
}

// Find returns the name that a host in lower case looks like most, if it looks like one with the least score that is
// given. Of several the first one counts. A host of the registered domain of a name belongs to its owner, whatever else
// it looks like.
func (x *Index) Find(host string, least float64) (best Match, found bool) {
	h := split(host)
	if h.name == "" {
		return Match{}, false
	}
	x.found = x.found[:0]
	name, above := h.key, unjoined(h.over)
	x.similar(name)
	if plain := unjoined(h.name); len(plain) != len(name) {
		x.similar(plain)
	}
	if strings.Contains(h.suffix, ".") { // such as sa.com, where vi.sa.com reads as a domain
		x.equal(hashOf(undotted(Skeleton(h.domain))))
	}
	if last := above[strings.LastIndexByte(above, '.')+1:]; last != "" {
		x.equal(hashOf(last + name))
	}
	for label := range strings.SplitSeq(above, ".") {
		x.similar(label)
	}
	if name != h.skeleton {
		for word := range strings.SplitSeq(h.skeleton, "-") {
			x.similar(word)
		}
	}
	x.within(name)
	if above != "" {
		x.within(strings.ReplaceAll(above, ".", "") + name)
	}
	slices.Sort(x.found)
	var nearest *parts
	for _, number := range slices.Compact(x.found) {
		original := &x.names[number]
		if original.domain == h.domain {
			return Match{}, false
		}
		if l := likeness(h, *original); l.Score >= least && l.Score > best.Score {
			best, found, nearest = Match{Likeness: l, Original: x.hosts[number]}, true, original
		}
	}
	if found {
		best.Distance = partDistance(h, *nearest)
	}
	return best, found
}

// similar finds the names that are a slip from a label, and the short ones that it begins or ends with.
func (x *Index) similar(label string) {
	if len(label) < leastShort-1 {
		return
	}
	x.equal(hashOf(label))
	for hash := range shorter(label) {
		x.equal(hash)
	}
	for n := leastShort; n <= leastName && n < len(label); n++ {
		for _, ends := range [2][2]string{{label[:n], label[n:]}, {label[len(label)-n:], label[:len(label)-n]}} {
			if names := x.short[ends[0]]; len(names) > 0 && isBait(ends[1], mostDigits) {
				x.found = append(x.found, names...)
			}
		}
	}
}

// mostDigits is how many characters next to a short name may be digits: whether they are letters is told apart later.
const mostDigits = 4

func (x *Index) equal(hash uint64) {
	if x.seen[hash>>6%uint64(len(x.seen))]>>(hash&63)&1 != 0 {
		x.found = append(x.found, x.edits[hash]...)
	}
}

func (x *Index) within(text string) {
	for at := 0; at+leastName < len(text); at++ {
		for _, number := range x.inner[[leastName + 1]byte([]byte(text[at:at+leastName+1]))] {
			if strings.HasPrefix(text[at:], x.names[number].key) {
				x.found = append(x.found, number)
			}
		}
	}
}

// base is the base of a polynomial hash modulo 2^64, and inverse is one by it.
const base, inverse = 0x9e3779b97f4a7c15, 0xf1de83e19937733d

// hashOf returns the hash of a text, whose high bits matter.
func hashOf(text string) uint64 {
	hash, power := uint64(0), uint64(1)
	for i := range len(text) {
		hash, power = hash+power*(uint64(text[i])+1), power*base
	}
	return mixed(hash)
}

// shorter yields the hashes of a text without one of its characters.
func shorter(text string) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		behind, power := uint64(0), uint64(1)
		for i := range len(text) {
			behind, power = behind+power*(uint64(text[i])+1), power*base
		}
		before := uint64(0)
		power = 1
		for i := range len(text) {
			term := power * (uint64(text[i]) + 1)
			behind -= term
			if !yield(mixed(before + behind*inverse)) {
				return
			}
			before, power = before+term, power*base
		}
	}
}

func mixed(hash uint64) uint64 {
	hash ^= hash >> 32
	hash *= 0xd6e8feb86659fd93
	return hash ^ hash>>32
}

// variants yields a skeleton, and that with up to a number of characters replaced by what looks somewhat like them.
func variants(text string, most int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(text) || most == 0 {
			return
		}
		for i := range len(text) {
			if text[i] >= byte(len(looks)) {
				continue
			}
			for _, look := range looks[text[i]] {
				for variant := range variants(text[:i]+look+text[i+1:], most-1) {
					if !yield(variant) {
						return
					}
				}
			}
		}
	}
}

// partDistance returns by how many characters the part of a host that comes nearest to a name differs from it.
func partDistance(host, of parts) int {
	text, name := []rune(host.above+"."+host.name), []rune(of.name)
	last, row := make([]int, len(name)+1), make([]int, len(name)+1) // by the length of the name's beginning
	for j := range last {
		last[j] = j
	}
	least, before := len(name), slices.Clone(last)
	for i, c := range text {
		row[0] = 0
		for j, d := range name {
			row[j+1] = min(last[j+1], row[j]) + 1
			if c == d {
				row[j+1] = min(row[j+1], last[j])
			} else {
				row[j+1] = min(row[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && c == name[j-1] && text[i-1] == d {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		least = min(least, row[len(name)])
		before, last, row = last, row, before
	}
	return least
}
