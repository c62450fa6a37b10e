package records

import (
	"encoding/binary"
	"math/bits"

	"mirrorbeam/internal/ground/runfile"
)

// packer writes the fields of a record, or counts their bytes if there is no room.
type packer struct {
	b []byte
	n int
}

func (p *packer) numbers(numbers ...int64) {
	for _, n := range numbers {
		if p.b != nil {
			binary.LittleEndian.PutUint64(p.b[p.n:], uint64(n))
		}
		p.n += 8
	}
}

// short writes numbers that are small as a rule.
func (p *packer) short(numbers ...int64) {
	for _, n := range numbers {
		if p.b == nil {
			p.n += (bits.Len64(uint64(n)|1) + 6) / 7
		} else {
			p.n += binary.PutUvarint(p.b[p.n:], uint64(n))
		}
	}
}

// text writes a text of less than 64 KiB.
func (p *packer) text(text string) {
	if p.b != nil {
		binary.LittleEndian.PutUint16(p.b[p.n:], uint16(len(text)))
		copy(p.b[p.n+2:], text)
	}
	p.n += 2 + len(text)
}

// bytes writes bytes of a known number.
func (p *packer) bytes(b []byte) {
	if p.b != nil {
		copy(p.b[p.n:], b)
	}
	p.n += len(b)
}

// write writes a record whose fields pack packs.
func write(run *runfile.Writer, kind runfile.Kind, shard int, pack func(*packer)) error {
	var size packer
	pack(&size)
	b, err := run.Record(kind, shard, size.n)
	if err == nil {
		pack(&packer{b: b})
	}
	return err
}

// unpacker reads the fields of records.
type unpacker struct{ b []byte }

func (u *unpacker) number() int64 {
	n := int64(binary.LittleEndian.Uint64(u.b))
	u.b = u.b[8:]
	return n
}

func (u *unpacker) short() int64 {
	n, size := binary.Uvarint(u.b)
	u.b = u.b[size:]
	return int64(n)
}

func (u *unpacker) text() string {
	end := 2 + int(binary.LittleEndian.Uint16(u.b))
	text := string(u.b[2:end])
	u.b = u.b[end:]
	return text
}
