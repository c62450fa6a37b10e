package lshbands

import "math/bits"

// Probe is a search of a table.
type Probe struct {
	Table *Table
	// The keys to find have Prefix in their highest PrefixBits bits, from 0 to 64.
	Prefix     uint64
	PrefixBits int
	// First and End are the positions of these keys: [Search] sets them to what [Table.Range] returns.
	First, End int

	least span   // where the least key is that begins with the prefix
	seen  uint64 // bits that were read to have them in the cache
}

// Search finds the positions of all probes, in any number of tables.
//
// A search of a large table waits for the memory twice: for the position of a cell, and for its keys. Search takes each
// step for all probes before it takes the next step for any. So they wait together.
func Search(probes []Probe) {
	for i := range probes {
		probes[i].enter()
	}
	for i := range probes {
		if p := &probes[i]; p.least.low < p.least.high {
			p.seen = p.Table.low(p.Table.guess(p.least))
		}
	}
	for i := range probes {
		probes[i].finish()
	}
}

// Range returns the positions of the keys whose highest prefixBits bits are prefix. PrefixBits is from 0 to
// 64. The range includes first and excludes end. If there is no such key, both are the place where it would
// be. [Search] makes many searches in less time.
func (t *Table) Range(prefix uint64, prefixBits int) (first, end int) {
	p := Probe{Table: t, Prefix: prefix, PrefixBits: prefixBits}
	p.enter()
	p.finish()
	return p.First, p.End
}

func (p *Probe) enter() { p.least = p.Table.span(p.Prefix << (64 - p.PrefixBits)) }

func (p *Probe) finish() {
	t := p.Table
	p.First, p.End = t.first(p.least), t.count
	greatest := p.Prefix<<(64-p.PrefixBits) | (1<<(64-p.PrefixBits) - 1)
	if next := greatest + 1; next != 0 {
		after := t.span(next)
		after.low = max(after.low, p.First)
		p.End = t.place(after)
	}
}

// AppendKeys appends the keys that Search has found.
func (p *Probe) AppendKeys(keys []uint64) []uint64 {
	return p.Table.appendFrom(p.least.cell, keys, p.First, p.End)
}

// span has the positions among which a key is, if it is there.
type span struct {
	cell      int
	low, high int
	bits      uint64 // the bits of the key that the table keeps
}

func (t *Table) span(key uint64) span {
	if key <= t.least {
		return span{}
	}
	cell := (key - t.least) >> t.shift
	if cell >= uint64(t.cellCount()) {
		return span{low: t.count, high: t.count}
	}
	return span{int(cell), t.start(int(cell)), t.start(int(cell) + 1), (key - t.least) & t.mask()}
}

func (t *Table) guess(s span) int {
	before, _ := bits.Mul64(s.bits<<(64-t.shift), uint64(s.high-s.low))
	return s.low + int(before)
}

func (t *Table) first(s span) int {
	if s.high-s.low > 2*cellKeys {
		return t.place(s) // they are not spread
	}
	at := t.guess(s)
	for at > s.low && t.low(at-1) >= s.bits {
		at--
	}
	for at < s.high && t.low(at) < s.bits {
		at++
	}
	return at
}

// place returns the position of the first key that is not below the one that the span was made for.
func (t *Table) place(s span) int {
	for s.high-s.low > cellKeys {
		if middle := int(uint(s.low+s.high) / 2); t.low(middle) < s.bits {
			s.low = middle + 1
		} else {
			s.high = middle
		}
	}
	for s.low < s.high && t.low(s.low) < s.bits {
		s.low++
	}
	return s.low
}
