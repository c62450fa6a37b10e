package lshbands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"

	"mirrorbeam.dev/internal/util/checksum"
)

// MostTableKeys is the largest number of keys that a [Table] holds.
const MostTableKeys = 1 << 31

// Table is a sorted, compressed list of 64-bit keys. It is searched by the high bits of keys: for permuted
// fingerprints by their prefixes, or for whole keys. A key may occur more than once. A position in the table
// is the position in the sorted list. So positions may serve as indices of data that belong to the keys.
//
// Neighbours in a sorted list have most of their high bits in common (Manku, Jain and Das Sarma, Detecting
// near-duplicates for web crawling, 2007, section 3.2). Every 256 keys make a block. It holds their differences from
// its first key in the form of Elias and Fano: the highest eight bits of the differences in unary, the other bits one
// behind the other, in the width that the block needs. So a search finds the keys of a block, and reads any of them,
// without decoding the rest. Ten million random keys take five and a half bytes each. A search interpolates to the few
// blocks whose first keys are close, and then enters one of them.
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

func (t *Table) blocks() int { return len(t.firsts) / 8 }

func (t *Table) first(block int) uint64 { return word(t.firsts, block) }

func word(words []byte, index int) uint64 { return binary.LittleEndian.Uint64(words[8*index:]) }

// Len returns the number of keys.
func (t *Table) Len() int { return t.count }

// Size returns the number of bytes of memory that the table takes.
func (t *Table) Size() int {
	return len(t.firsts) + len(t.offsets) + len(t.data) + 4*len(t.places)
}

// AppendKeys appends the keys at the positions from first up to but not including end. It panics, as slicing
// does, if the table does not have these positions.
func (t *Table) AppendKeys(keys []uint64, first, end int) []uint64 {
	if first < 0 || end > t.count {
		panic(errors.New("lshbands: positions outside of the table"))
	}
	var b openBlock
	for first < end {
		block := first / blockKeys
		b.open(t, block)
		index, start, stop := 0, first%blockKeys, min(end-block*blockKeys, blockKeys)
		for i := 0; index < stop; i++ {
			ones := b.word(i)
			if count := bits.OnesCount64(ones); index+count <= start {
				index += count
				continue
			}
			for ; ones != 0 && index < stop; ones &= ones - 1 {
				if index >= start {
					high := uint64(64*i + bits.TrailingZeros64(ones) - index)
					keys = append(keys, b.first+(high<<b.width|b.lowBits(index)))
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
	parts, sum, written := [][]byte{header, t.firsts, t.data, t.offsets}, uint32(0), int64(0)
	for _, part := range parts {
		sum = checksum.Add(sum, part)
	}
	for _, part := range append(parts, binary.LittleEndian.AppendUint32(nil, sum)) {
		n, err := w.Write(part)
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("write table: %w", err)
		}
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
	var b openBlock
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
		b.open(t, block)
		keys, ones := min(blockKeys, t.count-block*blockKeys), 0
		for i := range unaryWords {
			ones += bits.OnesCount64(b.word(i))
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
