package runfile

import (
	"mirrorbeam.dev/internal/storage"
)

// Of pieces that are read one after the other, a storage behind a network gives the next ones with the first: at least
// leastAhead bytes, at most mostAhead, and at most twice as many as were wanted so far.
const (
	leastAhead = 64 << 10
	mostAhead  = 2 << 20
)

// mostSkipped is how many bytes between two pieces may be left out: they would have arrived sooner than another answer.
const mostSkipped = 256 << 10

// streamsAhead is how many stretches of a file are read ahead side by side: a task may take blocks from one, and counts
// from another.
const streamsAhead = 4

// ahead reads a file of a storage behind a network, where a request takes long. The zero ahead is ready for use.
type ahead struct {
	streams [streamsAhead]stream
	clock   int // counts the reads
}

// stream is a stretch of a file that is read from its beginning to its end.
type stream struct {
	next    int64  // the offset of what comes next
	bytes   []byte // that were read ahead, from there on
	length  int64  // what was wanted so far
	skipped int64  // what was not, and was not read either
	buffer  []byte
	used    int // the number of the last read, 0: never
}

// passes moves the stream on to an offset, and reports whether it is near enough: a stream leaves out no more than was
// wanted.
func (s *stream) passes(offset int64) bool {
	gap := offset - s.next
	beyond := gap - int64(len(s.bytes))
	if s.length == 0 || gap < 0 || beyond > mostSkipped || s.skipped+beyond > max(leastAhead, s.length) {
		return false
	}
	s.bytes, s.next, s.skipped = s.bytes[min(gap, int64(len(s.bytes))):], offset, s.skipped+max(beyond, 0)
	return true
}

func (a *ahead) reset() {
	for i := range a.streams {
		a.streams[i] = stream{buffer: a.streams[i].buffer}
	}
}

// readAt fills b with the bytes of a file of that size at an offset, which lie in it.
func (a *ahead) readAt(file storage.File, size int64, b []byte, offset int64) error {
	s := a.streamAt(offset)
	a.clock++
	s.used = a.clock
	n := copy(b, s.bytes)
	s.bytes, s.next, s.length = s.bytes[n:], s.next+int64(n), s.length+int64(n)
	if b = b[n:]; len(b) == 0 {
		return nil
	}
	want := int64(len(b))
	if s.length > 0 {
		want = max(want, min(max(2*s.length, leastAhead), mostAhead, size-s.next))
	}
	into := b
	if want > int64(len(b)) {
		if int64(cap(s.buffer)) < want {
			s.buffer = make([]byte, want)
		}
		into = s.buffer[:want]
	}
	if _, err := file.ReadAt(into, s.next); err != nil {
		*s = stream{buffer: s.buffer}
		return err
	}
	if want > int64(len(b)) {
		s.bytes = into[copy(b, into):]
	}
	s.next, s.length = s.next+int64(len(b)), s.length+int64(len(b))
	return nil
}

// streamAt returns the stream that comes to an offset, or a new one in the place of the one that was not used for
// longest.
func (a *ahead) streamAt(offset int64) *stream {
	oldest := &a.streams[0]
	for i := range a.streams {
		s := &a.streams[i]
		if s.passes(offset) {
			return s
		}
		if s.used < oldest.used {
			oldest = s
		}
	}
	*oldest = stream{next: offset, buffer: oldest.buffer}
	return oldest
}
