package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"

	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/storage"
)

// Stream reads the decoded content of a file. The zero Stream has no file. Not for concurrent use.
type Stream struct {
	Ahead *Ahead
	// Expand, if it is not nil, gets the number of bytes that were decoded of a compressed file.
	Expand func(bytes int64) error

	hold       func() error // see Limits
	holdWindow func() (release func(), err error)

	// Rejects are the faults that Fill has met and nobody has taken. Ended says that it has found nothing more, and
	// IsCut that the content ended with a fault.
	Rejects      []Reject
	Ended, IsCut bool

	file     File
	handle   storage.File
	stored   io.ReadCloser                   // the bytes of handle
	cursor   *cursor                         // in the archive that the file is in; nil: in none
	decoded  io.Reader                       // stored, or inflated
	text     io.Reader                       // decoded, in UTF-8; nil if that is the same
	inflated *inflate.Reader                 // decoded, if the file is compressed
	decoders map[Compression]*inflate.Reader // kept from file to file
	position int64                           // of the next byte of decoded
	head     []byte                          // the first decoded bytes, which are not handed out yet
	headErr  error                           // comes after them
}

// Reset goes on to another file, from a position in it. It keeps the decoders: many small files cost
// little. Only a plain file can be read from its middle. A zstd frame that needs a window of more than window
// bytes is a fault. A window of 0 stands for [DefaultWindow]. It is an error if the file has changed since it
// was listed.
func (s *Stream) Reset(file File, position, window int64) error {
	if err := s.closeFile(); err != nil {
		return err
	}
	if position > 0 && !file.isPlain() {
		return fmt.Errorf("open input %s: a %v file in %s cannot be read from its middle", file.Path, file.Compression,
			cmp.Or(file.Charset, "UTF-8"))
	}
	handle, err := s.Ahead.Open(&file)
	if err != nil {
		return err
	}
	stored := handle.From(position)
	if file.IsSequential() {
		if stored, err = s.inArchive(&file, window); err != nil {
			return errors.Join(err, handle.Close())
		}
	}
	s.file, s.handle, s.position, s.head, s.headErr = file, handle, position, s.head[:0], nil
	s.Rejects, s.Ended, s.IsCut = nil, false, false
	s.stored = stored
	if err := s.decode(file, window); err != nil {
		return fmt.Errorf("open input %s: %w", file.Path, err)
	}
	s.text = nil
	if file.Charset != "" {
		s.text = s.inCharset()
	}
	return nil
}

func (s *Stream) inCharset() io.Reader {
	return inCharset(bufio.NewReaderSize(readerFunc(s.next), charsetBytes), s.file.Charset)
}

