package corpus

import (
	"bytes"
	"fmt"
)

// longLine reads a line of at least r.long bytes, which begins with data. It measures the line first. A
// buffer that grows with the line would take three times the memory, and a line that is too long must take
// none.
func (r *Reader) longLine(offset int64, data []byte) (Batch, error) {
	if err := r.stream.readyWindow(); err != nil {
		return Batch{}, err
	}
	length, err := r.measure(offset)
	if err != nil {
		return Batch{}, err
	}
	if length > int64(r.limit) {
		return r.rejectLine(offset, data)
	}
	if err := r.stream.Hold(); err != nil {
		return Batch{}, err
	}
	size := int(length) + 1 // with the newline
	if data, err = r.stream.Fill(data, size); err != nil {
		return Batch{}, err
	}
	if len(data) == size && data[length] != r.newline {
		return Batch{}, fmt.Errorf(
			"read input %s: the file changed while the job ran: the line at %d has another length than when it was "+
				"measured", r.stream.file.Path, offset)
	}
	if len(data) < size {
		return r.lastLine(offset, data)
	}
	return r.batch(offset, data)
}

// measure returns the length of the line at offset, without its newline. A second reader goes there. It moves
// only for such lines. So a compressed file is decoded at most twice.
func (r *Reader) measure(offset int64) (length int64, err error) {
	if r.scout == nil {
		scout := &Reader{limits: r.limits, limit: r.limit, long: r.long} // whose stream counts nothing again
		r.scout = scout
		if err := scout.Reset(r.stream.file, Stretch{File: r.number, End: r.stream.file.Size}); err != nil {
			return 0, err
		}
	}
	s := r.scout
	if err := s.advance(offset); err != nil {
		return 0, err
	}
	if n := bytes.IndexByte(s.carry, s.newline); n >= 0 {
		s.carry = s.carry[:copy(s.carry, s.carry[n+1:])]
		return int64(n), nil
	}
	length = int64(len(s.carry))
	s.carry = s.carry[:0]
	_, rest, err := s.skipLine(nil)
	s.stream.Rejects = nil // the first reader meets them, too
	return length + rest, err
}

func (r *Reader) advance(position int64) error {
	if r.stream.file.isPlain() {
		r.carry, r.stream.Ended = r.carry[:0], false
		r.stream.seek(position)
		return nil
	}
	var buffer []byte
	for !r.stream.Ended || len(r.carry) > 0 {
		ahead := r.stream.Position() - position // of the wanted position
		if ahead >= 0 {
			r.carry = r.carry[:copy(r.carry, r.carry[int64(len(r.carry))-ahead:])]
			return nil
		}
		var err error
		if buffer, err = r.stream.Fill(buffer[:0], BatchBytes); err != nil {
			return err
		}
		r.carry = append(r.carry[:0], buffer...)
		if len(buffer) == 0 {
			return nil
		}
	}
	return nil
}
