package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// KnownDocument is a document that the last run of a scheduled job may have found in a pair.
type KnownDocument struct {
	Digest digest.Digest
	// Scope is the hash of what it shares with the documents that it is compared with, 0 if it is compared with all.
	Scope uint64
	Ref   docref.Ref
	// Size is the number of its distinct shingles.
	Size uint32
	// Keyed says that this run makes keys of it.
	Keyed bool
}

// KnownSize is the size of the record of a known document, in bytes.
const KnownSize = digest.Size + 8 + RefSize + 5

// WriteKnown writes the record of a known document.
func WriteKnown(run *runfile.Writer, d KnownDocument) error {
	b, err := run.Record(Known, 0, KnownSize)
	if err == nil {
		d.Put(b)
	}
	return err
}

// Put packs the document.
func (d KnownDocument) Put(b []byte) {
	d.Digest.Put(b)
	binary.LittleEndian.PutUint64(b[digest.Size:], d.Scope)
	PutRef(b[digest.Size+8:], d.Ref)
	binary.LittleEndian.PutUint32(b[digest.Size+16:], d.Size)
	b[digest.Size+20] = 0
	if d.Keyed {
		b[digest.Size+20] = 1
	}
}

// GetKnown reads the record of a known document.
func GetKnown(b []byte) KnownDocument {
	return KnownDocument{
		Digest: digest.Get(b), Scope: binary.LittleEndian.Uint64(b[digest.Size:]), Ref: GetRef(b[digest.Size+8:]),
		Size: binary.LittleEndian.Uint32(b[digest.Size+16:]), Keyed: b[digest.Size+20] != 0,
	}
}
