package records

import (
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// AuditDocument is a document that is sampled for the audit. Its set is packed.
type AuditDocument struct {
	Ref         docref.Ref
	Hash        uint64 // by which it is chosen, see [documents.AuditHashes]
	Digest      uint64 // the first word of its digest
	Scope, Side uint64
	Set         []byte
}

// AppendAuditDocument packs a document that is set apart, with a set that is not packed yet instead of its own.
func AppendAuditDocument(b []byte, d AuditDocument, set []uint64) []byte {
	d.Set = sketchblock.AppendPacked(nil, set)
	return Append(b, &d)
}

// Sampled is a document of the sample: the hash by which it was chosen, and the number of its class.
type Sampled struct {
	Hash  uint64
	Class uint32
}
