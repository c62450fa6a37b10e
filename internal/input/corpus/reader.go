package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

const (
	// BatchBytes is the usual length of a batch. A batch is longer only if its first line is.
	BatchBytes = 512 << 10

	// keepBytes is the size of the largest buffer that is reused: a single huge line must not burden the job.
	keepBytes = 8 << 20

	// LongLine is the length from which a line is measured before it is held. Such a line takes no more
	// memory than its length, and none if it is too long.
	LongLine = keepBytes

	// leastLine is the smallest limit for lines. No shorter line can hold a text.
	leastLine = 16

	// lineEndBytes of a compressed file usually show how its lines end. At most mostLineEndBytes are looked at.
	lineEndBytes     = 64 << 10
	mostLineEndBytes = 1 << 20

	// ByteOrderMark may stand at the beginning of a file or stream.
	ByteOrderMark = "\xef\xbb\xbf"
)

// Limits bound what a Reader holds in memory.
type Limits struct {
	// Line is the length of the longest line in bytes, without its newline. Longer lines become rejects and
	// are not held. Limits below 16 count as 16.
	Line int64
	// IsOfMemory says that Line follows from the memory that a document may take, and not from the length of its text.
	IsOfMemory bool
	// Window is the largest zstd window in bytes, see [Stream.Reset].
	Window int64
	// Ahead opens the files; nil: nothing is read ahead.
	Ahead *Ahead
	// Expand, if not nil, is called with the number of bytes decoded of a compressed file. Next returns its error.
	Expand func(bytes int64) error
	// Hold, if it is not nil, is called before Next holds a line of more than LongLine bytes. It may wait.
	// Next returns its error.
	Hold func() error
	// Memory is how many bytes of memory the pages of a Parquet file may take; 0: no limit.
	Memory int64
	// HoldWindow, if it is not nil, is called before a source holds a zstd window of more than [inflate.SmallWindow],
	// or large pages of Parquet. It may wait. Release is called when the source no longer holds it. Who waits for Hold
	// has what it needs of this already, so nobody waits for the two in another order.
	HoldWindow func() (release func(), err error)
}

// Setting returns the name of the setting that Line follows from.
func (l Limits) Setting() string {
	if l.IsOfMemory {
		return "memory"
	}
	return "max_document"
}

// Stream returns a stream within the limits.
func (l Limits) Stream() Stream {
	return Stream{Ahead: l.Ahead, Expand: l.Expand, hold: l.Hold, holdWindow: l.HoldWindow}
}

// Reader reads one stretch at a time as batches of whole lines. It is not for concurrent use.
type Reader struct {
	limits Limits
	limit  int // longest line without its newline
	long   int // LongLine, except in tests
	// scout runs ahead to measure long lines; nil before the first. Scouted is what it has read last.
	scout   *Stream
	scouted []byte
	number  int
	stream  Stream

	newline byte   // ends a line
	end     int64  // lines that start here or later are not of this stretch
	carry   []byte // read but not handed out; it ends where the stream is
	skips   bool   // the current line belongs to the stretch before
}

// NewReader returns a reader without a file.
func NewReader(limits Limits) *Reader {
	const most = math.MaxInt - 1
	return &Reader{
		limits: limits,
		limit:  int(min(max(limits.Line, leastLine), most)),
		long:   LongLine,
		stream: limits.Stream(),
	}
}

