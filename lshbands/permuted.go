package lshbands

import (
	"fmt"
	"math/bits"
	"slices"
)

// MostTables is the largest number of tables of a [Permuted].
const MostTables = 4096

const mostFingerprintBits = 1024

// Permuted is a set of permutations of the bits of fingerprints that solves the Hamming distance problem (Manku, Jain
// and Das Sarma, Detecting near-duplicates for web crawling, 2007). Fingerprints are cut into more blocks than bits may
// differ. So two fingerprints within the distance are the same in some blocks, whichever these are. Each permutation
// brings another choice of that many blocks to the front. It gives a sorted table of permuted fingerprints. In at least
// one table the two fingerprints share the prefix that these blocks form.
//
// A second level cuts the bits behind the prefix of each table into blocks in the
// same way, and so on: more tables with longer prefixes.
//
// Fingerprints have bit number i in bit i%64 of element i/64, as in SimHash. Blocks are numbered from bit 0,
// the larger ones first. Tables are numbered by their choice of blocks in lexicographic order. A Permuted
// does not change. Any number of goroutines may use it.
type Permuted struct {
	bits, distance int
	blocks         []int
	words          int // in a fingerprint
	tables         []permutation
	masks          []uint64 // for each table as many words as a fingerprint has: the bits of its prefix
}

type permutation struct {
	prefixBits                int
	prefix, forward, backward []move
}

// move takes bits of a word to another word. Neighbouring blocks that stay neighbours share one move.
type move struct {
	from, to int // words
	mask     uint64
	rotate   int
}

// NewPermuted returns the tables for fingerprints of the given number of bits: a multiple of 64 up to 1,024,
// or 32. The fingerprints of a pair may differ in up to distance bits. Blocks is the number of blocks at each
// level. All of them but distance are in the prefix. So 64 bits, distance 3 and 6 blocks make 20 tables with
// prefixes of 31 to 33 bits. With 4 blocks at each of two levels they make 16 tables with prefixes of 28
// bits. The error says which argument is impossible.
func NewPermuted(bits, distance int, blocks ...int) (*Permuted, error) {
	return newPermuted(bits, distance, evenly, blocks...)
}

func evenly(bits, blocks int) []int {
	lengths := make([]int, blocks)
	for i := range lengths {
		lengths[i] = bits / blocks
		if i < bits%blocks {
			lengths[i]++
		}
	}
	return lengths
}

// newPermuted does the work of NewPermuted. The function cut gives the lengths of the blocks.
func newPermuted(bits, distance int, cut func(bits, blocks int) []int, blocks ...int) (*Permuted, error) {
	if err := checkBlocks(bits, distance, blocks); err != nil {
		return nil, err
	}
	p := &Permuted{bits: bits, distance: distance, blocks: slices.Clone(blocks), words: (bits + 63) / 64}
	all := make([]int, bits)
	for i := range all {
		all[i] = i
	}
	p.addLevel(nil, all, cut, blocks)
	return p, nil
}

func checkBlocks(bits, distance int, blocks []int) error {
	if bits != 32 && (bits < 64 || bits > mostFingerprintBits || bits%64 != 0) {
		return fmt.Errorf("permuted tables of %d bits: take a multiple of 64 from 64 to %d, or 32", bits,
			mostFingerprintBits)
	}
	if distance < 0 {
		return fmt.Errorf("permuted tables for a distance of %d: it cannot be negative", distance)
	}
	if len(blocks) == 0 {
		return fmt.Errorf("permuted tables of %d bits need a number of blocks", bits)
	}
	left := bits // the fewest bits that a level leaves
	for level, count := range blocks {
		if count <= distance || count > left {
			return fmt.Errorf(
				"permuted tables with %d blocks at level %d: take more than the distance, which is %d, and at most %d",
				count, level+1, distance, left)
		}
		left = left / count * distance
	}
	if tables := tablesOf(distance, blocks); tables > MostTables {
		return fmt.Errorf(
			"permuted tables of %d bits for distance %d in blocks of %v: there would be %.0f tables, more than %d",
			bits, distance, blocks, tables, MostTables)
	}
	return nil
}

// shortestPrefix returns the length of the shortest prefix of the tables of [NewPermuted], without making them.
func shortestPrefix(bits, distance int, blocks []int) int {
	lengths, shortest := evenly(bits, blocks[0]), bits
	for chosen := range combinations(blocks[0], blocks[0]-distance) {
		prefix := 0
		for _, block := range chosen {
			prefix += lengths[block]
		}
		if len(blocks) > 1 {
			prefix += shortestPrefix(bits-prefix, distance, blocks[1:])
		}
		shortest = min(shortest, prefix)
	}
	return shortest
}

// addLevel adds the tables whose permutations begin with the bits of prefix. It cuts the other bits, which
// are rest in ascending order, into blocks.
func (p *Permuted) addLevel(prefix, rest []int, cut func(bits, blocks int) []int, blocks []int) {
	parts := make([][]int, 0, blocks[0])
	for _, length := range cut(len(rest), blocks[0]) {
		parts = append(parts, rest[:length])
		rest = rest[length:]
	}
	for chosen := range combinations(len(parts), len(parts)-p.distance) {
		front, behind := slices.Clone(prefix), []int(nil)
		for i, part := range parts {
			if slices.Contains(chosen, i) {
				front = appendReversed(front, part)
			} else {
				behind = append(behind, part...)
			}
		}
		if len(blocks) > 1 {
			p.addLevel(front, behind, cut, blocks[1:])
			continue
		}
		order := front
		for i, part := range parts {
			if !slices.Contains(chosen, i) {
				order = appendReversed(order, part)
			}
		}
		p.addTable(order, len(front))
	}
}

