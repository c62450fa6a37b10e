package lshbands

import (
	"encoding/binary"
	"math/bits"
)

// Probe is a search of a table.
type Probe struct {
	Table *Table
	// The keys to find have Prefix in their highest PrefixBits bits, from 0 to 64.
	Prefix     uint64
	PrefixBits int
	// First and End are the positions of these keys: [Search] sets them to what [Table.Range] returns.
	First, End int
}

// Search finds the positions of all probes, in any number of tables.
//
// A search of a large table waits for the memory twice: for the high bits of a block, and for the low bits of
// the key that these lead to. Search takes the same step for several probes, one after the other, before it
// takes the next step for any. So they wait together.
func Search(probes []Probe) {
	var beside [besides]search
	for len(probes) > 0 {
		some := probes[:min(len(probes), besides)]
		searches := beside[:len(some)]
		for i := range searches {
			searches[i].enter(&some[i])
		}
		for i := range searches {
			searches[i].read()
		}
		for i := range searches {
			searches[i].locate()
		}
		for i := range searches {
			searches[i].peek()
		}
		for i := range searches {
			some[i].First, some[i].End = searches[i].finish()
		}
		probes = probes[len(some):]
	}
}

// besides is how many searches are made side by side.
const besides = 16

// Range returns the positions of the keys whose highest prefixBits bits are prefix. PrefixBits is from 0 to
// 64. The range includes first and excludes end. If there is no such key, both are the place where it would
// be. [Search] makes many searches in less time.
func (t *Table) Range(prefix uint64, prefixBits int) (first, end int) {
	var s search
	s.enter(&Probe{Table: t, Prefix: prefix, PrefixBits: prefixBits})
	s.read()
	s.locate()
	return s.finish()
}

// search is a search that is under way. Its methods are its steps, in their order.
type search struct {
	table     *Table
	low, last uint64 // the least and the greatest key that begin with the prefix
	block     int    // the last block that begins below low, or -1
	openBlock
	at   position // where the keys with the high bits of low begin, then the place of low
	seen uint64   // the low bits there
}

func (s *search) enter(p *Probe) {
	s.table = p.Table
	s.low = p.Prefix << (64 - p.PrefixBits)
	s.last = s.low | (1<<(64-p.PrefixBits) - 1)
	s.block, s.at = s.table.lastBelow(s.low), position{}
}

func (s *search) read() {
	if s.block >= 0 {
		s.open(s.table, s.block)
	}
}

// locate finds where the keys with the high bits of low begin.
func (s *search) locate() {
	if s.block >= 0 {
		s.at = s.jump(s.low-s.first, s.at)
	}
}

// peek reads low bits there, so that the step behind it finds them in the cache.
func (s *search) peek() {
	if s.block >= 0 && s.isOne(s.at.unary) {
		s.seen = s.lowBits(s.at.index)
	}
}

// finish compares the keys there, and returns the range.
func (s *search) finish() (first, end int) {
	t := s.table
	if s.block >= 0 {
		s.at = s.seek(s.low-s.first, s.at)
		first = min(s.block*blockKeys+s.at.index, t.count)
	}
	if s.last == ^uint64(0) {
		return first, t.count
	}
	next := s.last + 1
	if after := s.block + 1; after < t.blocks() && t.first(after) < next {
		s.block, s.at = t.lastBelow(next), position{}
		s.read()
	}
	if s.block >= 0 {
		end = min(s.block*blockKeys+s.seek(next-s.first, s.at).index, t.count)
	}
	return first, end
}

// lastBelow returns the last block that begins with a smaller key, or -1. All keys
// of the blocks before it are smaller too, and none of those behind it.
func (t *Table) lastBelow(key uint64) int {
	if t.count == 0 || key <= t.least {
		return -1
	}
	cell := min((key-t.least)>>t.shift, uint64(len(t.places)-2))
	low, high := int(t.places[cell]), int(t.places[cell+1])
	for low < high {
		if middle := int(uint(low+high) / 2); t.first(middle) < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low - 1
}

type openBlock struct {
	first uint64
	unary [8 * unaryWords]byte
	lows  []byte
	width int // of the low bits
}

// position is the place of a key in a block, or the place behind all keys.
type position struct {
	high  uint64 // the highest bits of the key's difference
	unary int    // in the unary words
	index int    // among the keys
}

// open reads what a search needs of a block, but for its low bits.
func (b *openBlock) open(t *Table, block int) {
	offset := int(binary.LittleEndian.Uint32(t.offsets[4*block:]))
	end := int(binary.LittleEndian.Uint32(t.offsets[4*block+4:]))
	b.first = t.first(block)
	b.unary = [8 * unaryWords]byte(t.data[8*offset:])
	b.lows = t.data[8*(offset+unaryWords) : 8*end]
	b.width = (end - offset - unaryWords) / (blockKeys / 64)
}

func (b *openBlock) word(index int) uint64 { return word(b.unary[:], index) }

// seek returns the position of the first key whose difference is not below the given one. Behind all keys, the index is
// blockKeys, even in a shorter block. The search begins at another position that is not behind the result.
func (b *openBlock) seek(difference uint64, from position) position {
	from = b.jump(difference, from)
	difference &= 1<<b.width - 1
	for b.isOne(from.unary) && b.lowBits(from.index) < difference {
		from.unary++
		from.index++
	}
	return from
}

// jump returns the position of the first key that has the high bits of a difference, or the place where it would be.
// The position from stays if it has these high bits.
func (b *openBlock) jump(difference uint64, from position) position {
	high := difference >> b.width
	if high == from.high {
		return from
	}
	// The keys with these highest bits have their ones behind as many zeros.
	unary := 64 * unaryWords
	if high < 1<<unaryBits {
		unary = b.zero(int(high)-1) + 1
	} else {
		high = 1 << unaryBits
	}
	return position{high: high, unary: unary, index: unary - int(high)}
}

// zero returns the position of a zero in the unary words, counted from 0.
func (b *openBlock) zero(index int) int {
	for i := range unaryWords {
		zeros := ^b.word(i)
		if count := bits.OnesCount64(zeros); index >= count {
			index -= count
			continue
		}
		return 64*i + selectOne(zeros, index)
	}
	return 64 * unaryWords
}

func (b *openBlock) isOne(unary int) bool {
	return unary < 64*unaryWords && b.word(unary/64)>>(unary%64)&1 == 1
}

func (b *openBlock) lowBits(index int) uint64 {
	if b.width == 0 {
		return 0
	}
	start := index * b.width
	at, by := start/64, start%64
	// Without a branch: whether the bits go on in the next word cannot be foretold.
	low := word(b.lows, at)>>by | word(b.lows, min(at+1, len(b.lows)/8-1))<<1<<(63-by)
	return low & (1<<b.width - 1)
}

// selectOne returns the position of a set bit of x. Index counts set bits from 0. It returns 64 if there are
// too few (Vigna, Broadword implementation of rank/select queries, 2008).
func selectOne(x uint64, index int) int {
	const eachByte = 0x0101010101010101
	sums := x - x>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * eachByte // sums of the bits up to each byte
	enough := (uint64(index)*eachByte | 0x80*eachByte) - sums
	at := bits.OnesCount64(enough&(0x80*eachByte)) * 8
	if at == 64 {
		return 64
	}
	index -= int(sums << 8 >> at & 0xff)
	rest := x >> at
	for range index {
		rest &= rest - 1
	}
	return at + bits.TrailingZeros64(rest)
}
