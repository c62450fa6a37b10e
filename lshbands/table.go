package lshbands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"

	"mirrorbeam/internal/ground/checksum"
)

// MostTableKeys is the largest number of keys that a [Table] holds.
const MostTableKeys = 1 << 31

// Table is a sorted, compressed list of 64-bit keys. It is searched by the high bits of keys: for permuted
// fingerprints by their prefixes, or for whole keys. A key may occur more than once. A position in the table
// is the position in the sorted list. So positions may serve as indices of data that belong to the keys.
//
// Neighbours in a sorted list have most of their high bits in common (Manku, Jain and Das Sarma, Detecting
// near-duplicates for web crawling, 2007, section 3.2). Every 256 keys make a block. It holds their
// differences from its first key in the form of Elias and Fano: the highest eight bits of the differences in
// unary, the other bits one behind the other, in the width that the block needs. So a search finds the keys
// of a block, and reads any of them, without decoding the rest. Ten million random keys take five and a half
// bytes each. A search interpolates to the few blocks whose first keys are close, and then enters one of
// them.
//
// A Table does not change. Any number of goroutines may read it.
type Table struct {
	count   int
	firsts  []byte // the first key of each block
	offsets []byte // for each block its offset in data, in words, and the end
	data    []byte // for each block the unary words and the low bits

	// places has the number of the first block that begins in a cell or above it. The cell of a key is
	// (key-least)>>shift.
	places []uint32
	least  uint64
	shift  int
}

const (
	blockKeys = 256

	// unaryBits of a difference are kept in unary. The ones of 256 keys and the zeros of 2^8 values fit into
	// eight words, a cache line.
	unaryBits  = 8
	unaryWords = (blockKeys + 1<<unaryBits) / 64

	// cellBlocks is how many blocks begin in a cell on average, or up to twice as many. Their first keys are
	// in one cache line or two.
	cellBlocks = 4
)

