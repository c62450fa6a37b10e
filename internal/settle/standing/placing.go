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
