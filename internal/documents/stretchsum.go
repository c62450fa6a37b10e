package documents

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
)

// StretchSum is a check sum of what was read of a stretch. A file that has not changed
// gives the same sum when the stretch is read again.
type StretchSum struct {
	lines, rejects uint32 // CRC-32C
}

const sumSize = 8

// Add adds the next batch of the stretch.
func (s *StretchSum) Add(batch corpus.Batch) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	s.lines = crc32.Update(s.lines, castagnoli, batch.Data)
	for _, reject := range batch.Rejects {
		s.rejects = crc32.Update(s.rejects, castagnoli, fmt.Appendln(nil, reject.Position, reject.Message))
	}
}

// WriteSums writes the sums of the stretches of a split, in their order.
func WriteSums(run *runfile.Writer, split int, sums []StretchSum) error {
	for _, sum := range sums {
		b, err := run.Record(records.Sums, split, sumSize)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(b, sum.lines)
		binary.LittleEndian.PutUint32(b[4:], sum.rejects)
	}
	return nil
}

// ReadSums reads what writeSums wrote.
func ReadSums(reader *runfile.Reader, pieces []runfile.Piece) ([]StretchSum, error) {
	packed, err := reader.ReadKind(nil, pieces, records.Sums)
	if err != nil {
		return nil, err
	}
	sums := make([]StretchSum, 0, len(packed)/sumSize)
	for ; len(packed) > 0; packed = packed[sumSize:] {
		sums = append(sums, StretchSum{lines: binary.LittleEndian.Uint32(packed), rejects: binary.LittleEndian.Uint32(packed[4:])})
	}
	return sums, nil
}