// NewTable returns a table of sorted keys. It returns an error if they are not sorted or if there are more
// than [MostTableKeys].
func NewTable(keys iter.Seq[uint64]) (*Table, error) {
	t := &Table{offsets: make([]byte, 4)}
	block := make([]uint64, 0, blockKeys)
	var err error
	keys(func(key uint64) bool {
		switch {
		case t.count == MostTableKeys:
			err = fmt.Errorf("table of keys: there are more than %d", MostTableKeys)
		case len(block) > 0 && key < block[len(block)-1]:
			err = fmt.Errorf("table of keys: they are not sorted: %016x comes after %016x", key, block[len(block)-1])
		}
		if err != nil {
			return false
		}
		if len(block) == blockKeys {
			t.addBlock(block)
			block = block[:0]
		}
		block = append(block, key)
		t.count++
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(block) > 0 {
		t.addBlock(block)
	}
	t.place()
	return t, nil
}

// addBlock adds a block of keys.
func (t *Table) addBlock(keys []uint64) {
	var words [unaryWords + blockKeys]uint64
	first := keys[0]
	width := max(bits.Len64(keys[len(keys)-1]-first)-unaryBits, 0)
	low := words[unaryWords:]
	for i, key := range keys {
		difference := key - first
		place := int(difference>>width) + i
		words[place/64] |= 1 << (place % 64)
		difference &= 1<<width - 1
		start := i * width
		low[start/64] |= difference << (start % 64)
		if start%64+width > 64 {
			low[start/64+1] |= difference >> (64 - start%64)
		}
	}
	t.firsts = binary.LittleEndian.AppendUint64(t.firsts, first)
	for _, word := range words[:unaryWords+width*(blockKeys/64)] {
		t.data = binary.LittleEndian.AppendUint64(t.data, word)
	}
	t.offsets = binary.LittleEndian.AppendUint32(t.offsets, uint32(len(t.data)/8))
}

// place makes the cells where a search begins.
func (t *Table) place() {
	blocks := t.blocks()
	if blocks == 0 {
		return
	}
	t.least = t.first(0)
	spread := bits.Len64(t.first(blocks-1) - t.least)
	t.shift = max(spread-bits.Len(uint(blocks/cellBlocks)), 0)
	t.places = make([]uint32, (t.first(blocks-1)-t.least)>>t.shift+2)
	for block := range blocks {
		t.places[(t.first(block)-t.least)>>t.shift+1] = uint32(block + 1)
	}
	for cell := range len(t.places) - 1 {
		t.places[cell+1] = max(t.places[cell+1], t.places[cell])
	}
}

// blocks returns the number of blocks.
func (t *Table) blocks() int { return len(t.firsts) / 8 }

// first returns the first key of a block.
func (t *Table) first(block int) uint64 { return word(t.firsts, block) }

func word(words []byte, index int) uint64 { return binary.LittleEndian.Uint64(words[8*index:]) }

// Len returns the number of keys.
func (t *Table) Len() int { return t.count }

// Size returns the number of bytes of memory that the table takes.
func (t *Table) Size() int {
	return len(t.firsts) + len(t.offsets) + len(t.data) + 4*len(t.places)
}

// Range returns the positions of the keys whose highest prefixBits bits are prefix. PrefixBits is from 0 to
// 64. The range includes first and excludes end. If there is no such key, both are the place where it would
// be.
func (t *Table) Range(prefix uint64, prefixBits int) (first, end int) {
	low := prefix << (64 - prefixBits)
	last := low | (1<<(64-prefixBits) - 1)
	block, at := t.lastBelow(low), position{}
	var b openBlock
	if block >= 0 {
		b = t.open(block)
		at = b.seek(low-b.first, at)
		first = min(block*blockKeys+at.index, t.count)
	}
	if last == ^uint64(0) {
		return first, t.count
	}
	next := last + 1
	if after := block + 1; after < t.blocks() && t.first(after) < next {
		block, at = t.lastBelow(next), position{}
		b = t.open(block)
	}
	if block >= 0 {
		end = min(block*blockKeys+b.seek(next-b.first, at).index, t.count)
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

// openBlock is a block to read keys of.
type openBlock struct {
	first       uint64
	unary, lows []byte
	width       int // of the low bits
}

// position is the place of a key in a block, or the place behind all keys.
type position struct {
	high  uint64 // the highest bits of the key's difference
	unary int    // in the unary words
	index int    // among the keys
}

func (t *Table) open(block int) openBlock {
	offset := int(binary.LittleEndian.Uint32(t.offsets[4*block:]))
	end := int(binary.LittleEndian.Uint32(t.offsets[4*block+4:]))
	return openBlock{
		first: t.first(block),
		unary: t.data[8*offset : 8*(offset+unaryWords)],
		lows:  t.data[8*(offset+unaryWords) : 8*end],
		width: (end - offset - unaryWords) / (blockKeys / 64),
	}
}

// seek returns the position of the first key whose difference is not below the given one. Behind all keys,
// the index is blockKeys, even in a shorter block. The search begins at another position that is not behind
// the result.
func (b *openBlock) seek(difference uint64, from position) position {
	if high := difference >> b.width; high != from.high {
		// The keys with these highest bits have their ones behind as many zeros.
		unary := 64 * unaryWords
		if high < 1<<unaryBits {
			unary = b.zero(int(high)-1) + 1
		} else {
			high = 1 << unaryBits
		}
		from = position{high: high, unary: unary, index: unary - int(high)}
	}
	difference &= 1<<b.width - 1
	for b.isOne(from.unary) && b.low(from.index) < difference {
		from.unary++
		from.index++
	}
	return from
}

// zero returns the position of a zero in the unary words, counted from 0.
func (b *openBlock) zero(index int) int {
	for i := range unaryWords {
		zeros := ^word(b.unary, i)
		if count := bits.OnesCount64(zeros); index >= count {
			index -= count
			continue
		}
		return 64*i + selectOne(zeros, index)
	}
	return 64 * unaryWords
}

func (b *openBlock) isOne(unary int) bool {
	return unary < 64*unaryWords && word(b.unary, unary/64)>>(unary%64)&1 == 1
}

func (b *openBlock) low(index int) uint64 {
	if b.width == 0 {
		return 0
	}
	start := index * b.width
	at, by := start/64, start%64
	low := word(b.lows, at) >> by
	if by+b.width > 64 {
		low |= word(b.lows, at+1) << (64 - by)
	}
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

// AppendKeys appends the keys at the positions from first up to but not including end. It panics, as slicing
// does, if the table does not have these positions.
func (t *Table) AppendKeys(keys []uint64, first, end int) []uint64 {
	if first < 0 || end > t.count {
		panic(errors.New("lshbands: positions outside of the table"))
	}
	for first < end {
		block := first / blockKeys
		b := t.open(block)
		index, start, stop := 0, first%blockKeys, min(end-block*blockKeys, blockKeys)
		for i := 0; index < stop; i++ {
			ones := word(b.unary, i)
			if count := bits.OnesCount64(ones); index+count <= start {
				index += count
				continue
			}
			for ; ones != 0 && index < stop; ones &= ones - 1 {
				if index >= start {
					high := uint64(64*i + bits.TrailingZeros64(ones) - index)
					keys = append(keys, b.first+(high<<b.width|b.low(index)))
				}
				index++
			}
		}
		first = block*blockKeys + stop
	}
	return keys
}

// All yields all keys in order.
func (t *Table) All() iter.Seq[uint64] {
	return func(yield func(key uint64) bool) {
		var keys [blockKeys]uint64
		for first := 0; first < t.count; first += blockKeys {
			for _, key := range t.AppendKeys(keys[:0], first, min(first+blockKeys, t.count)) {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// A table in a file begins with a header of three words: tableMagic, the number of keys and the number of
// words of data. Then come the first keys of the blocks, the data and the offsets. At the end is the CRC-32C
// of everything before it. All numbers are little-endian.
const (
	tableMagic  = "lshtab1\n"
	tableHeader = 24
	tableSum    = 4
)

// WriteTo writes the table in a form that [OpenTable] reads.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	header := append(make([]byte, 0, tableHeader), tableMagic...)
	header = binary.LittleEndian.AppendUint64(header, uint64(t.count))
	header = binary.LittleEndian.AppendUint64(header, uint64(len(t.data)/8))
	written, sum := int64(0), uint32(0)
	for _, part := range [][]byte{header, t.firsts, t.data, t.offsets} {
		sum = checksum.Add(sum, part)
		n, err := w.Write(part)
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("write table: %w", err)
		}
	}
	n, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum))
	written += int64(n)
	if err != nil {
		return written, fmt.Errorf("write table: %w", err)
	}
	return written, nil
}

// OpenTable returns the table that WriteTo wrote. The table goes on using the bytes, which come from a file
// that was read or mapped into memory. OpenTable reads all of them once, and returns an error if they are not
// the ones that were written.
func OpenTable(file []byte) (*Table, error) {
	t, err := openTable(file)
	if err != nil {
		return nil, fmt.Errorf("open table: %w", err)
	}
	return t, nil
}

func openTable(file []byte) (*Table, error) {
	if len(file) < tableHeader+tableSum || string(file[:len(tableMagic)]) != tableMagic {
		return nil, errors.New("these bytes are not a table, or one of another version")
	}
	count, words := binary.LittleEndian.Uint64(file[8:]), binary.LittleEndian.Uint64(file[16:])
	if count > MostTableKeys || words > 2*MostTableKeys {
		return nil, fmt.Errorf("it would have %d keys in %d words, which is too much", count, words)
	}
	blocks := int(count+blockKeys-1) / blockKeys
	length := tableHeader + 8*blocks + 8*int(words) + 4*(blocks+1) + tableSum
	if len(file) != length {
		return nil, fmt.Errorf("it has %d bytes instead of %d", len(file), length)
	}
	body, sum := file[:length-tableSum], binary.LittleEndian.Uint32(file[length-tableSum:])
	if checksum.Of(body) != sum {
		return nil, errors.New("its bytes have changed since they were written")
	}
	t := &Table{count: int(count)}
	t.firsts, body = body[tableHeader:tableHeader+8*blocks], body[tableHeader+8*blocks:]
	t.data, t.offsets = body[:8*words], body[8*words:]
	if err := t.check(); err != nil {
		return nil, err
	}
	t.place()
	return t, nil
}

// check returns an error if reading any key could go wrong.
func (t *Table) check() error {
	words, offset := uint64(len(t.data)/8), uint64(binary.LittleEndian.Uint32(t.offsets))
	if offset != 0 {
		return errors.New("its first block is not at the beginning")
	}
	before := uint64(0)
	for block := range t.blocks() {
		end := uint64(binary.LittleEndian.Uint32(t.offsets[4*block+4:]))
		width := (end - offset - unaryWords) / (blockKeys / 64)
		if end < offset+unaryWords || end > words || width > 64-unaryBits || (end-offset)%(blockKeys/64) != 0 {
			return fmt.Errorf("block %d goes from word %d to %d of %d", block, offset, end, words)
		}
		offset = end
		if t.first(block) < before {
			return fmt.Errorf("block %d begins below the one before", block)
		}
		before = t.first(block)
		b, keys, ones := t.open(block), min(blockKeys, t.count-block*blockKeys), 0
		for i := range unaryWords {
			ones += bits.OnesCount64(word(b.unary, i))
		}
		if ones != keys {
			return fmt.Errorf("block %d has %d keys instead of %d", block, ones, keys)
		}
	}
	if offset != words {
		return fmt.Errorf("its blocks have %d words of %d", offset, words)
	}
	return nil
}