// Open opens one stretch of a file. Close must be called in the end.
func Open(file File, s Stretch, limits Limits) (*Reader, error) {
	r := NewReader(limits)
	if err := r.Reset(file, s); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Reset goes on to another stretch, perhaps of another file. It reuses buffers and decoders, for small files.
func (r *Reader) Reset(file File, s Stretch) error {
	r.dismiss()
	start := s.Start
	// The line with the byte before Start belongs to the stretch before.
	if r.skips = start > 0; r.skips {
		start--
	}
	if err := r.stream.Reset(file, start, r.limits.Window); err != nil {
		return err
	}
	r.number, r.end = s.File, s.End
	r.carry = r.carry[:0]
	r.newline = lineEnd(file.CR)
	r.stream.Ended = s.Start >= s.End
	if !file.isPlain() {
		r.end = math.MaxInt64
	}
	if start == 0 && !r.skips {
		return r.begin()
	}
	return nil
}

// begin reads the beginning of the file. It finds out how lines end, if that is not known, and skips a byte order mark.
func (r *Reader) begin() (err error) {
	if !r.stream.file.isPlain() {
		for size := lineEndBytes; ; size *= 4 {
			if r.carry, err = r.stream.Fill(r.carry, min(size, r.limit+1)); err != nil {
				return err
			}
			cr, known := endsWithCR(r.carry, r.stream.Ended)
			if r.newline = lineEnd(cr); known || size > r.limit || size >= mostLineEndBytes {
				break
			}
		}
	}
	return r.skipMark()
}

func (r *Reader) skipMark() (err error) {
	r.carry, err = r.stream.Fill(r.carry, len(ByteOrderMark))
	if bytes.HasPrefix(r.carry, []byte(ByteOrderMark)) {
		r.carry = r.carry[:copy(r.carry, r.carry[len(ByteOrderMark):])]
		// The first line begins with the mark, wherever the cut is.
		r.end = max(r.end, int64(len(ByteOrderMark))+1)
	}
	return err
}

// Next is as [Source] says, and so are Reset and Close.
func (r *Reader) Next(buffer []byte) (Batch, error) {
	if cap(buffer) > keepBytes {
		buffer = nil
	}
	data := buffer[:0]
	if r.skips {
		r.skips = false
		var err error
		if data, _, err = r.skipLine(data); err != nil {
			return Batch{}, err
		}
	}
	data = append(data[:0], r.carry...)
	if r.carry = r.carry[:0]; cap(r.carry) > keepBytes {
		r.carry = nil
	}
	offset := r.stream.Position() - int64(len(data))
	if offset >= r.end {
		data, r.stream.Ended = data[:0], true
	}
	// A batch has at most limit+1 bytes. So no line in it, with its newline, can be longer than the limit.
	most := min(r.long, r.limit+1)
	for size := min(BatchBytes, most); ; size = min(2*size, most) {
		var err error
		if data, err = r.stream.Fill(data, size); err != nil {
			return Batch{}, err
		}
		if last := r.lastNewline(data, offset); last >= 0 {
			r.carry = append(r.carry, data[last+1:]...)
			return r.batch(offset, data[:last+1])
		}
		switch {
		case len(data) < size:
			return r.lastLine(offset, data)
		case len(data) > r.limit:
			return r.rejectLine(offset, data)
		case len(data) >= r.long:
			return r.longLine(offset, data)
		}
	}
}

// lastNewline returns the index of the newline that ends a batch, or -1. This is the newline that ends the
// stretch, if it is in data, else the last one.
func (r *Reader) lastNewline(data []byte, offset int64) int {
	if r.stream.Ended && len(data) == 0 {
		return -1
	}
	if from := max(r.end-1-offset, 0); from < int64(len(data)) {
		if n := bytes.IndexByte(data[from:], r.newline); n >= 0 {
			return int(from) + n
		}
	}
	return bytes.LastIndexByte(data, r.newline)
}

func (r *Reader) batch(offset int64, data []byte) (Batch, error) {
	if len(data) == 0 && len(r.stream.Rejects) == 0 {
		return Batch{}, r.stream.End()
	}
	b := Batch{
		File:    r.number,
		Format:  r.stream.file.Format,
		Offset:  offset,
		Data:    data,
		CR:      r.newline == '\r',
		Rejects: r.stream.Rejects,
	}
	r.stream.Rejects = nil
	return b, nil
}

func (r *Reader) lastLine(offset int64, line []byte) (Batch, error) {
	b, err := r.batch(offset, line)
	b.IsCut = r.stream.IsCut && len(line) > 0
	return b, err
}

func (r *Reader) rejectLine(offset int64, data []byte) (Batch, error) {
	length := int64(len(data))
	index := len(r.stream.Rejects)
	r.stream.Rejects = append(r.stream.Rejects, Reject{Position: offset})
	data, rest, err := r.skipLine(data)
	if err != nil {
		return Batch{}, err
	}
	r.stream.Rejects[index].Message = TooLong("line", length+rest, int64(r.limit), r.limits.Setting())
	return r.batch(offset, data[:0])
}

// skipLine reads up to the next newline, with data as scratch space. It keeps what follows as the carry. It
// returns the number of bytes before the newline.
func (r *Reader) skipLine(data []byte) (scratch []byte, length int64, err error) {
	size := min(BatchBytes, r.limit+1)
	for {
		if data, err = r.stream.Fill(data[:0], size); err != nil {
			return data, length, err
		}
		if n := bytes.IndexByte(data, r.newline); n >= 0 {
			r.carry = append(r.carry[:0], data[n+1:]...)
			return data, length + int64(n), nil
		}
		length += int64(len(data))
		if len(data) < size {
			return data, length, nil
		}
	}
}

// Close closes the file and frees the decoders. The reader cannot be used again. It may be called twice.
func (r *Reader) Close() error {
	r.dismiss()
	return r.stream.Close()
}

func (r *Reader) dismiss() {
	if r.scout != nil {
		r.scout.Close() // a close after reads loses nothing
		r.scout, r.scouted = nil, nil
	}
}

// longLine reads a line of at least r.long bytes, which begins with data. It measures the line first: a buffer that
// grows with it would take three times the memory, and a line that is too long must take none.
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

// measure returns the length of the line at offset, without its newline. A second stream goes there, which counts
// nothing again. It moves only for such lines. So a compressed file is decoded at most twice.
func (r *Reader) measure(offset int64) (length int64, err error) {
	s := r.scout
	if s == nil {
		s = new(Stream)
		r.scout = s
		if err := s.Reset(r.stream.file, 0, r.limits.Window); err != nil {
			return 0, err
		}
	}
	if s.file.isPlain() {
		r.scouted, s.Ended = r.scouted[:0], false
		s.seek(offset)
	}
	for {
		begin := offset - (s.Position() - int64(len(r.scouted))) // of the line
		line := r.scouted[min(max(begin, 0), int64(len(r.scouted))):]
		if n := bytes.IndexByte(line, r.newline); n >= 0 {
			return length + int64(n), nil
		}
		if length += int64(len(line)); s.Ended {
			return length, nil
		}
		if r.scouted, err = s.Fill(r.scouted[:0], BatchBytes); err != nil {
			return 0, err
		}
		s.Rejects = nil // the reader meets them, too
	}
}
