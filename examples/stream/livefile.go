package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A saved Live index is its magic, and numbers of 8 bytes: the bits, the distance, the window, the number of blocks and
// the blocks, the number of fingerprints, and for each, in the order of arrival, its id and its words. A CRC-32C of all
// ends it.
const liveMagic = "mblive01"

// mostLevels bounds the number of blocks that a file may claim.
const mostLevels = 64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errLive = errors.New("is no saved index, or a damaged one")

// Save writes the index in a form that [LoadLive] reads. Searches go on meanwhile, and changes wait.
func (x *Live) Save(w io.Writer) error {
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	sum := crc32.New(castagnoli)
	buffered := bufio.NewWriter(w)
	out := io.MultiWriter(buffered, sum)
	header := []byte(liveMagic)
	for _, number := range []int{x.options.Bits, x.options.Distance, x.options.Window, len(x.options.Blocks)} {
		header = binary.LittleEndian.AppendUint64(header, uint64(number))
	}
	for _, block := range x.options.Blocks {
		header = binary.LittleEndian.AppendUint64(header, uint64(block))
	}
	_, err := out.Write(binary.LittleEndian.AppendUint64(header, uint64(len(x.slots))))
	var record []byte
	for _, slot := range x.inOrder() {
		if err != nil {
			break
		}
		record = binary.LittleEndian.AppendUint64(record[:0], x.ids[slot])
		for _, word := range x.row(slot) {
			record = binary.LittleEndian.AppendUint64(record, word)
		}
		_, err = out.Write(record)
	}
	if err == nil {
		_, err = buffered.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	}
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return fmt.Errorf("save index: %w", err)
	}
	return nil
}

// inOrder returns the slots that hold a fingerprint, in the order of arrival.
func (x *Live) inOrder() []uint32 {
	slots := make([]uint32, 0, len(x.slots))
	for _, slot := range x.slots {
		slots = append(slots, slot)
	}
	slices.SortFunc(slots, func(a, b uint32) int {
		if x.turns[a] < x.turns[b] {
			return -1
		}
		return 1 // no two have the same turn
	})
	return slots
}

// LoadLive returns the index that Save wrote. It is an error if the bytes are not the ones that were written.
func LoadLive(r io.Reader) (*Live, error) {
	x, err := loadLive(r)
	if err != nil {
		return nil, fmt.Errorf("load index: %w", err)
	}
	return x, nil
}

func loadLive(r io.Reader) (*Live, error) {
	in := &summed{in: bufio.NewReader(r)}
	magic := in.read(len(liveMagic))
	if in.fault != nil || string(magic) != liveMagic {
		return nil, errors.Join(errLive, in.fault)
	}
	o := LiveOptions{Bits: in.number(), Distance: in.number(), Window: in.number()}
	levels := in.number()
	if in.fault != nil || levels < 1 || levels > mostLevels {
		return nil, errors.Join(errLive, in.fault)
	}
	for range levels {
		o.Blocks = append(o.Blocks, in.number())
	}
	count := in.number()
	if in.fault != nil || slices.Max(o.Blocks) > o.Bits || o.Distance > o.Bits {
		return nil, errors.Join(errLive, in.fault)
	}
	x, err := NewLive(o)
	if err != nil {
		return nil, errors.Join(errLive, err)
	}
	row := make([]uint64, x.words)
	for range count {
		id := uint64(in.number())
		for i := range row {
			row[i] = uint64(in.number())
		}
		if in.fault != nil {
			return nil, errors.Join(errLive, in.fault)
		}
		if err := x.Add(id, row); err != nil {
			return nil, errors.Join(errLive, err)
		}
	}
	sum := in.sum
	if end := in.read(4); in.fault != nil || binary.LittleEndian.Uint32(end) != sum || x.Len() != count {
		return nil, errors.Join(errLive, in.fault)
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
