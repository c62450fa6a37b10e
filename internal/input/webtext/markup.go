package webtext

import (
	"bytes"
	"iter"
	"slices"
)

const MarkupBytes = 32

const markupShingle = 4

const mostTags = 1 << 14

// AppendMarkup appends a sketch of the markup of a web page, of [MarkupBytes] bytes: of the shingles of four adjacent
// tags, where a field of a form counts with its type and its name. What is between tags does not matter. It appends
// nothing if the page has fewer tags.
func AppendMarkup(dst, page []byte) []byte {
	var least [MarkupBytes]uint64
	var last [markupShingle]uint64
	n := 0
	for tag := range startTags(page) {
		copy(last[:], last[1:])
		last[markupShingle-1] = tag
		if n++; n < markupShingle {
			continue
		} else if n > mostTags {
			break
		}
		shingle := uint64(0)
		for _, tag := range last {
			shingle = mixed(shingle ^ tag)
		}
		for i := range least {
			if hash := mixed(shingle + uint64(i)*0x9e3779b97f4a7c15); n == markupShingle || hash < least[i] {
				least[i] = hash
			}
		}
	}
	if n < markupShingle {
		return dst
	}
	for _, hash := range least {
		dst = append(dst, byte(hash))
	}
	return dst
}

// MarkupSimilarity estimates the Jaccard similarity of the shingles of two sketches; standard error at most 0.09.
func MarkupSimilarity(a, b []byte) float64 {
	same := 0
	for i := range min(len(a), len(b), MarkupBytes) {
		if a[i] == b[i] {
			same++
		}
	}
	const byChance = 1. / 256
	return max(0, (float64(same)/MarkupBytes-byChance)/(1-byChance))
}

// startTags yields a hash of each start tag of a page. Scripts and styles have none.
func startTags(page []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for {
			_, rest, found := bytes.Cut(page, []byte("<"))
			if page = rest; !found {
				return
			}
			end := 0
			for end < len(rest) && isLetterOrDigit(rest[end]) {
				end++
			}
			if end == 0 || rest[0] <= '9' {
				continue // no tag, or the end of one
			}
			name := rest[:end]
			hash := hashOf(offset, name)
			if isField(name) {
				tag := upToEnd(rest)
				for _, attribute := range []string{"type", "name"} {
					hash = hashOf(hash^'=', attributeOf(tag, attribute))
				}
			}
			if !yield(hash) {
				return
			}
			for _, raw := range []string{"script", "style"} {
				if bytes.EqualFold(name, []byte(raw)) {
					page = behind(rest, raw)
				}
			}
		}
	}
}

func isField(name []byte) bool {
	return slices.ContainsFunc([]string{"input", "select", "textarea", "button"}, func(field string) bool {
		return bytes.EqualFold(name, []byte(field))
	})
}

// behind returns what follows the start of an end tag, or nothing if there is none.
func behind(page []byte, name string) []byte {
	for {
		_, rest, found := bytes.Cut(page, []byte("</"))
		if !found || len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], []byte(name)) {
			return rest
		}
		page = rest
	}
}

const mostTagBytes = 1 << 12

// upToEnd returns the tag that a text begins with, up to its end.
func upToEnd(text []byte) []byte {
	tag, _, _ := bytes.Cut(text[:min(len(text), mostTagBytes)], []byte(">"))
	return tag
}

// attributeOf returns the value of an attribute of a tag without its quotes, nothing if the tag lacks it.
func attributeOf(tag []byte, name string) []byte {
	for attribute := range bytes.FieldsFuncSeq(tag, func(r rune) bool {
		return r == '/' || r < 0x80 && isSpace(byte(r))
	}) {
		key, value, _ := bytes.Cut(attribute, []byte("="))
		if bytes.EqualFold(key, []byte(name)) {
			return bytes.Trim(value, `"'`)
		}
	}
	return nil
}

// offset is the hash of nothing.
const offset = 0xcbf29ce484222325

// hashOf adds a text, in lower case, to a hash (FNV-1a).
func hashOf(hash uint64, text []byte) uint64 {
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		hash = (hash ^ uint64(c)) * 0x100000001b3
	}
	return hash
}

// mixed spreads the bits of a hash (SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func isLetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
