package sketch

import (
	"fmt"
	"math/bits"
	"slices"
)

// MostShingles is the largest number of [Shingles] that a process is to hold: 48 MiB.
const MostShingles = 4 << 20

// LeastOwn is the least number of shingles that say what a document is, if others of it are left out. With fewer, about
// a line of text, nothing is left of the document.
const LeastOwn = 8

// Shingles are shingles that do not count: everybody may have their texts. Any number of goroutines may use them.
type Shingles struct {
	hashes []uint64 // ascending
	// starts are where the hashes begin that have the same upper bits. There are about as many starts as hashes, so a
	// hash is found at once. One more start is the end of all.
	starts []uint32
	shift  int
}

// NewShingles returns the shingles of ascending 48-bit hashes, without repeats. It fails if there are more than
// [MostShingles]. It holds on to the hashes.
func NewShingles(hashes []uint64) (*Shingles, error) {
	if len(hashes) > MostShingles {
		return nil, fmt.Errorf("%d shingles are more than the %d that are held", len(hashes), MostShingles)
	}
	upper := bits.Len(uint(len(hashes)))
	s := &Shingles{hashes: hashes, starts: make([]uint32, 1<<upper+1), shift: elementBits - upper}
	at := 0
	for i := range s.starts {
		for at < len(hashes) && hashes[at]>>s.shift < uint64(i) {
			at++
		}
		s.starts[i] = uint32(at)
	}
	return s, nil
}

// Len returns the number of shingles.
func (s *Shingles) Len() int { return len(s.hashes) }

// Has reports whether a shingle is one of them.
func (s *Shingles) Has(hash uint64) bool {
	at := hash >> s.shift
	return slices.Contains(s.hashes[s.starts[at]:s.starts[at+1]], hash)
}

// appendOthers appends to others the shingles of a set that are not among them, in their order.
func (s *Shingles) appendOthers(others, set []uint64) []uint64 {
	for _, hash := range set {
		if !s.Has(hash) {
			others = append(others, hash)
		}
	}
	return others
}

// rest returns what says what a document is, given its set, in the memory of kept: the shingles that are not among
// them, in their order, or none if some are among them and fewer than [LeastOwn] are not. It also counts the others.
func (s *Shingles) rest(kept, set []uint64) (rest []uint64, ignored int) {
	rest = s.appendOthers(kept[:0], set)
	ignored = len(set) - len(rest)
	if ignored > 0 && len(rest) < LeastOwn {
		return rest[:0], ignored
	}
	return rest, ignored
}

// leaveOut leaves the rest of the set of a document, in the memory of kept, and returns it. If that is nothing, the
// digest is still of the whole set: such a document is equal to documents of the same set, and like no other.
func (s *Shingles) leaveOut(d *Document, kept []uint64, digester *Digester) []uint64 {
	d.Set, d.Ignored = s.rest(kept, d.Set)
	if d.Ignored > 0 && len(d.Set) > 0 {
		d.Digest = digester.Set(d.Set)
	}
	return d.Set
}

// Stripper takes shingles that do not count out of sets that were made with them. It is not for concurrent use.
type Stripper struct {
	out         *Shingles
	simhash     *SimHash // nil: not wanted
	rest        []uint64
	fingerprint []uint64
}

// NewStripper returns a Stripper of some shingles. SimHashBits is the length of the SimHash fingerprints of what is
// left, a multiple of 64; 0 makes none. The error says what is wrong with the length.
func NewStripper(out *Shingles, simHashBits int) (*Stripper, error) {
	s := &Stripper{out: out}
	if simHashBits == 0 {
		return s, nil
	}
	var err error
	s.simhash, err = NewSimHash(SimHashOptions{Bits: simHashBits})
	return s, err
}

// Strip returns the shingles of a set that count, or none if fewer than [LeastOwn] of them are left, and their SimHash
// fingerprint, nil if none is wanted. Both belong to the Stripper, which overwrites them in the next call.
func (s *Stripper) Strip(set []uint64) (rest, simhash []uint64) {
	s.rest, _ = s.out.rest(s.rest, set)
	if s.simhash == nil {
		return s.rest, nil
	}
	s.simhash.Reset()
	s.simhash.AddSet(s.rest)
	s.fingerprint = s.simhash.Fingerprint(s.fingerprint)
	return s.rest, s.fingerprint
}
