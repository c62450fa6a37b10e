package standing

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/records"
)

// Stretch says where components of the last run stand that follow one another there: before the document of that number of their output
// shard. They are the components from From on, without the one of number To.
type Stretch struct {
	Before   records.Number
	From, To uint32
}

// StretchSize is the size of a packed stretch, in bytes.
const StretchSize = 12

// Put packs a stretch.
func (s Stretch) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(s.Before))
	binary.LittleEndian.PutUint32(b[4:], s.From)
	binary.LittleEndian.PutUint32(b[8:], s.To)
}

// GetStretch reads a stretch.
func GetStretch(b []byte) Stretch {
	return Stretch{records.Number(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])}
}

// The marks of what an output shard notes for the next run: a component that was made, or a stretch of those that stand.
const (
	madeMark = iota
	stoodMark
)

// AppendMade packs a component that was made, with its documents.
func AppendMade(b []byte, c *Component, documents []Document) []byte {
	return c.appendTo(append(b, madeMark), documents)
}

// AppendStood packs a stretch of components that stand.
func AppendStood(b []byte, s Stretch) []byte {
	b = binary.AppendUvarint(append(b, stoodMark), uint64(s.From))
	return binary.AppendUvarint(b, uint64(s.To))
}

// Notes goes through what an output shard has noted: components that were made, as they are packed, and stretches of those that stand, from one
// number on and without another one. They come in the order of their rows.
func Notes(packed []byte, made func(c *Component, packed []byte), stood func(from, to int)) error {
	var documents []Document
	for r := (reader{b: packed}); len(r.b) > 0; {
		switch mark := r.number(); mark {
		case madeMark:
			one := r.b
			c, of, err := r.next(documents[:0])
			if err != nil {
				return err
			}
			made(&c, one[:len(one)-len(r.b)])
			documents = of
		case stoodMark:
			from, to := r.number(), r.number()
			if r.isBroken {
				return ErrDamaged
			}
			stood(int(from), int(to))
		default:
			return ErrDamaged
		}
	}
	return nil
}
