package lshbands

import (
	"cmp"
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

const (
	// divideAbove is the size above which a Matcher divides groups. A smaller group is compared pair by pair,
	// which costs less than sorting it.
	divideAbove = 2048

	// sampled is how many fingerprints of a group decide how to divide it.
	sampled = 256
)

// Matcher finds the pairs within a distance among fingerprints that share a prefix. Only one goroutine may use it.
type Matcher struct {
	permuted    *Permuted
	divideAbove int

	// earlier and shared are masks. Pairs that agree in a mask of earlier have met before. Pairs that do not
	// agree in all masks of shared are not pairs of the group.
	earlier, shared []uint64

	distances []uint16
	rows      []uint64
}

// NewMatcher returns a Matcher.
func (p *Permuted) NewMatcher() *Matcher {
	return &Matcher{permuted: p, divideAbove: divideAbove}
}

// Pairs calls visit for the pairs of fingerprints i < j of a group that are within the distance and share the
// prefix of no earlier table. So over all groups of all tables, visit gets each pair exactly once. The group
// holds fingerprints, one behind the other, with a common prefix in that table. A prefix of more than 64 bits
// is only hashed. Pairs whose prefixes differ in spite of equal hashes are left out. The order of the pairs
// depends only on the order of the fingerprints.
//
// A large group is divided by the same principle. Cut into k+1 blocks, two fingerprints within a distance of
// k are equal in at least one block. So only fingerprints that share a block are compared. This is repeated
// as long as it helps. Equal fingerprints are one until the end. So it takes about as long as sorting
// and of the output, unless the fingerprints lie so close that nearly all are within the distance.
func (m *Matcher) Pairs(table int, group []uint64, visit func(i, j, distance int)) {
	p := m.permuted
	start, end := table*p.words, (table+1)*p.words
	m.earlier, m.shared = p.masks[:start:start], p.masks[start:end:end]
	if len(group) <= m.divideAbove*p.words {
		m.compare(group, visit)
		return
	}
	h := newLargeGroup(group, p.words, visit)
	if table == 0 { // equal fingerprints meet first in this table
		h.visitEqual()
	}
	members := make([]int, len(h.starts)-1)
	for i := range members {
		members[i] = i
	}
	m.divide(h, members)
}

func (m *Matcher) compare(rows []uint64, visit func(i, j, distance int)) {
	words, limit := m.permuted.words, m.permuted.distance
	for i := 0; len(rows) > words; i++ {
		row, rest := rows[:words], rows[words:]
		count := len(rest) / words
		m.distances = slices.Grow(m.distances[:0], count)[:count]
		asmkernels.Hamming(m.distances, row, rest)
		for j, distance := range m.distances {
			if int(distance) <= limit && m.isFirst(row, rest[j*words:(j+1)*words]) {
				visit(i, i+1+j, int(distance))
			}
		}
		rows = rest
	}
}

// isFirst reports whether a and b belong to the group and have not met before.
func (m *Matcher) isFirst(a, b []uint64) bool {
	words := m.permuted.words
	for i := 0; i < len(m.earlier); i += words {
		if agree(a, b, m.earlier[i:i+words]) {
			return false
		}
	}
	for i := 0; i < len(m.shared); i += words {
		if !agree(a, b, m.shared[i:i+words]) {
			return false
		}
	}
	return true
}

func (m *Matcher) divide(h *largeGroup, members []int) {
	if len(members) <= m.divideAbove {
		m.compareMembers(h, members)
		return
	}
	sample := h.sample(members)
	blocks := balancedBlocks(h, sample, m.permuted.distance+1)
	if !helps(h, sample, blocks) {
		m.compareMembers(h, members)
		return
	}
	earlier, shared := m.earlier, m.shared
	for _, block := range blocks {
		m.shared = append(shared, block...)
		for group := range h.groups(members, block) {
			m.divide(h, group)
		}
		m.earlier = append(m.earlier, block...)
	}
	m.earlier, m.shared = earlier, shared
}

func (m *Matcher) compareMembers(h *largeGroup, members []int) {
	m.rows = m.rows[:0]
	for _, member := range members {
		m.rows = append(m.rows, h.row(member)...)
	}
	m.compare(m.rows, func(i, j, distance int) { h.visitAll(members[i], members[j], distance) })
}

// largeGroup holds each of its fingerprints once.
type largeGroup struct {
	words  int
	rows   []uint64 // the different fingerprints, sorted
	order  []int    // positions in the group, sorted by fingerprint
	starts []int    // where in order each row begins, and the end
	visit  func(i, j, distance int)
}

type keyed struct {
	key    uint64
	member int
}

func newLargeGroup(group []uint64, words int, visit func(i, j, distance int)) *largeGroup {
	row := func(i int) []uint64 { return group[i*words : (i+1)*words] }
	entries := make([]keyed, len(group)/words)
	for i := range entries {
		entries[i] = keyed{row(i)[0], i}
	}
	slices.SortFunc(entries, func(a, b keyed) int {
		if a.key != b.key || words == 1 {
			return cmp.Compare(a.key, b.key)
		}
		return slices.Compare(row(a.member), row(b.member))
	})
	h := &largeGroup{words: words, order: make([]int, len(entries)), visit: visit}
	for i, entry := range entries {
		h.order[i] = entry.member
		if i == 0 || !slices.Equal(row(entry.member), row(entries[i-1].member)) {
			h.rows = append(h.rows, row(entry.member)...)
			h.starts = append(h.starts, i)
		}
	}
	h.starts = append(h.starts, len(entries))
	return h
}

func (h *largeGroup) row(i int) []uint64 { return h.rows[i*h.words : (i+1)*h.words] }

// positions returns the positions in the group of the fingerprints that equal a row.
func (h *largeGroup) positions(row int) []int { return h.order[h.starts[row]:h.starts[row+1]] }

func (h *largeGroup) visitEqual() {
	for row := range len(h.starts) - 1 {
		equal := h.positions(row)
		for i, a := range equal {
			for _, b := range equal[i+1:] {
				h.visit(min(a, b), max(a, b), 0)
			}
		}
	}
}

func (h *largeGroup) visitAll(row, other, distance int) {
	for _, a := range h.positions(row) {
		for _, b := range h.positions(other) {
			h.visit(min(a, b), max(a, b), distance)
		}
	}
}

// sample returns some of the members, at equal intervals.
func (h *largeGroup) sample(members []int) []int {
	some := make([]int, min(sampled, len(members)))
	for i := range some {
		some[i] = members[i*len(members)/len(some)]
	}
	return some
}

// groups sorts the members by their bits in the mask, and yields those that are equal in these bits. The
// caller may reorder a group while it is yielded.
func (h *largeGroup) groups(members []int, mask []uint64) func(yield func(group []int) bool) {
	return func(yield func(group []int) bool) {
		entries := make([]keyed, len(members))
		for i, member := range members {
			entries[i] = keyed{h.key(member, mask), member}
		}
		slices.SortFunc(entries, func(a, b keyed) int {
			return cmp.Compare(a.key, b.key)
		})
		for i, entry := range entries {
			members[i] = entry.member
		}
		for start, end := 0, 0; start < len(entries); start = end {
			for end < len(entries) && entries[end].key == entries[start].key {
				end++
			}
			if end > start+1 && !yield(members[start:end]) {
				return
			}
		}
	}
}

// key returns the bits of a row that are in the mask, or a hash of them.
func (h *largeGroup) key(row int, mask []uint64) uint64 {
	if h.words == 1 {
		return h.rows[row] & mask[0]
	}
	key := uint64(0)
	for i, word := range h.row(row) {
		key = mix(key ^ word&mask[i])
	}
	return key
}

// balancedBlocks deals all bits out to count blocks, which are masks. Each block gets a similar share of the
// bits that distinguish most: those that half of the sample has.
func balancedBlocks(h *largeGroup, sample []int, count int) [][]uint64 {
	balances := make([]int, 64*h.words)
	for _, member := range sample {
		for i, word := range h.row(member) {
			for ; word != 0; word &= word - 1 {
				balances[64*i+bits.TrailingZeros64(word)] += 2
			}
		}
	}
	order := make([]int, len(balances))
	for bit := range order {
		order[bit] = bit
		balances[bit] = max(balances[bit]-len(sample), len(sample)-balances[bit])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(balances[a], balances[b]) })
	blocks := make([][]uint64, count)
	for i := range blocks {
		blocks[i] = make([]uint64, h.words)
	}
	for i, bit := range order {
		block := i % count
		if i/count%2 == 1 { // deal there and back
			block = count - 1 - block
		}
		blocks[block][bit/64] |= 1 << (bit % 64)
	}
	return blocks
}

// helps reports whether at most half of the pairs of the sample share a block, each counted once for each block.
func helps(h *largeGroup, sample []int, blocks [][]uint64) bool {
	pairs := 0
	for _, block := range blocks {
		for group := range h.groups(slices.Clone(sample), block) {
			pairs += len(group) * (len(group) - 1) / 2
		}
	}
	return pairs <= len(sample)*(len(sample)-1)/4
}
