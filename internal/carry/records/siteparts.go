package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/runfile"
)

// SitePart is what a component of the similarity graph adds to what is known of sites. Its classes have numbers of their own.
type SitePart struct {
	// Component is the number of the component: in its output shard, or among all of a run.
	Component int
	// Packed is what it adds, as package mirrors packs it.
	Packed []byte
}

// Write writes the part to a shard.
func (p *SitePart) Write(run *runfile.Writer, shard int) error {
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(p.Component)), uint64(len(p.Packed)))
	b, err := run.Record(SiteParts, shard, len(head)+len(p.Packed))
	if err == nil {
		copy(b[copy(b, head):], p.Packed)
	}
	return err
}

// NextSitePart reads the first part and returns the bytes of the others.
func NextSitePart(packed []byte) (p SitePart, rest []byte) {
	component, size := binary.Uvarint(packed)
	packed = packed[size:]
	length, size := binary.Uvarint(packed)
	packed = packed[size:]
	return SitePart{int(component), packed[:length]}, packed[length:]
}
