// Package digest has the digest of a document: documents with equal digests count as identical.
package digest

import (
	"cmp"
	"encoding/binary"
)

// Size is the size of a packed digest in bytes.
const Size = 16

// Digest is a keyed hash of 128 bits. Each of its words is evenly spread.
type Digest [2]uint64

// Compare orders digests by their first word.
func Compare(a, b Digest) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// Get reads a packed digest.
func Get(b []byte) Digest {
	return Digest{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// Append packs a digest.
func (d Digest) Append(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, d[0]), d[1])
}

// Put packs a digest.
func (d Digest) Put(b []byte) {
	binary.LittleEndian.PutUint64(b, d[0])
	binary.LittleEndian.PutUint64(b[8:], d[1])
}
