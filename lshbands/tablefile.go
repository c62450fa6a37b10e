package lshbands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"mirrorbeam/internal/ground/checksum"
)

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
