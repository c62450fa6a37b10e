package runfile

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// Reader reads pieces. It keeps the last file open, since neighbours are mostly in one file. Where a request takes
// long, it reads ahead. It is not for concurrent use.
type Reader struct {
	// Pieces and Bytes count what was read so far: pieces whole or in part, and their bytes.
	Pieces, Bytes int64
	// Stopped, if it is not nil, returns an error when nobody wants the pieces any more. Reading then returns it.
	Stopped func() error

	path   string
	file   storage.File
	size   int64 // of the file
	isFar  bool  // the file is in a storage behind a network
	ahead  ahead
	wanted []Piece         // for ReadKind
	ranges []storage.Range // where the wanted pieces are
}

// filesInFlight is how many files of a storage behind a network are read side by side.
const filesInFlight = 16

// Read appends the bytes of the piece to buffer. It returns an error if their sum is wrong.
func (r *Reader) Read(buffer []byte, p Piece) ([]byte, error) {
	n := len(buffer)
	buffer, err := r.ReadStretch(buffer, p, 0, int(p.Length))
	if err == nil {
		err = p.check(buffer[n:])
	}
	if err != nil {
		return buffer[:n], err
	}
	return buffer, nil
}

func (p Piece) check(content []byte) error {
	if checksum.Of(content) != p.sum {
		return damage("read", p.Path, fmt.Errorf("the bytes at %d are damaged (check sum)", p.Offset))
	}
	return nil
}

// ReadStretch appends a stretch of the piece to buffer. It cannot check the sum, which covers the whole piece.
func (r *Reader) ReadStretch(buffer []byte, p Piece, offset, length int) ([]byte, error) {
	if err := r.open(p); err != nil {
		return buffer, err
	}
	n := len(buffer)
	buffer = slices.Grow(buffer, length)[:n+length]
	if err := r.readAt(buffer[n:], p.Offset+int64(offset)); err != nil {
		return buffer[:n], fault("read", p.Path, err)
	}
	r.Pieces++
	r.Bytes += int64(length)
	return buffer, nil
}

// SizeOf returns the bytes of all pieces of a kind.
func SizeOf(pieces []Piece, kind Kind) (size int64) {
	for piece := range kind.Of(pieces) {
		size += piece.Length
	}
	return size
}

func (r *Reader) readAt(b []byte, offset int64) error {
	if r.isFar && offset+int64(len(b)) <= r.size {
		return r.ahead.readAt(r.file, r.size, b, offset)
	}
	_, err := r.file.ReadAt(b, offset)
	return err
}

func (r *Reader) open(p Piece) error {
	if r.Stopped != nil {
		if err := r.Stopped(); err != nil {
			return err
		}
	}
	if r.path == p.Path {
		return nil
	}
	r.Close()
	file, err := p.open()
	if err != nil {
		return err
	}
	r.path, r.file, r.size, r.isFar = p.Path, file, p.size, storage.Scheme(p.Path) != ""
	r.ahead.reset()
	return nil
}

// open opens the file of the piece. It asks the storage for nothing that the piece knows.
func (p Piece) open() (storage.File, error) {
	var file storage.File
	var err error
	if storage.Scheme(p.Path) == "" || p.size == 0 {
		file, err = storage.Open(p.Path)
	} else {
		file, err = storage.Reopen(storage.Info{Name: p.Path, Size: p.size})
	}
	if err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	return file, nil
}

// ReadKind appends all pieces of a kind to buffer, one behind the other. The pieces of a
// file are asked for together, and files behind a network are read side by side.
func (r *Reader) ReadKind(buffer []byte, pieces []Piece, kind Kind) ([]byte, error) {
	r.wanted, r.ranges = r.wanted[:0], r.ranges[:0]
	n, size := len(buffer), int(SizeOf(pieces, kind))
	buffer = slices.Grow(buffer, size)[:n+size]
	rest := buffer[n:]
	for p := range kind.Of(pieces) {
		r.wanted = append(r.wanted, p)
		r.ranges = append(r.ranges, storage.Range{Offset: p.Offset, Bytes: rest[:p.Length]})
		rest = rest[p.Length:]
	}
	if err := r.readWanted(); err != nil {
		return buffer[:n], err
	}
	r.Pieces += int64(len(r.wanted))
	r.Bytes += int64(size)
	return buffer, nil
}

func (r *Reader) readWanted() (err error) {
	var group errgroup.Group
	group.SetLimit(filesInFlight)
	for start := 0; start < len(r.wanted) && err == nil; {
		end := start + 1
		for end < len(r.wanted) && r.wanted[end].Path == r.wanted[start].Path {
			end++
		}
		wanted, ranges := r.wanted[start:end], r.ranges[start:end]
		if storage.Scheme(wanted[0].Path) == "" {
			if err = r.open(wanted[0]); err == nil {
				err = readPieces(r.file, wanted, ranges)
			}
		} else {
			group.Go(func() error {
				file, err := wanted[0].open()
				if err != nil {
					return err
				}
				defer file.Close()
				return readPieces(file, wanted, ranges)
			})
		}
		start = end
	}
	return cmp.Or(err, group.Wait())
}

func readPieces(file storage.File, wanted []Piece, ranges []storage.Range) error {
	for i, err := range file.ReadRanges(ranges) {
		if err != nil {
			return fault("read", wanted[0].Path, err)
		}
		if err := wanted[i].check(ranges[i].Bytes); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) Close() {
	if r.file != nil {
		r.file.Close()
	}
	r.path, r.file = "", nil
}

// Of pieces that are read one after the other, a storage behind a network gives the next ones with the first: at least
// leastAhead bytes, at most mostAhead, and at most twice as many as were wanted so far.
const (
	leastAhead = 64 << 10
	mostAhead  = 2 << 20
)

// mostSkipped is how many bytes between two pieces may be left out: they would have arrived sooner than another answer.
const mostSkipped = 256 << 10

// streamsAhead parts of a file are read ahead side by side: a task may take blocks from one and counts from another.
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

// passes moves the stream on to an offset, if it skips no more than was wanted, and reports whether it has.
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

// streamAt returns the stream that comes to an offset, or replaces the least recently used one.
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
