package lshbands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sort"

	"mirrorbeam.dev/internal/util/checksum"
)

// MostTableKeys is the largest number of keys that a [Table] holds.
const MostTableKeys = 1 << 31

// Table is a sorted, compressed list of 64-bit keys. It is searched by the high bits of keys: for permuted
// fingerprints by their prefixes, or for whole keys. A key may occur more than once. A position in the table
// is the position in the sorted list. So positions may serve as indices of data that belong to the keys.
//
// Neighbours in a sorted list have most of their high bits in common (Manku, Jain and Das Sarma, Detecting
// near-duplicates for web crawling, 2007, section 3.2). The high bits of a key's difference from the least key are the
// number of its cell. Cells are so wide that evenly spread keys are 16 to 64 in each. The table keeps the position
// where each cell begins, and of each key the other bits, one behind the other. Ten million random keys take six bytes
// each. A search reads the position of a cell, and a cache line or two of its keys.
//
// A Table does not change. Any number of goroutines may read it.
type Table struct {
	count int
	least uint64
	shift int    // number of the bits that are kept of a key
	cells []byte // positions of the first key of each cell, and of the end, in 32 bits
	lows  []byte // bits of keys: shift of width for each, and some more, so that 64 bits can be read
}

// cellKeys sets how many evenly spread keys a cell has: from half to twice as many.
const cellKeys = 32

// NewTable returns a table of sorted keys, which it goes through twice. It returns an error if they are not sorted or
// if there are more than [MostTableKeys].
func NewTable(keys iter.Seq[uint64]) (*Table, error) {
	t := &Table{}
	last := uint64(0)
	for key := range keys {
		switch {
		case t.count == MostTableKeys:
			return nil, fmt.Errorf("table of keys: there are more than %d", MostTableKeys)
		case t.count == 0:
			t.least = key
		case key < last:
			return nil, fmt.Errorf("table of keys: they are not sorted: %016x comes after %016x", key, last)
		}
		last = key
		t.count++
	}
	spread := last - t.least
	t.shift = max(bits.Len64(spread)-bits.Len(uint(t.count/cellKeys)), 0)
	t.cells, t.lows = make([]byte, 4*(spread>>t.shift+2)), make([]byte, t.lowsSize())
	position, cell := 0, 0
	for key := range keys {
		for difference := key - t.least; cell < int(difference>>t.shift); cell++ {
			binary.LittleEndian.PutUint32(t.cells[4*(cell+1):], uint32(position))
		}
		bit := position * t.width()
		low := (key - t.least) & t.mask() << (bit % 8)
		binary.LittleEndian.PutUint64(t.lows[bit/8:], binary.LittleEndian.Uint64(t.lows[bit/8:])|low)
		position++
	}
	binary.LittleEndian.PutUint32(t.cells[4*(cell+1):], uint32(position))
	return t, nil
}

// width is the number of bits that a key takes in lows: they are read at once, from the byte where they begin.
func (t *Table) width() int {
	if t.shift > 57 {
		return 64
	}
	return t.shift
}

func (t *Table) cellCount() int { return len(t.cells)/4 - 1 }

func (t *Table) mask() uint64 { return 1<<t.shift - 1 }

func (t *Table) lowsSize() int { return (t.count*t.width()+7)/8 + 8 }

// start returns the position of the first key in a cell or above it.
func (t *Table) start(cell int) int { return int(binary.LittleEndian.Uint32(t.cells[4*cell:])) }

// low returns the bits that are kept of the key at a position.
func (t *Table) low(position int) uint64 {
	bit := uint(position) * uint(t.width())
	return binary.LittleEndian.Uint64(t.lows[bit/8:]) >> (bit % 8) & t.mask()
}

// Len returns the number of keys.
func (t *Table) Len() int { return t.count }

// Size returns the number of bytes of memory that the table takes.
func (t *Table) Size() int { return len(t.cells) + len(t.lows) }

// AppendKeys appends the keys at the positions from first up to but not including end. It panics, as slicing
// does, if the table does not have these positions.
func (t *Table) AppendKeys(keys []uint64, first, end int) []uint64 {
	if first < 0 || end > t.count {
		panic(errors.New("lshbands: positions outside of the table"))
	}
	cell := sort.Search(t.cellCount()-1, func(cell int) bool { return t.start(cell+1) > first })
	return t.appendFrom(cell, keys, first, end)
}

// appendFrom appends keys. The first of them is in the given cell or in a later one.
func (t *Table) appendFrom(cell int, keys []uint64, first, end int) []uint64 {
	for ; first < end; first++ {
		for t.start(cell+1) <= first {
			cell++
		}
		keys = append(keys, t.least+(uint64(cell)<<t.shift|t.low(first)))
	}
	return keys
}

// All yields all keys in order.
func (t *Table) All() iter.Seq[uint64] {
	return func(yield func(key uint64) bool) {
		for cell := range t.cellCount() {
			for position := t.start(cell); position < t.start(cell+1); position++ {
				if !yield(t.least + (uint64(cell)<<t.shift | t.low(position))) {
					return
				}
			}
		}
	}
}

// A table in a file begins with a header of five words: tableMagic, the number of keys, the least key, the number of
// bits that are kept of a key, and the number of positions. Then come the positions and the bits. At the end is the
// CRC-32C of everything before it. All numbers are little-endian.
const (
	tableMagic  = "lshtab2\n"
	tableHeader = 40
	tableSum    = 4
)

// WriteTo writes the table in a form that [OpenTable] reads.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	header := append(make([]byte, 0, tableHeader), tableMagic...)
	for _, number := range []uint64{uint64(t.count), t.least, uint64(t.shift), uint64(len(t.cells) / 4)} {
		header = binary.LittleEndian.AppendUint64(header, number)
	}
	parts, sum, written := [][]byte{header, t.cells, t.lows}, uint32(0), int64(0)
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
	body, sum := file[:len(file)-tableSum], binary.LittleEndian.Uint32(file[len(file)-tableSum:])
	if checksum.Of(body) != sum {
		return nil, errors.New("its bytes have changed since they were written")
	}
	var header [4]uint64
	for i := range header {
		header[i] = binary.LittleEndian.Uint64(file[8*(i+1):])
	}
	count, shift, cells := header[0], header[2], header[3]
	if count > MostTableKeys || shift > 64 || cells < 2 || cells > 1<<32 {
		return nil, fmt.Errorf("it would have %d keys of %d bits in %d cells", count, shift, cells)
	}
	t := &Table{count: int(count), least: header[1], shift: int(shift)}
	if length := tableHeader + 4*int(cells) + t.lowsSize(); len(body) != length {
		return nil, fmt.Errorf("it has %d bytes instead of %d", len(file), length+tableSum)
	}
	t.cells, t.lows = body[tableHeader:][:4*cells:4*cells], body[tableHeader+4*cells:]
	before := 0
	for cell := range int(cells) {
		start := t.start(cell)
		if start < before || cell == 0 && start > 0 || cell == int(cells)-1 && start != t.count {
			return nil, fmt.Errorf("cell %d begins at key %d of %d", cell, start, t.count)
		}
		before = start
	}
	return t, nil
}
