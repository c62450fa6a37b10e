package pruning

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// Table holds a set of hashes, as one bit each: the bit that the leading bits of a hash count. So it says of a few
// other hashes that it has them, too.
type Table struct {
	// shift is the number of trailing bits of a hash that do not count.
	shift int
	words []uint64
}

const (
	// bitsPerHash is the number of bits of a table for each hash, so that it errs in an eighth of the cases at most.
	bitsPerHash = 8
	hashMask    = 1<<(8*sketchblock.HashSize) - 1
	// mostBits bounds a table to 64 MiB. Beyond 67 million hashes it errs more often.
	mostBits = 29
)

// NewTable returns an empty table for n hashes of that many bits.
func NewTable(n int64, width int) Table {
	size := min(max(bits.Len64(uint64(bitsPerHash*n)), 6), mostBits)
	return Table{shift: width - size, words: make([]uint64, 1<<(size-6))}
}

func (t *Table) fill() {
	for i := range t.words {
		t.words[i] = math.MaxUint64
	}
}

// Add adds a hash.
func (t *Table) Add(hash uint64) {
	at := hash >> t.shift
	t.words[at>>6] |= 1 << (at & 63)
}

// Has reports whether a hash may be in the table.
func (t *Table) Has(hash uint64) bool {
	at := hash >> (t.shift & 63)
	return t.words[at>>6]>>(at&63)&1 != 0
}

// KnowsHeads reports whether heads have all bits of a hash that the table uses, which are more for very many hashes.
func (t *Table) KnowsHeads() bool {
	return t.shift >= 8*sketchblock.HashSize-sketchblock.HeadBits
}

// Marks holds a set of hashes of 64 bits, as three bits of a word each. It takes twice the bits of a [Table], and says
// of a hundredth of other hashes at most that it has them, too.
type Marks struct{ Table }

// NewMarks returns no marks yet for n hashes.
func NewMarks(n int64) Marks { return Marks{NewTable(2*n, 64)} }

func (m *Marks) marks(hash uint64) (word *uint64, bits uint64) {
	shift := m.shift + 6
	rest := hash << (64 - shift) // what does not tell the word
	return &m.words[hash>>shift], 1<<(rest>>58) | 1<<(rest>>52&63) | 1<<(rest>>46&63)
}

// Add adds a hash.
func (m *Marks) Add(hash uint64) {
	word, bits := m.marks(hash)
	*word |= bits
}

// Has reports whether a hash may be among the hashes.
func (m *Marks) Has(hash uint64) bool {
	word, bits := m.marks(hash)
	return *word&bits == bits
}

// hasAny reports whether one of some packed hashes may be among the hashes.
func (m *Marks) hasAny(packed []byte) bool {
	words, shift := m.words, uint(m.shift+6) // up to 64
	for ; len(packed) >= 8; packed = packed[8:] {
		hash := binary.LittleEndian.Uint64(packed)
		rest := hash << (-shift & 63)
		bits := uint64(1)<<(rest>>58) | 1<<(rest>>52&63) | 1<<(rest>>46&63)
		if words[hash>>1>>((shift-1)&63)]&bits == bits {
			return true
		}
	}
	return false
}

// RulesOut reports, given the head of a set, whether the table lacks more of its shingles than mayLack.
func (t *Table) RulesOut(head sketchblock.Head, mayLack int) bool {
	return head.Lacks(t.words, t.shift-8*sketchblock.HashSize+sketchblock.HeadBits, mayLack)
}

// hasMost reports whether all hashes of a packed set but a few may be in the table.
func (t *Table) hasMost(set []byte, mayLack int) bool {
	const size = sketchblock.HashSize
	words, shift := t.words, t.shift&63
	has := func(hash uint64) int {
		at := hash & hashMask >> shift
		return int(words[at>>6] >> (at & 63) & 1)
	}
	for ; len(set) >= 3*size+8; set = set[4*size:] { // all look-ups of four hashes are under way together
		first, second := binary.LittleEndian.Uint64(set), binary.LittleEndian.Uint64(set[size:])
		third, fourth := binary.LittleEndian.Uint64(set[2*size:]), binary.LittleEndian.Uint64(set[3*size:])
		if mayLack -= 4 - has(first) - has(second) - has(third) - has(fourth); mayLack < 0 {
			return false
		}
	}
	for _, hash := range sketchblock.AppendSet(nil, set) {
		mayLack -= 1 - has(hash)
	}
	return mayLack >= 0
}

