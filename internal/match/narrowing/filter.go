package narrowing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/lshbands"
)

// Filter says which documents of unchanged files may be in a pair. Any number of goroutines may ask it.
type Filter struct {
	// shingles has the shingles of all new documents. digests has the digest of each document that was in a pair, or equal to another.
	// ids has the hash of each id that several documents may share.
	shingles, digests, ids table
	// fingerprints are the fingerprints of all new documents, if distances are compared. Near tells which others are near one of them.
	fingerprints []uint64
	near         *lshbands.Neighbours
}

// filters are the filters of the jobs at work in this process.
var filters work.Shared[Filter]

// filterPath is where the filter of the tasks of a catalog is.
func filterPath(catalog string) string { return catalog + "-filter" }

// mayPair reports whether a document may be in a pair with a new one, given its packed set. No more than the given number of its
// shingles may be in no new document.
func (f *Filter) mayPair(set []byte, mayLack int) bool {
	return len(set) == 0 || f.shingles.hasMost(set, mayLack)
}

// knowsHeads reports whether heads have all bits of a hash that the filter looks at.
func (f *Filter) knowsHeads() bool {
	return f.shingles.shift >= 8*sketchblock.HashSize-sketchblock.HeadBits
}

// rulesOut reports whether a document cannot be in a pair with a new one, given the head of its set.
func (f *Filter) rulesOut(head sketchblock.Head, mayLack int) bool {
	words, shift := f.shingles.words, f.shingles.shift&63
	for hash := range head.Hashes() {
		at := hash >> shift
		if mayLack -= int(^(words[at>>6] >> (at & 63)) & 1); mayLack < 0 {
			return true
		}
	}
	return false
}

// write writes a filter for [readFilter].
func (f *Filter) write(path string) error {
	packed := f.ids.append(f.digests.append(f.shingles.append(nil)))
	for _, word := range f.fingerprints {
		packed = binary.LittleEndian.AppendUint64(packed, word)
	}
	if err := storage.WriteFile(path, packed); err != nil {
		return fmt.Errorf("write the filter of new shingles: %w", err)
	}
	return nil
}

// readFilter returns the filter in a file. Tables are the tables of its fingerprints, nil if it has none.
func readFilter(path string, tables *lshbands.Permuted) (*Filter, error) {
	return filters.Get(path, func(path string) (*Filter, error) {
		packed, err := storage.ReadFile(path)
		f := new(Filter)
		for _, t := range []*table{&f.shingles, &f.digests, &f.ids} {
			if err == nil {
				packed, err = t.take(packed)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read the filter of new shingles: %w", err)
		}
		if tables != nil {
			for ; len(packed) >= 8; packed = packed[8:] {
				f.fingerprints = append(f.fingerprints, binary.LittleEndian.Uint64(packed))
			}
			f.near = lshbands.NewNeighbours(tables, f.fingerprints)
		}
		return f, nil
	})
}

// table holds a set of hashes, as one bit each: the bit that the leading bits of a hash count. So it says of a few other hashes that
// it has them, too.
type table struct {
	// shift is the number of trailing bits of a hash that do not count.
	shift int
	words []uint64
}

const (
	// bitsPerHash is the number of bits of a table for each hash, so that it errs in an eighth of the cases at most.
	bitsPerHash = 8
	// mostBits bounds a table to 64 MiB. Beyond 67 million hashes it errs more often.
	mostBits = 29
)

// newTable returns an empty table for n hashes of that many bits.
func newTable(n int64, width int) table {
	size := min(max(bits.Len64(uint64(bitsPerHash*n)), 6), mostBits)
	return table{shift: width - size, words: make([]uint64, 1<<(size-6))}
}

// fill adds all hashes there are.
func (t *table) fill() {
	for i := range t.words {
		t.words[i] = math.MaxUint64
	}
}

// add adds a hash.
func (t *table) add(hash uint64) {
	at := hash >> t.shift
	t.words[at>>6] |= 1 << (at & 63)
}

// has reports whether a hash may be in the table.
func (t *table) has(hash uint64) bool {
	at := hash >> t.shift
	return t.words[at>>6]>>(at&63)&1 != 0
}

// hasMost reports whether all hashes of a packed set but a few may be in the table.
func (t *table) hasMost(set []byte, mayLack int) bool {
	const mask = 1<<(8*sketchblock.HashSize) - 1
	words, shift := t.words, t.shift&63
	for ; len(set) >= 8; set = set[sketchblock.HashSize:] {
		at := binary.LittleEndian.Uint64(set) & mask >> shift
		mayLack -= int(^(words[at>>6] >> (at & 63)) & 1)
		if mayLack < 0 {
			return false
		}
	}
	for _, hash := range sketchblock.AppendSet(nil, set) {
		if !t.has(hash) {
			mayLack--
		}
	}
	return mayLack >= 0
}

// append appends the table to b: the shift, the number of words, and these.
func (t *table) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.shift))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.words)))
	for _, word := range t.words {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// take reads what append wrote, and returns the rest.
func (t *table) take(b []byte) (rest []byte, err error) {
	errShort := errors.New("it is too short")
	if len(b) < 8 {
		return nil, errShort
	}
	t.shift = int(binary.LittleEndian.Uint32(b))
	n := int(binary.LittleEndian.Uint32(b[4:]))
	if b = b[8:]; len(b) < 8*n {
		return nil, errShort
	}
	t.words = make([]uint64, n)
	for i := range t.words {
		t.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return b[8*n:], nil
}
