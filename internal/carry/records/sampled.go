package records

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// SetAside is a document that is set aside for the audit. Its set is packed.
type SetAside struct {
	Ref         docref.Ref
	Hash        uint64 // by which it is chosen, see [audit.DocumentHash]
	Digest      uint64 // the first word of its digest
	Scope, Side uint64
	Set         []byte
}

// SetAsideHeader is the size of the head of such a document, before its set: ref, hash, digest, scope, side, number of hashes.
const SetAsideHeader = 44

// AppendSetAside packs a document that is set aside, with a set that is not packed yet in place of its own.
func AppendSetAside(b []byte, d SetAside, set []uint64) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Ref))
	b = binary.LittleEndian.AppendUint64(b, d.Hash)
	b = binary.LittleEndian.AppendUint64(b, d.Digest)
	b = binary.LittleEndian.AppendUint64(b, d.Scope)
	b = binary.LittleEndian.AppendUint64(b, d.Side)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(set)))
	return sketchblock.AppendPacked(b, set)
}

// NextSetAside reads the first document and returns the bytes of the others.
func NextSetAside(packed []byte) (SetAside, []byte) {
	end := SetAsideHeader + sketchblock.HashSize*int(binary.LittleEndian.Uint32(packed[40:]))
	return SetAside{
		Ref: GetRef(packed), Hash: binary.LittleEndian.Uint64(packed[8:]), Digest: binary.LittleEndian.Uint64(packed[16:]),
		Scope: binary.LittleEndian.Uint64(packed[24:]), Side: binary.LittleEndian.Uint64(packed[32:]), Set: packed[SetAsideHeader:end],
	}, packed[end:]
}

// SampledSize is the size of the record of a sampled document: the hash that has chosen it, and the number of its class.
const SampledSize = 8 + 4

// ClassHeader is the size of the head of a class of equal documents, before its partners: digest, first and last
// document of the input, first of the reference, numbers of both and of the partners. A partner takes 4 bytes, and 8 more
// where documents are counted that are apart from it.
const ClassHeader = 52

// hasApart, a bit of the number of partners, says so.
const hasApart = 1 << 31

// WriteClass writes a class of equal documents.
func WriteClass(run *runfile.Writer, c *audit.Class) error {
	b, err := run.Record(Audit, 0, ClassHeader+4*len(c.Partners)+8*len(c.Apart))
	if err != nil {
		return err
	}
	partners := uint32(len(c.Partners))
	if c.Apart != nil {
		partners |= hasApart
	}
	binary.LittleEndian.PutUint64(b, c.Digest)
	PutRef(b[8:], c.First)
	PutRef(b[16:], c.Last)
	PutRef(b[24:], c.Reference)
	binary.LittleEndian.PutUint64(b[32:], uint64(c.Inputs))
	binary.LittleEndian.PutUint64(b[40:], uint64(c.References))
	binary.LittleEndian.PutUint32(b[48:], partners)
	for i, partner := range c.Partners {
		binary.LittleEndian.PutUint32(b[ClassHeader+4*i:], uint32(partner))
	}
	apart := b[ClassHeader+4*len(c.Partners):]
	for i, n := range c.Apart {
		binary.LittleEndian.PutUint64(apart[8*i:], uint64(n))
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
	partners := binary.LittleEndian.Uint32(packed[48:])
	n := int(partners &^ hasApart)
	packed = packed[ClassHeader:]
	for i := range n {
		c.Partners = append(c.Partners, audit.Partner(binary.LittleEndian.Uint32(packed[4*i:])))
	}
	packed = packed[4*n:]
	if partners&hasApart == 0 {
		return packed
	}
	for i := range n {
		c.Apart = append(c.Apart, int64(binary.LittleEndian.Uint64(packed[8*i:])))
	}
	return packed[8*n:]
}