// inArchive goes to a file of a compressed archive, and keeps the archive open for the next one.
func (s *Stream) inArchive(file *File, window int64) (io.ReadCloser, error) {
	if s.cursor == nil {
		s.cursor = &cursor{stream: Stream{Expand: s.Expand, hold: s.hold, holdWindow: s.holdWindow}}
	}
	if err := s.cursor.seek(file, window); err != nil {
		return nil, err
	}
	return s.cursor.member(file.Member), nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// checkHead fails if the first decoded bytes show a format that is not read. It skips files of one document.
func (s *Stream) checkHead() error {
	if cap(s.head) < headBytes {
		s.head = make([]byte, 0, headBytes)
	}
	n, err := s.inflated.Read(s.head[:headBytes])
	s.head, s.headErr = s.head[:n], err
	if s.file.Format.IsWhole() || s.file.IsArchive {
		return nil
	}
	return checkDecoded(s.file.Compression, s.head)
}

// OpenUnchanged opens a file of the corpus. It is an error if the file has changed since it was listed.
func OpenUnchanged(file *File) (storage.File, error) {
	if file.Member != nil {
		handle, err := OpenUnchanged(file.archive())
		if err != nil {
			return nil, err
		}
		return &memberFile{handle, file}, nil
	}
	if storage.Scheme(file.Path) != "" {
		return file.reopen()
	}
	handle, info, err := open(file.Path)
	switch missing := errors.Is(err, os.ErrNotExist); {
	case missing && file.Unlisted:
		return nil, fmt.Errorf(
			"open input %s, which the state knows: %w: put it back, since this output reads its text again",
			file.Path, err)
	case missing:
		return nil, fmt.Errorf(
			"open input %s: the file went away while the job ran: %w: put it back, or run the job again without it",
			file.Path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open input: %w", err)
	}
	if err := file.checkUnchanged(info); err != nil {
		handle.Close() // a file that was only opened
		return nil, err
	}
	return handle, nil
}

// reopen opens a file of a storage that need not be asked again for what is known of it.
func (f *File) reopen() (storage.File, error) {
	handle, err := storage.Reopen(storage.Info{Name: f.Path, Size: f.Size, Generation: f.Generation})
	switch {
	case errors.Is(err, storage.ErrChanged):
		return nil, changed(f, "it was written to after it was listed")
	case err != nil:
		return nil, fmt.Errorf("open input: %w", err)
	}
	return handle, nil
}

func (s *Stream) decode(file File, window int64) error {
	if file.Compression == None {
		s.inflated, s.decoded = nil, s.stored
		return nil
	}
	if s.inflated = s.decoders[file.Compression]; s.inflated == nil {
		if s.decoders == nil {
			s.decoders = map[Compression]*inflate.Reader{}
		}
		s.inflated = compressions[file.Compression].open()
		s.decoders[file.Compression] = s.inflated
	}
	s.decoded = s.inflated
	options := inflate.Options{Size: file.Size, Window: window, HoldWindow: s.holdWindow}
	if err := s.inflated.Reset(s.stored, options); err != nil {
		return err
	}
	return s.checkHead()
}

// Hold waits for the right to hold a long line or record, see [Limits]. The window of a frame that begins within the
// line would have to wait, so the stream waits for that first.
func (s *Stream) Hold() error {
	if s.hold == nil {
		return nil
	}
	if err := s.readyWindow(); err != nil {
		return err
	}
	return s.hold()
}

func (s *Stream) readyWindow() error {
	if s.inflated == nil {
		return nil
	}
	return s.inflated.HoldWindow()
}

func (s *Stream) next(p []byte) (n int, err error) {
	switch {
	case len(s.head) > 0:
		n = copy(p, s.head)
		s.head = s.head[:copy(s.head, s.head[n:])]
		return n, nil
	case s.headErr != nil:
		err, s.headErr = s.headErr, nil
		return 0, err
	}
	return s.decoded.Read(p)
}

// Position returns the position of the next byte in the decoded stream.
func (s *Stream) Position() int64 { return s.position }

// Member returns where in the stored file the gzip member or zstd frame begins that the bytes of the last Read come
// from. No Read returns bytes of two. A plain file has none.
func (s *Stream) Member() int64 {
	if s.inflated == nil {
		return 0
	}
	return s.inflated.Member()
}

// Read reads on. The error is io.EOF at the end of the file, and a *[Fault] where the file is damaged. Any
// other error is a failure to read it.
func (s *Stream) Read(p []byte) (int, error) {
	var n int
	var err error
	if s.text != nil {
		n, err = s.text.Read(p)
	} else {
		n, err = s.next(p)
	}
	s.position += int64(n)
	if s.Expand != nil && (s.inflated != nil || s.file.Member != nil && s.file.Member.Packing == Deflated) {
		if err := s.Expand(int64(n)); err != nil {
			return n, err
		}
	}
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		if s.file.isPlain() && s.position < s.file.Size {
			return n, s.file.resized(s.position)
		}
		return n, io.EOF
	}
	if _, isFault := errors.AsType[*Fault](err); isFault {
		if s.text != nil {
			s.text = s.inCharset() // reading may go on after a fault, and this reader does not
		}
		return n, err
	}
	if errors.Is(err, storage.ErrChanged) {
		err = fmt.Errorf("the file changed while the job ran: %w: %s", err, runAgain)
	}
	return n, fmt.Errorf("read input %s at byte %d of its decoded stream: %w", s.file.Path, s.position, err)
}

// Fill appends to data until it has size bytes or the stream has no more. A fault becomes a reject.
func (s *Stream) Fill(data []byte, size int) ([]byte, error) {
	if cap(data) < size && !s.Ended {
		data = append(make([]byte, 0, size), data...)
	}
	for len(data) < size && !s.Ended {
		n, err := s.Read(data[len(data):size])
		data = data[:len(data)+n]
		if fault, isFault := errors.AsType[*Fault](err); isFault {
			s.Ended, s.IsCut = fault.Last, fault.Last && !fault.Warning
			s.Rejects = append(s.Rejects, Reject{
				Position: s.position,
				Message:  fault.Message,
				Warning:  fault.Warning,
				Damage:   true,
			})
		} else if err == io.EOF {
			s.Ended = true
		} else if err != nil {
			return data, err
		}
	}
	return data, nil
}

func (s *Stream) seek(position int64) {
	s.stored.Close() // a close after reads loses nothing
	s.stored = s.handle.From(position)
	s.decoded, s.position = s.stored, position
}

// End returns io.EOF for the end of the file, or an error if the file has changed since it was listed.
func (s *Stream) End() error { return s.file.End(s.handle) }

// End returns io.EOF for the end of the file, open as handle, or an error if the file has changed since it was listed.
func (f *File) End(handle storage.File) error {
	info, err := handle.Stat()
	if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	if err := f.checkUnchanged(info); err != nil {
		return err
	}
	return io.EOF
}

const runAgain = "run the job again when nobody writes to the file"

func (f *File) checkUnchanged(info storage.Info) error {
	if info.Size != f.Size {
		return f.resized(info.Size)
	}
	if f.Generation != "" && info.Generation != f.Generation {
		return changed(f, "it was written to after it was listed")
	}
	return nil
}

type changedError struct{ message string }

func (e *changedError) Error() string { return e.message }

func (e *changedError) Is(target error) bool { return target == storage.ErrChanged }

func changed(f *File, how string) error {
	return &changedError{fmt.Sprintf("read input %s: the file changed while the job ran: %s: %s", f.Path, how,
		runAgain)}
}

func (f *File) resized(size int64) error {
	return changed(f, fmt.Sprintf("it had %d bytes when it was listed and now has %d", f.Size, size))
}

// Close closes the file and frees the decoders. The stream can be reset to another file. It may be called twice.
func (s *Stream) Close() error {
	for _, reader := range s.decoders {
		reader.Close()
	}
	s.decoders, s.inflated, s.decoded = nil, nil, nil
	if s.cursor != nil {
		s.cursor.stream.Close() // a close after reads loses nothing
		s.cursor = nil
	}
	return s.closeFile()
}

func (s *Stream) closeFile() error {
	if s.handle == nil {
		return nil
	}
	handle, stored := s.handle, s.stored
	s.handle, s.stored = nil, nil
	if stored != nil {
		stored.Close() // a close after reads loses nothing
	}
	if err := handle.Close(); err != nil {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}

const (
	aheadFiles = 32
	// aheadShare is the part of its budget that one file may take. Latency matters less for larger files.
	aheadShare = 4
)

// Ahead reads small files before they are wanted, several at a time. A storage behind a network takes as long to answer
// for a small file as for a large one. Files of the local disk and large files are opened when they are wanted. A nil
// Ahead reads nothing ahead. It is not for concurrent use.
type Ahead struct {
	budget int64      // most bytes that are held
	held   int64      // bytes of the files in the queue, and of those that are open
	queue  []*fetched // files that are asked for, and not open yet
	rest   []*File    // files that come behind those of the queue
	asking sync.WaitGroup
}

// fetched is the content of a file, or why there is none. It is known when done is closed.
type fetched struct {
	file    *File
	done    chan struct{}
	content []byte
	err     error
}

// NewAhead returns an Ahead for the files that are wanted of a split, in their order. It holds no more than the given
// number of bytes at a time. It must be closed.
func NewAhead(files []File, split Split, budget int64) *Ahead {
	a := &Ahead{budget: budget}
	for _, stretch := range split {
		file := &files[stretch.File]
		wanted := files[stretch.File : stretch.File+1]
		if file.Members != nil {
			wanted = file.Members[stretch.Start:stretch.End]
		} else if stretch != file.Whole(stretch.File) {
			continue
		}
		for i := range wanted {
			one := &wanted[i]
			if isSmall := 0 < one.Size && one.Size <= budget/aheadShare; isSmall && one.Member == nil &&
				storage.Scheme(one.Path) != "" {
				a.rest = append(a.rest, one)
			}
		}
	}
	return a
}

// Open opens a file of the split. It is an error if the file has changed since it was listed.
func (a *Ahead) Open(file *File) (storage.File, error) {
	if a == nil {
		return OpenUnchanged(file)
	}
	a.fill()
	at := slices.IndexFunc(a.queue, func(f *fetched) bool { return f.file.Path == file.Path })
	if at < 0 {
		return OpenUnchanged(file)
	}
	for _, passed := range a.queue[:at] { // a caller that gave up a file does not come back to it
		a.held -= passed.file.Size
	}
	one := a.queue[at]
	a.queue = a.queue[at+1:]
	a.fill()
	<-one.done
	return &heldFile{one, a}, nil
}

func (a *Ahead) fill() {
	for len(a.queue) < aheadFiles && len(a.rest) > 0 && a.held+a.rest[0].Size <= a.budget {
		one := &fetched{file: a.rest[0], done: make(chan struct{})}
		a.rest = a.rest[1:]
		a.held += one.file.Size
		a.queue = append(a.queue, one)
		a.asking.Go(one.fetch)
	}
}

func (f *fetched) fetch() {
	defer close(f.done)
	var handle storage.File
	if handle, f.err = f.file.reopen(); f.err != nil {
		return
	}
	defer handle.Close() // a file that was only read
	f.content = make([]byte, f.file.Size)
	_, f.err = handle.ReadAt(f.content, 0)
}

func (a *Ahead) Close() {
	if a != nil {
		a.asking.Wait()
		a.queue, a.rest = nil, nil
	}
}

// heldFile is an open file whose content was read ahead. If that has failed, each read of it fails.
type heldFile struct {
	*fetched
	ahead *Ahead // nil when it is closed
}

func (h *heldFile) ReadAt(b []byte, offset int64) (int, error) {
	if h.err != nil {
		return 0, h.err
	}
	return bytes.NewReader(h.content).ReadAt(b, offset)
}

func (h *heldFile) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	return storage.EachRange(h, h.file.Path, ranges)
}

func (h *heldFile) From(offset int64) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(h, offset, math.MaxInt64-offset))
}

// Stat describes the file that was listed. No other one was read.
func (h *heldFile) Stat() (storage.Info, error) {
	return storage.Info{Name: h.file.Path, Size: h.file.Size, Generation: h.file.Generation, Identity: h.file.Identity}, nil
}

func (h *heldFile) Close() error {
	if h.ahead != nil {
		h.ahead.held -= h.file.Size
		h.ahead, h.content = nil, nil
	}
	return nil
}

// sideBySide returns how many files are opened at a time. The local disk keeps cores busy, and a storage behind a
// network lets them wait.
func sideBySide(files []*candidate) int {
	const remote = 64
	if slices.ContainsFunc(files, func(c *candidate) bool { return storage.Scheme(c.Path) != "" }) {
		return remote
	}
	return 4 * runtime.GOMAXPROCS(0)
}
