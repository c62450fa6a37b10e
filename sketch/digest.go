package sketch

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/rand/v2"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/ground/digest"
)

// Digest is a keyed hash of 128 bits of a document. Documents of one digest are taken for identical.
type Digest = digest.Digest

// keysOf returns a source of keys for a purpose. Who does not know the seed cannot tell them from uniform ones.
func keysOf(purpose string, seed uint64) func() uint64 {
	secret := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("mirrorbeam "+purpose), seed))
	return rand.NewChaCha8(secret).Uint64
}

// Digester makes the digests of documents. Only one goroutine may use it at a time.
type Digester struct {
	sets *asmkernels.SetDigest
	text sum
	key  [8]byte
}

// NewDigester returns a Digester for the documents of a [Measure] of that seed.
func NewDigester(seed uint64) *Digester {
	random := keysOf("digests", seed)
	d := &Digester{sets: asmkernels.NewSetDigest(random), text: newSum()}
	binary.LittleEndian.PutUint64(d.key[:], random())
	return d
}

// Set returns the digest of a non-empty set in ascending order. Every [Document] with this set has it.
func (d *Digester) Set(set []uint64) Digest { return d.sets.Of(set) }

// Texts returns the digest of texts without a token, and each has its place: "?" and "!" are not "!" and "?". It is a
// part of a SHA-256 of the key and the bytes.
func (d *Digester) Texts(texts ...[]byte) Digest {
	d.text.Reset()
	d.text.Write(d.key[:])
	return d.text.of(texts)
}

// sum is a SHA-256 in the making.
type sum struct {
	hash.Hash
	bytes [sha256.Size]byte
}

func newSum() sum { return sum{Hash: sha256.New()} }

// of adds texts, so that different texts make different sums, and returns the digest.
func (s *sum) of(texts [][]byte) Digest {
	for _, text := range texts {
		binary.LittleEndian.PutUint64(s.bytes[:], uint64(len(text)))
		s.Write(s.bytes[:8])
		s.Write(text)
	}
	return s.digest()
}

// digest returns the first 128 bits.
func (s *sum) digest() Digest { return digest.Get(s.Sum(s.bytes[:0])) }
