package documents

import (
	"encoding/binary"
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/checksum"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/corpus"
)

// Checksum is the checksum of a stretch of the input. It covers the lines and the rejects between them. A
// second read of an unchanged stretch gives the same checksum. The zero Checksum belongs to an empty stretch.
type Checksum struct {
	lines, rejects uint32 // CRC-32C
}

// checksumSize is the size of a checksum in a run file, in bytes.
const checksumSize = 8

// Add adds the next batch of the stretch.
func (s *Checksum) Add(batch corpus.Batch) {
	s.lines = checksum.Add(s.lines, batch.Data)
	for _, reject := range batch.Rejects {
		s.rejects = checksum.Add(s.rejects, fmt.Appendln(nil, reject.Position, reject.Message))
	}
}

// WriteChecksums writes the checksums of the stretches of a split, in their order.
func WriteChecksums(run *runfile.Writer, split int, sums []Checksum) error {
	for _, sum := range sums {
		b, err := run.Record(records.Sums, split, checksumSize)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(b, sum.lines)
		binary.LittleEndian.PutUint32(b[4:], sum.rejects)
	}
	return nil
}

// ReadChecksums reads the checksums that WriteChecksums wrote for a split: one for each of its stretches, in their
// order.
func ReadChecksums(reader *runfile.Reader, pieces []runfile.Piece) ([]Checksum, error) {
	packed, err := reader.ReadKind(nil, pieces, records.Sums)
	if err != nil {
		return nil, err
	}
	sums := make([]Checksum, 0, len(packed)/checksumSize)
	for ; len(packed) > 0; packed = packed[checksumSize:] {
		sums = append(sums, Checksum{lines: binary.LittleEndian.Uint32(packed), rejects: binary.LittleEndian.Uint32(packed[4:])})
	}
	return sums, nil
}
