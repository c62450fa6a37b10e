package records

import (
	"encoding/binary"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

// SetAside is a document that is set aside for the audit. Its set is packed.
type SetAside struct {
	Ref           docref.Ref
	Digest, Scope uint64 // those of its sketch block
	Set           []byte
}

// setAsideHeader is the size of the head of such a document, before its set: ref, digest, scope, number of hashes.
const setAsideHeader = 28

// AppendSetAside packs a document that is set aside, with a set that is not packed yet in place of its own.
func AppendSetAside(b []byte, d SetAside, set []uint64) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Ref))
	b = binary.LittleEndian.AppendUint64(b, d.Digest)
	b = binary.LittleEndian.AppendUint64(b, d.Scope)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(set)))
	return sketchblock.AppendPacked(b, set)
}

// NextSetAside reads the first document and returns the bytes of the others.
func NextSetAside(packed []byte) (SetAside, []byte) {
	end := setAsideHeader + sketchblock.HashSize*int(binary.LittleEndian.Uint32(packed[24:]))
	return SetAside{
		Ref: GetRef(packed), Digest: binary.LittleEndian.Uint64(packed[8:]), Scope: binary.LittleEndian.Uint64(packed[16:]),
		Set: packed[setAsideHeader:end],
	}, packed[end:]
}

// SampledSize is the size of the record of a sampled document: its ref and the number of its class.
const SampledSize = RefSize + 4

// classHeader is the size of the head of a class of equal documents, before its partners: digest, first and last
// document of the input, first of the reference, numbers of both and of the partners.
const classHeader = 52

// WriteClass writes a class of equal documents.
func WriteClass(run *runfile.Writer, c *audit.Class) error {
	b, err := run.Record(Audit, 0, classHeader+4*len(c.Partners))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, c.Digest)
	PutRef(b[8:], c.First)
	PutRef(b[16:], c.Last)
	PutRef(b[24:], c.Reference)
	binary.LittleEndian.PutUint64(b[32:], uint64(c.Inputs))
	binary.LittleEndian.PutUint64(b[40:], uint64(c.References))
	binary.LittleEndian.PutUint32(b[48:], uint32(len(c.Partners)))
	for i, partner := range c.Partners {
		binary.LittleEndian.PutUint32(b[classHeader+4*i:], uint32(partner))
	}
	return nil
}

// NextClass reads the first class, into the memory of c, and returns the bytes of
// the others.
func NextClass(packed []byte, c *audit.Class) []byte {
	*c = audit.Class{
		Digest: binary.LittleEndian.Uint64(packed),
		First:  GetRef(packed[8:]), Last: GetRef(packed[16:]), Reference: GetRef(packed[24:]),
		Inputs: int64(binary.LittleEndian.Uint64(packed[32:])), References: int64(binary.LittleEndian.Uint64(packed[40:])),
		Partners: c.Partners[:0],
	}
	n := int(binary.LittleEndian.Uint32(packed[48:]))
	packed = packed[classHeader:]
	for i := range n {
		c.Partners = append(c.Partners, audit.Partner(binary.LittleEndian.Uint32(packed[4*i:])))
	}
	return packed[4*n:]
}