func (t *Table) addAll(sets []byte) {
	words, shift := t.words, t.shift&63
	for ; len(sets) >= 8; sets = sets[sketchblock.HashSize:] {
		at := binary.LittleEndian.Uint64(sets) & hashMask >> shift
		words[at>>6] |= 1 << (at & 63)
	}
	for _, hash := range sketchblock.AppendSet(nil, sets) {
		t.Add(hash)
	}
}

func (t *Table) size() int { return 8 + 8*len(t.words) }

// append appends the table to b: the shift, the number of words, and these.
func (t *Table) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.shift))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.words)))
	b, _ = binary.Append(b, binary.LittleEndian, t.words) // numbers have no error
	return b
}

func (t *Table) take(b []byte) (rest []byte, err error) {
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
	_, err = binary.Decode(b, binary.LittleEndian, t.words)
	return b[8*n:], err
}

// Filter says which documents of unchanged files may be in a pair. Any number of goroutines may ask it.
type Filter struct {
	// shingles has the shingles of all new documents, or any shingle if bands decide alone. sampled has the shingles of
	// documents from which the audit draws its sample.
	shingles, sampled Table
	// digests has the digest of each document that was in a pair, or equal to another. ids has the hash of each id that
	// several documents may share. bands has the band keys of all new documents, or any key if documents are not
	// compared by these. Where passages are looked for, digests has the hash of the name of each document that was in a
	// pair, and bands has the touched keys.
	digests, ids, bands Marks
	// fingerprints of all new documents, if distances are compared. Near tells which others are near one of them.
	fingerprints []uint64
	near         *lshbands.Neighbours
}

// filters are the filters of the jobs at work in this process.
var filters work.Shared[Filter]

func filterPath(catalog string) string { return catalog + "-filter" }

// tables returns all tables, in the order in which a file has them.
func (f *Filter) tables() []*Table {
	return []*Table{&f.shingles, &f.sampled, &f.digests.Table, &f.ids.Table, &f.bands.Table}
}

// mayPair reports whether a document may be in a pair with a new one, given its packed set. No more than the given
// number of its shingles may be in no new document.
func (f *Filter) mayPair(set []byte, mayLack int) bool {
	return len(set) == 0 || f.shingles.hasMost(set, mayLack)
}

func (f *Filter) write(path string) error {
	all := f.tables()
	size := 8 * len(f.fingerprints)
	for _, t := range all {
		size += t.size()
	}
	packed := make([]byte, 0, size)
	for _, t := range all {
		packed = t.append(packed)
	}
	packed, err := binary.Append(packed, binary.LittleEndian, f.fingerprints)
	if err == nil {
		err = storage.WriteFile(path, packed)
	}
	if err != nil {
		return fmt.Errorf("write the filter of new shingles: %w", err)
	}
	return nil
}

// readFilter returns the filter in a file. Tables are the tables of its fingerprints, nil if it has none.
func readFilter(path string, tables *lshbands.Permuted) (*Filter, error) {
	return filters.Get(path, func(path string) (*Filter, error) {
		packed, err := storage.ReadFile(path)
		f := new(Filter)
		for _, t := range f.tables() {
			if err == nil {
				packed, err = t.take(packed)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read the filter of new shingles: %w", err)
		}
		if tables != nil {
			f.fingerprints = make([]uint64, len(packed)/8)
			if _, err := binary.Decode(packed, binary.LittleEndian, f.fingerprints); err != nil {
				return nil, err
			}
			f.near = lshbands.NewNeighbours(tables, f.fingerprints)
		}
		return f, nil
	})
}