// combinations yields every choice of the given size from the numbers below n, in lexicographic order.
func combinations(n, size int) func(yield func(chosen []int) bool) {
	return func(yield func(chosen []int) bool) {
		chosen := make([]int, size)
		for i := range chosen {
			chosen[i] = i
		}
		for yield(chosen) {
			i := size - 1
			for i >= 0 && chosen[i] == n-size+i {
				i--
			}
			if i < 0 {
				return
			}
			chosen[i]++
			for i++; i < size; i++ {
				chosen[i] = chosen[i-1] + 1
			}
		}
	}
}

func appendReversed(to, from []int) []int {
	for _, bit := range slices.Backward(from) {
		to = append(to, bit)
	}
	return to
}

// addTable adds the table whose permutation has the bits in the given order. The highest bit comes first.
func (p *Permuted) addTable(order []int, prefixBits int) {
	t := permutation{prefixBits: prefixBits}
	mask := make([]uint64, p.words)
	for i, bit := range order {
		width := min(p.bits, 64)
		place := i/64*64 + width - 1 - i%64
		t.forward = addMove(t.forward, bit, place)
		t.backward = addMove(t.backward, place, bit)
		if i < prefixBits {
			mask[bit/64] |= 1 << (bit % 64)
			if prefixBits <= 64 {
				t.prefix = addMove(t.prefix, bit, prefixBits-1-i)
			}
		}
	}
	p.tables = append(p.tables, t)
	p.masks = append(p.masks, mask...)
}

// addMove adds the move of a bit. It joins moves that go the same way.
func addMove(moves []move, from, to int) []move {
	next := move{from: from / 64, to: to / 64, mask: 1 << (from % 64), rotate: (to - from) & 63}
	// The bits of a block come one after the other, and go the same way.
	for i := len(moves) - 1; i >= 0; i-- {
		if m := &moves[i]; m.from == next.from && m.to == next.to && m.rotate == next.rotate {
			m.mask |= next.mask
			return moves
		}
	}
	return append(moves, next)
}

// Tables returns the number of tables.
func (p *Permuted) Tables() int { return len(p.tables) }

// Bits returns the number of bits of a fingerprint.
func (p *Permuted) Bits() int { return p.bits }

// Distance returns the largest distance at which two fingerprints are sure to share a prefix.
func (p *Permuted) Distance() int { return p.distance }

// Blocks returns the number of blocks at each level.
func (p *Permuted) Blocks() []int { return slices.Clone(p.blocks) }

// PrefixBits returns the number of bits in the prefix of a table.
func (p *Permuted) PrefixBits(table int) int { return p.tables[table].prefixBits }

// ExpectedCandidates returns how many of the given number of random fingerprints share the prefix of one
// fingerprint in a table: documents / 2^PrefixBits.
func (p *Permuted) ExpectedCandidates(table int, documents float64) float64 {
	for left := p.tables[table].prefixBits; left > 0; left -= 32 {
		documents /= float64(uint64(1) << min(left, 32))
	}
	return documents
}

// Prefix returns the prefix of a fingerprint in a table as a number of PrefixBits bits. It returns a hash of
// the prefix if these are more than 64.
func (p *Permuted) Prefix(table int, fingerprint []uint64) uint64 {
	t := &p.tables[table]
	prefix := uint64(0)
	if t.prefixBits <= 64 {
		for i := range t.prefix {
			m := &t.prefix[i]
			prefix |= bits.RotateLeft64(fingerprint[m.from]&m.mask, m.rotate)
		}
		return prefix
	}
	for i, mask := range p.mask(table) {
		prefix = mix(prefix ^ fingerprint[i]&mask)
	}
	return prefix
}

// mask returns the mask of the bits of a fingerprint that are in the prefix of a table.
func (p *Permuted) mask(table int) []uint64 {
	return p.masks[table*p.words : (table+1)*p.words]
}

// Permute sets dst to the permuted fingerprint of a table. Dst has as many words as a fingerprint. The permuted
// fingerprint begins with the prefix in the highest bits of dst[0]. So equal prefixes are neighbours in the order of
// [slices.Compare]. A fingerprint of 32 bits uses the lower half of dst[0]. Dst and fingerprint must not overlap.
func (p *Permuted) Permute(table int, dst, fingerprint []uint64) {
	apply(p.tables[table].forward, dst[:p.words], fingerprint)
}

// Unpermute undoes Permute: it sets dst to the fingerprint whose permuted form is permuted. The two must not overlap.
func (p *Permuted) Unpermute(table int, dst, permuted []uint64) {
	apply(p.tables[table].backward, dst[:p.words], permuted)
}

func apply(moves []move, dst, src []uint64) {
	clear(dst)
	for i := range moves {
		m := &moves[i]
		dst[m.to] |= bits.RotateLeft64(src[m.from]&m.mask, m.rotate)
	}
}

// FirstCommon returns the first table in which the fingerprints a and b share the prefix, or -1 if there is
// none. A caller that keeps from each table only the pairs that share no earlier prefix has every pair once.
func (p *Permuted) FirstCommon(a, b []uint64) int {
	for table := range p.tables {
		if agree(a, b, p.mask(table)) {
			return table
		}
	}
	return -1
}

// agree reports whether a and b are the same in the bits of mask.
func agree(a, b, mask []uint64) bool {
	differing := uint64(0)
	for i, word := range mask {
		differing |= (a[i] ^ b[i]) & word
	}
	return differing == 0
}

func choices(n, some int) float64 {
	count := 1.
	for i := range min(some, n-some) {
		count = count * float64(n-i) / float64(i+1)
	}
	return count
}
