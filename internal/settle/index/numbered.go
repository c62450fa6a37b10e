package index

import "encoding/binary"

// numberBits is the length of the number of a fingerprint in its segment.
const numberBits = 20

// IsNumbered reports whether the tables of an index of fingerprints lead to the numbers of these. A fingerprint of 64 bits
// needs none: its permuted forms are the keys.
func (h *Header) IsNumbered() bool { return h.Bits > 0 && h.Bits != 64 }

// NumberedKey returns the key of a fingerprint by its number: first as much of its prefix as has room, then the number.
func NumberedKey(prefix uint64, prefixBits, number int) uint64 {
	prefix, prefixBits = KeyPrefix(prefix, prefixBits)
	return prefix<<(64-prefixBits) | uint64(number)
}

// KeyPrefix returns what numbered keys have of a prefix, and its length. The prefix has prefixBits bits, or is a hash of 64
// if these are more.
func KeyPrefix(prefix uint64, prefixBits int) (shortened uint64, bits int) {
	prefixBits = min(prefixBits, 64)
	bits = min(prefixBits, 64-numberBits)
	return prefix >> (prefixBits - bits), bits
}

// NumberOf returns the number in a numbered key.
func NumberOf(key uint64) int { return int(key & (1<<numberBits - 1)) }

// Fingerprints returns how many numbered fingerprints of the given number of words there are.
func (s *Segment) Fingerprints(words int) int { return len(s.columns[elements]) / (8 * words) }

// AppendFingerprint appends the fingerprint of a number. It has the given number of words. It is for numbered fingerprints.
func (s *Segment) AppendFingerprint(fingerprints []uint64, number, words int) []uint64 {
	for word := range words {
		fingerprints = append(fingerprints, binary.LittleEndian.Uint64(s.columns[elements][8*(number*words+word):]))
	}
	return fingerprints
}
