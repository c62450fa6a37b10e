package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/sources"
)

// SourceCount says how many documents of a corpus have a value that makes them a source.
type SourceCount struct {
	Hash      uint64
	Documents int64
	Corpus    sources.Corpus
	Name      []byte // the value as tables show it, shorter than 64 KiB
}

// sourceCountHeader is the size of such a record without its name: hash, documents, length of the name, corpus.
const sourceCountHeader = 20

// WriteSourceCount writes the record to a shard.
func WriteSourceCount(run *runfile.Writer, kind runfile.Kind, shard int, c SourceCount) error {
	b, err := run.Record(kind, shard, sourceCountHeader+len(c.Name))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, c.Hash)
	binary.LittleEndian.PutUint64(b[8:], uint64(c.Documents))
	binary.LittleEndian.PutUint16(b[16:], uint16(len(c.Name)))
	binary.LittleEndian.PutUint16(b[18:], uint16(c.Corpus))
	copy(b[sourceCountHeader:], c.Name)
	return nil
}

// NextSourceCount reads the first record and returns the bytes of the others.
func NextSourceCount(packed []byte) (SourceCount, []byte) {
	end := sourceCountHeader + int(binary.LittleEndian.Uint16(packed[16:]))
	return SourceCount{
		Hash: binary.LittleEndian.Uint64(packed), Documents: int64(binary.LittleEndian.Uint64(packed[8:])),
		Corpus: sources.Corpus(binary.LittleEndian.Uint16(packed[18:])), Name: packed[sourceCountHeader:end],
	}, packed[end:]
}
