package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"mirrorbeam.dev/lshbands"
)

// A saved index is its magic, and numbers of 8 bytes: the bits, the distance, the window, the number of blocks and the
// blocks, the number of fingerprints, and for each, in the order of arrival, its id and its words. A CRC-32C of all
// ends it.
const indexMagic = "mblive01"

// mostLevels bounds the number of blocks that a file may claim.
const mostLevels = 64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errIndex = errors.New("is no saved index, or a damaged one")

// saveIndex writes an index in a form that [loadIndex] reads.
func saveIndex(w io.Writer, x *lshbands.HammingIndex[uint64]) error {
	sum := crc32.New(castagnoli)
	buffered := bufio.NewWriter(w)
	out := io.MultiWriter(buffered, sum)
	o, header := x.Options(), []byte(indexMagic)
	for _, number := range slices.Concat([]int{o.Bits, o.Distance, o.Window, len(o.Blocks)}, o.Blocks, []int{x.Len()}) {
		header = binary.LittleEndian.AppendUint64(header, uint64(number))
	}
	_, err := out.Write(header)
	var record []byte
	for id, fingerprint := range x.All() {
		record = binary.LittleEndian.AppendUint64(record[:0], id)
		for _, word := range fingerprint {
			record = binary.LittleEndian.AppendUint64(record, word)
		}
		if err == nil {
			_, err = out.Write(record)
		}
	}
	if err == nil {
		_, err = buffered.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	}
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return fmt.Errorf("save index: %w", err)
	}
	return nil
}

// loadIndex returns the index that saveIndex wrote. It is an error if the bytes are not the ones that were written.
func loadIndex(r io.Reader) (*lshbands.HammingIndex[uint64], error) {
	in := &summed{in: bufio.NewReader(r)}
	x, err := in.index()
	if err = errors.Join(err, in.fault); err != nil {
		return nil, fmt.Errorf("load index: %w", err)
	}
	return x, nil
}

// summed reads and sums up bytes, until there is a fault.
type summed struct {
	in     io.Reader
	sum    uint32
	fault  error
	buffer [8]byte
}

func (s *summed) index() (*lshbands.HammingIndex[uint64], error) {
	if magic := s.read(len(indexMagic)); string(magic) != indexMagic {
		return nil, errIndex
	}
	o := lshbands.HammingOptions{Bits: s.number(), Distance: s.number(), Window: s.number()}
	levels := s.number()
	if s.fault != nil || levels < 1 || levels > mostLevels || o.Distance > o.Bits {
		return nil, errIndex
	}
	for range levels {
		o.Blocks = append(o.Blocks, s.number())
	}
	count := s.number()
	if slices.Max(o.Blocks) > o.Bits {
		return nil, errIndex
	}
	x, err := lshbands.NewHammingIndex[uint64](o)
	if err != nil {
		return nil, err
	}
	row := make([]uint64, (o.Bits+63)/64)
	for i := 0; i < count && s.fault == nil && err == nil; i++ {
		id := uint64(s.number())
		for i := range row {
			row[i] = uint64(s.number())
		}
		err = x.Add(id, row)
	}
	sum := s.sum
	if end := s.read(4); binary.LittleEndian.Uint32(end) != sum || x.Len() != count {
		return nil, errors.Join(errIndex, err)
	}
	return x, err
}

// read returns the next bytes, at most 8.
func (s *summed) read(n int) []byte {
	b := s.buffer[:n]
	if s.fault == nil {
		if _, s.fault = io.ReadFull(s.in, b); s.fault == io.EOF {
			s.fault = io.ErrUnexpectedEOF
		}
		s.sum = crc32.Update(s.sum, castagnoli, b)
	}
	return b
}

func (s *summed) number() int { return int(binary.LittleEndian.Uint64(s.read(8))) }
