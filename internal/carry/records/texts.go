package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/runfile"
)

// Text is a document as a pipeline hands it over: its id, and the text that is compared.
type Text struct{ ID, Text []byte }

// textHeader is the size of such a record without its strings: the length of each.
const textHeader = 8

// WriteText writes the record to a shard. Both strings are shorter than 4 GiB.
func WriteText[S ~string | ~[]byte](run *runfile.Writer, kind runfile.Kind, shard int, id, text S) error {
	b, err := run.Record(kind, shard, textHeader+len(id)+len(text))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b, uint32(len(id)))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(text)))
	copy(b[textHeader+copy(b[textHeader:], id):], text)
	return nil
}

// NextText reads the first record and returns the bytes of the others.
func NextText(packed []byte) (Text, []byte) {
	middle := textHeader + int(binary.LittleEndian.Uint32(packed))
	end := middle + int(binary.LittleEndian.Uint32(packed[4:]))
	return Text{packed[textHeader:middle], packed[middle:end]}, packed[end:]
}
